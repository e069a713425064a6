//! Taking over the tasks of a plan.

use std::path::PathBuf;

use convoke_domain::run::{InvalidRunId, RunId};
use convoke_domain::text::counted;
use convoke_service::task::{
    ImportPreviewReport, ImportRequest, ImportSource, PreviewedTask, TaskDesk, import_tasks,
    preview_import,
};

use super::print_added;
use crate::app::{App, Format};
use crate::exit::{CommandResult, Exit};
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    source: SourceArgs,

    /// Add an implementation and two review subtasks to each task that is not started and has no
    /// subtasks
    #[arg(long)]
    reviews: bool,

    /// Show which tasks are new, and change nothing
    ///
    /// A line for each task: `new`, `done` (new, and completed in the plan) or `known`, and its title.
    #[arg(long)]
    dry_run: bool,
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

fn print_preview(report: &ImportPreviewReport, app: &App, output: &mut Output) -> CommandResult {
    match app.format {
        Format::Json => output.json(report)?,
        Format::Text => {
            for PreviewedTask { title, outcome, id } in &report.tasks {
                let id = id.as_ref().map_or(String::new(), |id| format!("  ({id})"));
                output.lines(&format!("{:<5}  {title}{id}\n", outcome.word()), 7)?;
            }
            output.flush()?;
        }
    }
    let (new, all) = (report.new_tasks(), counted(report.tasks.len(), "task"));
    output.say(&format!("note: a dry run imports nothing; {new} of {all} would be added"));
    Ok(Exit::Done)
}

impl Args {
    pub(super) fn run(&self, desk: &TaskDesk<'_>, app: &App, output: &mut Output) -> CommandResult {
        let source = match &self.source.run {
            Some(ChosenRun::Newest) => ImportSource::Run(None),
            Some(ChosenRun::Named(run)) => ImportSource::Run(Some(run.clone())),
            None => ImportSource::File(self.source.plan.clone().unwrap_or_default()),
        };
        let request = ImportRequest { source, adds_reviews: self.reviews };
        if self.dry_run {
            return print_preview(&preview_import(desk, &request)?, app, output);
        }
        print_added(&import_tasks(desk, &request)?, app, output)
    }
}
