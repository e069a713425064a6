//! Which lanes run, which ran, and stopping one.

use std::time::Duration;

use convoke_domain::lane::ledger::LaneEntry;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_engine::owner::{OwnerState, stop as stop_owner, whereabouts};
use convoke_store::Store;
use convoke_store::lane::LaneQuery;

use super::pulse::remove_pulse;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::workspace::{Workspace, open_store, refused};

/// How many lanes are listed beside those that run.
const RECENT: u32 = 20;

/// How long a lane may take to stop: its client's grace, and more.
const PATIENCE: Duration = Duration::from_secs(30);

/// Which lanes are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneList {
    /// Those of the project that run, and its last ones.
    Recent,
    /// All lanes of all projects.
    All,
}

/// A lane that a user stopped.
pub struct StoppedLane {
    /// How it ended.
    pub entry: LaneEntry,
    /// Whether it was over before.
    pub was_over: bool,
    /// Other lanes that the same process ran, and that stopped with it.
    pub with_it: Vec<i64>,
}

#[derive(Debug, thiserror::Error)]
enum ListError {
    #[error("there is no lane {id}")]
    NoLane { id: i64 },
    #[error("cannot stop lane {id}: process {pid} is not on this machine, or in another container")]
    Elsewhere { id: i64, pid: u32 },
    #[error("cannot stop lane {id}")]
    Refused { id: i64, source: std::io::Error },
    #[error("lane {id} has not stopped: process {pid} still runs")]
    Stubborn { id: i64, pid: u32 },
}

/// Lists lanes, those that run first. One whose process is gone is closed as lost.
pub fn list(session: &Session, which: LaneList) -> Result<Vec<LaneEntry>, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    close_lost(&*store, session)?;
    let is_recent = which == LaneList::Recent;
    let project = is_recent.then_some(scope.project.as_str());
    let query = LaneQuery { project, ..LaneQuery::default() };
    let last = is_recent.then_some(RECENT);
    let recent = store.lanes(LaneQuery { last, ..query }).map_err(refused)?;
    let mut entries = store.lanes(LaneQuery { open: true, ..query }).map_err(refused)?;
    entries.retain(|entry| !recent.contains(entry));
    entries.extend(recent);
    Ok(entries)
}

/// Returns the record of a lane.
pub fn show(session: &Session, id: i64) -> Result<LaneEntry, Failure> {
    let store = open_store(session)?;
    close_lost(&*store, session)?;
    find(&*store, id)
}

/// Stops a lane by asking the process that runs it; all lanes of that process stop.
pub fn stop(session: &Session, id: i64) -> Result<StoppedLane, Failure> {
    let store = open_store(session)?;
    let entry = find(&*store, id)?;
    if entry.over.is_some() {
        return Ok(StoppedLane { entry, was_over: true, with_it: Vec::new() });
    }
    let owner = &entry.begun.owner;
    let outcome = match whereabouts(owner) {
        OwnerState::Gone => None,
        OwnerState::Elsewhere => {
            let error = ListError::Elsewhere { id, pid: owner.pid };
            return Err(Failure::new(ErrorClass::Prerequisite, error));
        }
        OwnerState::Here => {
            ask_owner(&entry)?;
            Some(LaneOutcome::Cancelled)
        }
    };
    // One process may have run several. It records itself how they ended, if it can.
    let mut with_it = Vec::new();
    let query = LaneQuery { open: true, ..LaneQuery::default() };
    for other in store.lanes(query).map_err(refused)? {
        if other.begun.owner == *owner {
            store.close_lane(other.id, outcome, session.now()).map_err(refused)?;
            with_it.extend(Some(other.id).filter(|other| *other != id));
        }
    }
    Ok(StoppedLane { entry: find(&*store, id)?, was_over: false, with_it })
}

fn find(store: &dyn Store, id: i64) -> Result<LaneEntry, Failure> {
    store.lane(id).map_err(refused)?.ok_or_else(|| {
        Failure::new(ErrorClass::Refused, ListError::NoLane { id })
            .hint("see `convoke lane list --all`")
    })
}

/// Closes every lane whose process is gone; its guardian has ended the remaining processes.
fn close_lost(store: &dyn Store, session: &Session) -> Result<(), Failure> {
    let query = LaneQuery { open: true, ..LaneQuery::default() };
    for entry in store.lanes(query).map_err(refused)? {
        if whereabouts(&entry.begun.owner) == OwnerState::Gone {
            store.close_lane(entry.id, None, session.now()).map_err(refused)?;
            remove_pulse(session, entry.id);
        }
    }
    Ok(())
}

/// Lists the lanes of the project that run. One whose process is gone is closed as lost.
pub fn list_running(session: &Session) -> Result<Vec<LaneEntry>, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    running_in(session, &*store, &scope.project)
}

/// Lists the lanes of a project that run, in an open store.
pub(crate) fn running_in(
    session: &Session,
    store: &dyn Store,
    project: &str,
) -> Result<Vec<LaneEntry>, Failure> {
    close_lost(store, session)?;
    let query = LaneQuery { project: Some(project), open: true, ..LaneQuery::default() };
    store.lanes(query).map_err(refused)
}

fn ask_owner(entry: &LaneEntry) -> Result<(), Failure> {
    let (id, owner) = (entry.id, &entry.begun.owner);
    let failed = |error| Failure::new(ErrorClass::Prerequisite, error);
    match stop_owner(owner, PATIENCE) {
        Ok(true) => Ok(()),
        Ok(false) => Err(failed(ListError::Stubborn { id, pid: owner.pid })),
        Err(source) => Err(failed(ListError::Refused { id, source })),
    }
}
