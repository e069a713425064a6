//! A design's journal: events of the store's entries, and entries of new events.

use convoke_domain::design::event::{Event, Millis, Stamped};
use convoke_domain::run::RunId;
use convoke_store::error::StoreError;
use convoke_store::journal::{Entry, JournalStore, NewEvent};

use super::super::codec::{CodecError, decode, encode};
use super::RunError;

/// A run's journal, held by one process.
pub struct Journal<'s> {
    pub(super) store: &'s dyn JournalStore,
    pub(super) run: RunId,
    pub(super) next: u64,
}

impl<'s> Journal<'s> {
    /// Opens a journal, and returns its events.
    pub fn open(
        store: &'s dyn JournalStore,
        run: RunId,
    ) -> Result<(Self, Vec<Stamped>), RunError<std::convert::Infallible>> {
        let mut next = 1;
        let mut stamped = Vec::new();
        // One at a time: answers are long, and no caller needs a second copy.
        store.replay(&run, 0, &mut |entry| {
            next = entry.seq + 1;
            let event = decode(&entry.kind, &entry.body);
            stamped.push(event.map(|event| Stamped { at: entry.at_ms, event }));
        })?;
        let stamped = stamped.into_iter().collect::<Result<_, CodecError>>()?;
        Ok((Self { store, run, next }, stamped))
    }

    /// Writes an event down.
    pub fn append(&mut self, at: Millis, event: &Event) -> Result<(), StoreError> {
        let (kind, body) = encode(event);
        self.store.append(&self.run, self.next, &[NewEvent { at_ms: at, kind, body: &body }])?;
        tracing::debug!(run = %self.run, number = self.next, kind, "appended an event to the journal");
        self.next += 1;
        super::super::fault::point();
        Ok(())
    }
}

/// Reads entries of a journal as events.
pub(super) fn stamped(entries: &[Entry]) -> Result<Vec<Stamped>, CodecError> {
    let read =
        |entry: &Entry| Ok(Stamped { at: entry.at_ms, event: decode(&entry.kind, &entry.body)? });
    entries.iter().map(read).collect()
}
