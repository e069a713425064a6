//! A design's journal: events of the store's entries, and entries of new events.

use convoke_domain::design::event::{Event, Millis, Stamped};
use convoke_domain::run::{RunId, RunState};
use convoke_store::error::StoreError;
use convoke_store::journal::{JournalStore, NewEvent};
use jiff::Timestamp;

use super::codec::{CodecError, decode, encode};

/// Why a run's journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The store cannot read or write it.
    #[error("cannot use the run's journal")]
    Store(#[from] StoreError),
    /// It holds an event that this program does not understand.
    #[error("cannot read the run's journal")]
    Codec(#[from] CodecError),
}

/// A run's journal, held by one process.
pub struct Journal<'s> {
    store: &'s dyn JournalStore,
    run: RunId,
    next: u64,
}

impl<'s> Journal<'s> {
    /// Opens a journal, and returns its events.
    pub fn open(
        store: &'s dyn JournalStore,
        run: RunId,
    ) -> Result<(Self, Vec<Stamped>), JournalError> {
        let mut next = 1;
        let mut stamped = Vec::new();
        // One at a time: answers are long, and no caller needs a second copy.
        store.replay(&run, 0, &mut |entry| {
            next = entry.seq + 1;
            let event = decode(&entry.kind, &entry.body);
            stamped.push(event.map(|event| Stamped { at: entry.at_ms, event }));
        })?;
        let stamped = stamped.into_iter().collect::<Result<Vec<_>, CodecError>>()?;
        tracing::debug!(%run, events = stamped.len(), "opened a journal");
        Ok((Self { store, run, next }, stamped))
    }

    /// Writes an event down.
    pub fn append(&mut self, at: Millis, event: &Event) -> Result<(), StoreError> {
        let (kind, body) = encode(event);
        self.store.append(&self.run, self.next, &[NewEvent { at_ms: at, kind, body: &body }])?;
        tracing::debug!(run = %self.run, number = self.next, kind, "appended an event to the journal");
        self.next += 1;
        super::fault::point();
        Ok(())
    }

    /// Reads all events again, after another process of the run has written some.
    pub fn read_again(&mut self) -> Result<Vec<Stamped>, JournalError> {
        let (journal, events) = Self::open(self.store, self.run.clone())?;
        self.next = journal.next;
        Ok(events)
    }

    /// Records the state of the run.
    pub fn mark(&self, state: RunState, now: Timestamp) -> Result<(), StoreError> {
        self.store.mark_run(&self.run, state, now)
    }
}
