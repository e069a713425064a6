//! Taking over the tasks of a plan.

use std::path::PathBuf;

use convoke_domain::run::{InvalidRunId, RunId};
use convoke_service::task::{ImportRequest, ImportSource, TaskDesk, import_tasks};

use super::print_added;
use crate::app::App;
use crate::exit::CommandResult;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    source: SourceArgs,

    /// Add an implementation and two review subtasks to each task that is not started and has no
    /// subtasks
    #[arg(long)]
    reviews: bool,
}

/// Where the tasks come from.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct SourceArgs {
    /// The plan, relative to this folder or to the project, or a database of june or otto
    #[arg(value_name = "FILE")]
    plan: Option<PathBuf>,

    /// Import the plan of a finished design: the run's id, or the beginning of it [default: the
    /// newest run]
    ///
    /// Agents read the plan in the feature's folder if the design wrote it there, else in
    /// `.convoke/plans`, which git ignores.
    #[arg(
        long,
        value_name = "RUN",
        num_args = 0..=1,
        default_missing_value = NEWEST,
        value_parser = chosen_run
    )]
    run: Option<ChosenRun>,
}

/// The value of `--run` without a value.
const NEWEST: &str = "newest";

#[derive(Debug, Clone)]
enum ChosenRun {
    Newest,
    Named(RunId),
}

fn chosen_run(text: &str) -> Result<ChosenRun, InvalidRunId> {
    if text == NEWEST { Ok(ChosenRun::Newest) } else { RunId::parse(text).map(ChosenRun::Named) }
}

impl Args {
    pub(super) fn run(&self, desk: &TaskDesk<'_>, app: &App, output: &mut Output) -> CommandResult {
        let source = match &self.source.run {
            Some(ChosenRun::Newest) => ImportSource::Run(None),
            Some(ChosenRun::Named(run)) => ImportSource::Run(Some(run.clone())),
            None => ImportSource::File(self.source.plan.clone().unwrap_or_default()),
        };
        let request = ImportRequest { source, adds_reviews: self.reviews };
        print_added(&import_tasks(desk, &request)?, app, output)
    }
}
