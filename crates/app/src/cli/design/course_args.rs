//! The settings of a run, on the command line.

use std::path::PathBuf;
use std::time::Duration;

use convoke_domain::lane::budget::WrittenBudget;
use convoke_service::design::CourseRequest;
use convoke_service::lane::{ParkTerms, PinnedRules};

use crate::app::App;
use crate::cli::lane::{ParkArgs, PinArgs, seconds};
use crate::cli::otel::OtelArgs;

/// Options that a user can change when resuming a run.
#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct CourseArgs {
    /// Stop the run after this many tokens or dollars, such as `2M` or `$20`
    #[arg(long, value_name = "AMOUNT", value_parser = WrittenBudget::parse)]
    budget: Option<WrittenBudget>,

    /// Stop each lane after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "1800", value_parser = seconds())]
    limit: Duration,

    /// A file with answers to questions, one per line: `1d/2: the answer`
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,

    /// Accept the recommended answer after waiting this many seconds for yours; immediately without
    /// a terminal
    #[arg(long, value_name = "SECONDS", value_parser = seconds())]
    answer_limit: Option<Duration>,

    /// Skip the check that each agent answers before Convoke needs it
    #[arg(long)]
    no_probe: bool,

    #[command(flatten)]
    park: ParkArgs,

    #[command(flatten)]
    rules: PinArgs,

    #[command(flatten)]
    otel: OtelArgs,
}

impl CourseArgs {
    /// Returns the context of the command with telemetry as the user wishes it.
    pub(in crate::cli) fn context(&self, app: &App) -> App {
        self.otel.context(app)
    }

    /// Returns what also holds for a fan-out: its budget, the time limit of a lane, the pinned rules.
    pub(in crate::cli) fn terms(&self) -> (Option<WrittenBudget>, Duration, PinnedRules) {
        (self.budget.clone(), self.limit, self.rules.rules())
    }

    /// Returns whether the run waits for the end of an agent's limit.
    pub(in crate::cli) fn park(&self) -> Option<ParkTerms> {
        self.park.terms()
    }

    pub(in crate::cli) fn request(&self) -> CourseRequest {
        CourseRequest {
            budget: self.budget.clone(),
            limit: self.limit,
            answers: self.answers.clone(),
            answer_limit: self.answer_limit,
            no_probe: self.no_probe,
            rules: self.rules.rules(),
            park: self.park.terms(),
            recorded: None,
        }
    }
}
