//! Taking over the tasks of a plan.

use std::path::{Path, PathBuf};

use convoke_domain::design::walk::{Ending, Next};
use convoke_domain::run::RunId;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::task::{
    ImportRequest, ImportSource, TaskDesk, import_tasks, leave_plan, plan_file,
};

use super::print_ids;
use crate::app::App;
use crate::cli::runs::Known;
use crate::exit::Exit;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The plan, relative to this folder or to the project, or a database of june or otto
    #[arg(value_name = "FILE", required_unless_present = "run", conflicts_with = "run")]
    plan: Option<PathBuf>,

    /// Import the plan of a finished design: the run's id, or the beginning of it
    ///
    /// Agents read the plan in the feature's folder if the design wrote it there, else in
    /// `.convoke/plans`, which git ignores.
    #[arg(long, value_name = "RUN", value_parser = RunId::parse)]
    run: Option<RunId>,

    /// Add an implementation and two review subtasks to each task that is not started and has no
    /// subtasks
    #[arg(long)]
    reviews: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot import the plan of `{run}`: {why}")]
struct NoPlan {
    run: RunId,
    why: &'static str,
}

impl Args {
    pub(super) fn run(
        &self,
        desk: &TaskDesk<'_>,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let source = match &self.run {
            Some(run) => designed(app, run, output)?,
            None => ImportSource::File(self.plan.clone().unwrap_or_default()),
        };
        let request = ImportRequest { source, adds_reviews: self.reviews };
        print_ids(&import_tasks(desk, &request)?, app, output)
    }
}

/// Returns the plan of a finished design, and where agents find it in the project.
fn designed(app: &App, id: &RunId, output: &Output) -> Result<ImportSource, Failure> {
    let known = Known::open(app, id)?;
    let run = known.run.id.clone();
    let (why, hint) = match &known.progress.next {
        Next::End(Ending::Complete { .. }) => ("it has none", format!("convoke show {run}")),
        Next::Need(_)
        | Next::End(Ending::OverBudget(_) | Ending::HeavyFailed(_) | Ending::NotExported(_)) => {
            ("the run has not ended", format!("convoke resume {run}"))
        }
        Next::End(Ending::Refused(_) | Ending::DirtyTree | Ending::Failed(_)) => {
            ("the run ended without one", format!("convoke show {run}"))
        }
    };
    let is_complete = matches!(known.progress.next, Next::End(Ending::Complete { .. }));
    let plan = known.progress.results.plan.as_ref().filter(|_| is_complete).map(|plan| &plan.text);
    let Some(text) = plan else {
        return Err(Failure::new(ErrorClass::Refused, NoPlan { run, why }).hint(hint));
    };
    let feature = known.facts.settings().and_then(|(_, settings)| settings.feature_dir.clone());
    let names = [format!("plan-{run}.md"), "plan.md".to_owned()];
    let mut handed_over =
        feature.iter().flat_map(|dir| names.iter().map(|name| Path::new(dir).join(name)));
    let in_project = |path: PathBuf| {
        let is_plain = path.symlink_metadata().is_ok_and(|found| found.is_file());
        plan_file(app, &path).ok().filter(|_| is_plain)
    };
    let place = match handed_over.find_map(in_project) {
        Some(place) => place,
        None => leave_plan(app, &run, text)?,
    };
    if known.is_rehearsal() {
        output.say("warning: the run is a rehearsal; its tasks are about its example project");
    }
    Ok(ImportSource::Plan { plan_file: place, text: text.to_string() })
}
