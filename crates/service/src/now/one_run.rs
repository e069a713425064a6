//! What happens in one design at the moment, and stopping it.

use std::io;
use std::time::Duration;

use convoke_domain::lane::ledger::LaneEntry;
use convoke_domain::owner::Owner;
use convoke_domain::run::RunId;
use convoke_engine::design::run_folder::RunFolders;
use convoke_engine::owner::{OwnerState, stop as stop_owner, whereabouts};

use super::LiveLaneReport;
use crate::failure::{ErrorClass, Failure};
use crate::lane::{running_in, stop as stop_lane};
use crate::run::worked_on;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// How long a design may take to stop: its clients' grace, and more.
const PATIENCE: Duration = Duration::from_secs(30);

/// What happens in one run at the moment.
#[derive(Debug, Clone)]
pub struct RunNowReport {
    /// Another text whenever the report of the run may be another.
    pub mark: String,
    /// The lanes of the run that run.
    pub lanes: Vec<LiveLaneReport>,
}

#[derive(Debug, thiserror::Error)]
enum StopDesignError {
    #[error("cannot stop `{0}`: no process works on it")]
    NoProcess(RunId),
    #[error("cannot stop `{run}`: process {pid} is not on this machine, or in another container")]
    Elsewhere { run: RunId, pid: u32 },
    #[error("cannot stop `{run}`")]
    Refused { run: RunId, source: io::Error },
    #[error("`{run}` has not stopped: process {pid} still runs")]
    Stubborn { run: RunId, pid: u32 },
}

/// Returns what happens in a run. It does not read the journal, so that a page can look several
/// times a second.
pub fn run_now(session: &Session, run: &RunId) -> Result<RunNowReport, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let run = store.run(&scope.project, run).map_err(refused)?;
    let mut lanes = running_in(session, &*store, &scope.project)?;
    lanes.retain(|lane| is_of(lane, &run.id));
    let state = run.state.seen(&run.id, &worked_on(session, &*store)).name();
    let ids: Vec<_> = lanes.iter().map(|lane| lane.id.to_string()).collect();
    Ok(RunNowReport {
        mark: format!("{} {state} {}", run.last_seq, ids.join(" ")),
        lanes: lanes.iter().map(|lane| LiveLaneReport::new(session, lane)).collect(),
    })
}

fn is_of(lane: &LaneEntry, run: &RunId) -> bool {
    lane.begun.purpose.run.as_deref() == Some(run.as_str())
}

/// Stops a design by stopping the process that works on it, also between two steps and while it waits
/// for an answer; it can be resumed.
pub fn stop_design(session: &Session, run: &RunId) -> Result<(), Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let run = store.run(&scope.project, run).map_err(refused)?.id;
    let running = running_in(session, &*store, &scope.project)?;
    // A lane knows its process and its end; between two steps only the run's lock does.
    if let Some(lane) = running.iter().find(|lane| is_of(lane, &run)) {
        return stop_lane(session, lane.id).map(drop);
    }
    let folders = session.environment.runs().map(RunFolders::new);
    match folders.and_then(|folders| folders.process_of(&run)) {
        Some(owner) => stop_process(run, &owner),
        None => Err(Failure::new(ErrorClass::Refused, StopDesignError::NoProcess(run))
            .hint("it has ended or was stopped already; load the page again")),
    }
}

fn stop_process(run: RunId, owner: &Owner) -> Result<(), Failure> {
    let pid = owner.pid;
    let failed = |error| Err(Failure::new(ErrorClass::Prerequisite, error));
    if whereabouts(owner) == OwnerState::Elsewhere {
        return failed(StopDesignError::Elsewhere { run, pid });
    }
    match stop_owner(owner, PATIENCE) {
        Ok(true) => Ok(()),
        Ok(false) => failed(StopDesignError::Stubborn { run, pid }),
        Err(source) => failed(StopDesignError::Refused { run, source }),
    }
}
