//! Lists the runs of a project.

use std::collections::HashSet;

use convoke_domain::design::quote::line;
use convoke_domain::run::{RunId, RunState};
use convoke_engine::design::run_folder::RunFolders;

use super::known::KnownRun;
use super::report::{Conclusion, RunSummaryReport};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// Lists the runs of the project, the last one first.
pub fn list_runs(session: &Session) -> Result<Vec<RunSummaryReport>, Failure> {
    let Workspace { store, scope } = &Workspace::open(session, None)?;
    let runs = store.runs(&scope.project).map_err(refused)?;
    let worked_on = worked_on(session);
    runs.iter()
        .map(|run| {
            let end = Conclusion::of(&**store, run)?;
            let state = if end.is_open { RunState::Stopped } else { run.state };
            Ok(RunSummaryReport {
                run: run.id.to_string(),
                state: state.seen(&run.id, &worked_on).name(),
                degraded: end.warnings.map(|count| count > 0),
                warnings: end.warnings,
                undecided: end.undecided,
                started_at: run.started_at.to_string(),
                feature: run.feature.clone(),
            })
        })
        .collect()
}

/// Returns the runs that a process works on now.
pub(super) fn worked_on(session: &Session) -> HashSet<RunId> {
    let folders = session.environment.runs().map(RunFolders::new);
    folders.map(|folders| folders.worked_on()).unwrap_or_default()
}

#[derive(Debug, thiserror::Error)]
#[error("this project has no runs yet")]
struct NoRun;

/// Returns the last run of the project.
pub(crate) fn last_run(session: &Session) -> Result<RunId, Failure> {
    let Workspace { store, scope } = &Workspace::open(session, None)?;
    let runs = store.runs(&scope.project).map_err(refused)?;
    let last = runs.into_iter().next().map(|run| run.id);
    last.ok_or_else(|| Failure::new(ErrorClass::Refused, NoRun).hint("convoke design --rehearse"))
}

#[derive(Debug, thiserror::Error)]
#[error("cannot resume: no run of this project was stopped")]
struct NothingStopped;

/// Returns the last run of the project that was stopped and can go on, and tells the user which one
/// that is. A rehearsal cannot: its copy of the project is gone.
pub fn last_stopped_run(session: &Session) -> Result<RunId, Failure> {
    let is_rehearsal =
        |id: &RunId| KnownRun::open(session, id).is_ok_and(|known| known.is_rehearsal());
    let runs = list_runs(session)?.into_iter();
    let stopped = runs.filter(|run| run.state == RunState::Stopped.name());
    let mut stopped = stopped.filter_map(|run| Some((RunId::parse(&run.run).ok()?, run.feature)));
    let Some((id, feature)) = stopped.find(|(id, _)| !is_rehearsal(id)) else {
        return Err(
            Failure::new(ErrorClass::Refused, NothingStopped).hint("`convoke runs` lists all runs")
        );
    };
    session.reporter().say(format!("note: resuming {id}: {}", line(&feature)));
    Ok(id)
}
