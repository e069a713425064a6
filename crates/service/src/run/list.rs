//! Lists the runs of a project.

use std::collections::HashSet;

use convoke_domain::design::quote::line;
use convoke_domain::run::{RunId, RunState};
use convoke_engine::design::run_folder::RunFolders;
use convoke_engine::owner::is_gone;
use convoke_store::Store;

use super::known::KnownRun;
use super::report::{Conclusion, RunSummaryReport};
use super::state::RunStateReport;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// Lists the designs of the project, the last one first.
pub fn list_designs(session: &Session) -> Result<Vec<RunSummaryReport>, Failure> {
    let mut runs = list_runs(session)?;
    runs.retain(|run| run.kind == DESIGN);
    Ok(runs)
}

/// A design, as a person chooses it from a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentDesign {
    /// The run's id.
    pub run: String,
    /// The first line of its feature.
    pub feature: String,
    /// When it began.
    pub started_at: String,
}

/// Returns the last designs of the project, at most so many. It reads no journal.
pub fn recent_designs(session: &Session, most: usize) -> Result<Vec<RecentDesign>, Failure> {
    let Workspace { store, scope } = &Workspace::open(session, None)?;
    let runs = store.runs(&scope.project).map_err(refused)?;
    let designs = runs.into_iter().filter(|run| !run.id.is_fan()).take(most);
    let recent = designs.map(|run| RecentDesign {
        run: run.id.to_string(),
        feature: line(&run.feature),
        started_at: run.started_at.to_string(),
    });
    Ok(recent.collect())
}

/// Lists the runs of the project, the last one first: designs and fan-outs.
pub fn list_runs(session: &Session) -> Result<Vec<RunSummaryReport>, Failure> {
    let Workspace { store, scope } = &Workspace::open(session, None)?;
    let runs = store.runs(&scope.project).map_err(refused)?;
    let worked_on = worked_on(session, &**store);
    runs.iter()
        .map(|run| {
            // A fan-out has no warnings and no matters to decide.
            let end = if run.id.is_fan() {
                Conclusion::default()
            } else {
                Conclusion::of(&**store, run)?
            };
            let state = if end.is_open { RunState::Stopped } else { run.state };
            Ok(RunSummaryReport {
                run: run.id.to_string(),
                kind: if run.id.is_fan() { FAN } else { DESIGN },
                state: state.seen(&run.id, &worked_on).into(),
                degraded: end.warnings.map(|count| count > 0),
                warnings: end.warnings,
                undecided: end.undecided,
                started_at: run.started_at.to_string(),
                feature: run.feature.clone(),
            })
        })
        .collect()
}

/// Returns the runs that a process works on now, on any machine that shares the store.
pub(crate) fn worked_on(session: &Session, store: &dyn Store) -> HashSet<RunId> {
    // Every caller also reads the runs, and reports an error of the store from there.
    let leases = store.leases(session.now()).unwrap_or_default();
    let held = leases.into_iter().filter(|lease| !is_gone(&lease.owner)).map(|lease| lease.run);
    locked_runs(session).into_iter().chain(held).collect()
}

/// Returns the runs that a process of this machine works on now.
pub(super) fn locked_runs(session: &Session) -> HashSet<RunId> {
    let folders = session.environment.runs().map(RunFolders::new);
    folders.map(|folders| folders.worked_on()).unwrap_or_default()
}

#[derive(Debug, thiserror::Error)]
#[error("this project has no designs yet")]
struct NoRun;

/// The kind of a run that plans a feature.
const DESIGN: &str = "design";

/// The kind of a run that asks for many items.
const FAN: &str = "fan";

/// Returns the last run of the project, of any kind; nothing before there is one.
pub(crate) fn last_of_all_runs(session: &Session) -> Result<Option<RunId>, Failure> {
    let Workspace { store, scope } = &Workspace::open(session, None)?;
    let runs = store.runs(&scope.project).map_err(refused)?;
    Ok(runs.into_iter().next().map(|run| run.id))
}

/// Returns the last design of the project.
pub(crate) fn last_run(session: &Session) -> Result<RunId, Failure> {
    let Workspace { store, scope } = &Workspace::open(session, None)?;
    let runs = store.runs(&scope.project).map_err(refused)?;
    let last = runs.into_iter().map(|run| run.id).find(|id| !id.is_fan());
    last.ok_or_else(|| Failure::new(ErrorClass::Refused, NoRun).hint("convoke design --rehearse"))
}

#[derive(Debug, thiserror::Error)]
#[error("cannot resume: no run of this project was stopped")]
struct NothingStopped;

/// Tells whether a run is known to be a rehearsal.
pub(crate) fn is_rehearsal(session: &Session, run: &RunId) -> bool {
    KnownRun::open(session, run).is_ok_and(|known| known.is_rehearsal())
}

/// Returns the last run of the project that was stopped and can go on, and tells the user which one
/// that is. A rehearsal cannot: its copy of the project is gone.
pub fn last_stopped_run(session: &Session) -> Result<RunId, Failure> {
    let runs = list_runs(session)?.into_iter();
    let stopped = runs.filter(|run| run.state == RunStateReport::Stopped);
    let mut stopped = stopped.filter_map(|run| Some((RunId::parse(&run.run).ok()?, run.feature)));
    let Some((id, feature)) = stopped.find(|(id, _)| !is_rehearsal(session, id)) else {
        return Err(
            Failure::new(ErrorClass::Refused, NothingStopped).hint("`convoke runs` lists all runs")
        );
    };
    session.reporter().remark(format!("resuming {id}: {}", line(&feature)));
    Ok(id)
}
