//! With what a run goes on, on the command line.

use std::path::PathBuf;
use std::time::Duration;

use convoke_domain::lane::cap::SaidCap;
use convoke_service::design::CourseRequest;

use crate::cli::lane::{PinArgs, seconds};

/// What can be said anew when a run is resumed.
#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct CourseArgs {
    /// What all lanes together may spend, such as 2M tokens or $20
    #[arg(long, value_name = "CAP", value_parser = SaidCap::parse)]
    budget: Option<SaidCap>,

    /// How long one lane may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1800", value_parser = seconds())]
    limit: Duration,

    /// Answers to questions, one a line: `1d/2: the answer`
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,

    /// Take the recommendation when a question waited this long, in seconds, and immediately without
    /// a terminal
    #[arg(long, value_name = "SECONDS", value_parser = seconds())]
    answer_limit: Option<Duration>,

    /// Do not ask agents whether they answer before they are needed
    #[arg(long)]
    no_probe: bool,

    #[command(flatten)]
    rules: PinArgs,
}

impl CourseArgs {
    pub(in crate::cli) fn request(&self) -> CourseRequest {
        CourseRequest {
            budget: self.budget.clone(),
            limit: self.limit,
            answers: self.answers.clone(),
            answer_limit: self.answer_limit,
            no_probe: self.no_probe,
            rules: self.rules.rules(),
            recorded: None,
        }
    }
}
