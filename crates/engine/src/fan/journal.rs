//! A fan-out's journal, held by one process.

use convoke_domain::fan::event::FanEvent;
use convoke_domain::fan::record::FanRecord;
use convoke_domain::run::{RunId, RunState};
use convoke_store::error::StoreError;
use convoke_store::journal::{JournalStore, NewEvent};
use jiff::Timestamp;

use super::codec::{decode, encode};
use crate::design::codec::CodecError;
use crate::design::fault;
use crate::design::journal::JournalError;

/// A run's journal, and what it says.
pub struct FanJournal<'s> {
    store: &'s dyn JournalStore,
    run: RunId,
    next: u64,
    record: FanRecord,
}

impl<'s> FanJournal<'s> {
    /// Opens a journal.
    pub fn open(store: &'s dyn JournalStore, run: RunId) -> Result<Self, JournalError> {
        let mut next = 1;
        let mut record = FanRecord::default();
        let mut wrong: Option<CodecError> = None;
        // One at a time: answers are long, and the record keeps none.
        store.replay(&run, 0, &mut |entry| {
            next = entry.seq + 1;
            match decode(&entry.kind, &entry.body) {
                Ok(event) => record.take(entry.seq, event),
                Err(error) => {
                    wrong.get_or_insert(error);
                }
            }
        })?;
        match wrong {
            None => Ok(Self { store, run, next, record }),
            Some(error) => Err(error.into()),
        }
    }

    /// Writes an event down, and takes it into the record.
    pub fn append(&mut self, now: Timestamp, event: FanEvent) -> Result<(), StoreError> {
        let (kind, body) = encode(&event);
        let entry = NewEvent { at_ms: now.as_millisecond(), kind, body: &body };
        self.store.append(&self.run, self.next, &[entry])?;
        tracing::debug!(run = %self.run, number = self.next, kind, "appended an event to the journal");
        self.record.take(self.next, event);
        self.next += 1;
        fault::point();
        Ok(())
    }

    /// Returns what the journal says.
    pub const fn record(&self) -> &FanRecord {
        &self.record
    }

    /// Records the state of the run.
    pub fn mark(&self, state: RunState, now: Timestamp) -> Result<(), StoreError> {
        self.store.mark_run(&self.run, state, now)
    }
}

/// Reads one event of a fan-out.
pub fn read_event(
    store: &dyn JournalStore,
    run: &RunId,
    seq: u64,
) -> Result<Option<FanEvent>, JournalError> {
    let entry = store.event(run, seq)?;
    Ok(entry.map(|entry| decode(&entry.kind, &entry.body)).transpose()?)
}
