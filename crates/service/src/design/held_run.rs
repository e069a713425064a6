//! A run that this process holds, with its journal.

use convoke_domain::design::event::{Event, Stamped};
use convoke_domain::run::RunId;
use convoke_engine::design::journal::Journal;

use super::course::folders;
use super::hold::RunHold;
use super::{open_journal, worker};
use crate::failure::Failure;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// A run that only this process works on, with its journal, opened once.
pub(crate) struct HeldRun<'w> {
    pub(super) journal: Journal<'w>,
    /// All events of the journal.
    pub(crate) events: Vec<Stamped>,
    pub(super) hold: RunHold,
}

impl<'w> HeldRun<'w> {
    /// Opens the journal of a held run. The worker of an earlier process may still write it, so that
    /// has to end before.
    pub(crate) fn open(
        session: &Session,
        workspace: &'w Workspace,
        id: &RunId,
        hold: RunHold,
    ) -> Result<Self, Failure> {
        worker::wait_for_last(session, &folders(session)?, id)?;
        let (journal, events) = open_journal(workspace, id)?;
        Ok(Self { journal, events, hold })
    }

    /// Writes an event down.
    pub(crate) fn append(&mut self, session: &Session, event: Event) -> Result<(), Failure> {
        let at = session.now().as_millisecond();
        self.journal.append(at, &event).map_err(refused)?;
        self.events.push(Stamped { at, event });
        Ok(())
    }
}
