//! Stores journals: every event of a run, so that the run can be replayed.
//!
//! Each event carries a chain value: a hash over the one before it and over the event itself. The
//! last is also kept with the run, so that an event that was changed, taken out or put in is
//! noticed. The chain has no secret: it detects accidents and careless edits, not an attacker who
//! computes the whole chain again.

use convoke_domain::run::{RunId, RunState};
use convoke_domain::scope::Scope;
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::error::StoreError;

/// What the store knows of a run beside its events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The run's id.
    pub id: RunId,
    /// The project, and the branch that was checked out when it began.
    pub scope: Scope,
    /// The project's name at that time, if it was merged into another since.
    pub begun_in: Option<String>,
    /// The first line of the feature's description.
    pub feature: String,
    /// The run's state.
    pub state: RunState,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended, or was stopped.
    pub ended_at: Option<Timestamp>,
    /// The number of its last event; 0 before there is one.
    pub last_seq: u64,
    /// The chain value of its last event.
    pub last_chain: String,
}

/// Something that happened, before it is kept.
#[derive(Debug, Clone, Copy)]
pub struct NewEvent<'a> {
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The event's kind.
    pub kind: &'a str,
    /// The rest of it, in the encoding of the writer.
    pub body: &'a str,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number: the first is 1, and none is left out.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The event's kind.
    pub kind: String,
    /// The event's other fields, as JSON.
    pub body: String,
    /// The chain's value up to this event.
    pub chain: String,
}

/// The chain's verdict on a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integrity {
    /// Every event is as it was written, and none is missing.
    Sound,
    /// The first event that is not as it was written, or is missing; 0 is the run itself.
    BrokenAt(u64),
}

/// Keeps runs and their journals. An event that was appended is on the disk, not only on its way.
pub trait JournalStore {
    /// Writes down that a run begins.
    fn begin_run(
        &self,
        id: &RunId,
        scope: &Scope,
        feature: &str,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Records the state of a run. A resumed run has not ended.
    fn mark_run(&self, id: &RunId, state: RunState, now: Timestamp) -> Result<(), StoreError>;

    /// Adds events to a run's journal, all or none, and returns the chain's new last value. `seq`
    /// is the first event's number, and must be the next: of two processes that write one journal,
    /// one fails.
    fn append(&self, id: &RunId, seq: u64, events: &[NewEvent<'_>]) -> Result<String, StoreError>;

    /// Reads a journal from an event on, one at a time, in order. `hear` may use the store.
    fn replay(&self, id: &RunId, from: u64, hear: &mut dyn FnMut(Entry)) -> Result<(), StoreError>;

    /// Returns one event of a journal.
    fn event(&self, id: &RunId, seq: u64) -> Result<Option<Entry>, StoreError>;

    /// Returns a whole journal.
    fn events(&self, id: &RunId) -> Result<Vec<Entry>, StoreError> {
        let mut events = Vec::new();
        self.replay(id, 0, &mut |entry| events.push(entry))?;
        Ok(events)
    }

    /// Returns a project's runs, over all its branches, the last one first.
    fn runs(&self, project: &str) -> Result<Vec<Run>, StoreError>;

    /// Returns the run of a project with this id, or the only one whose id begins so.
    fn run(&self, project: &str, id: &RunId) -> Result<Run, StoreError>;

    /// Checks a run's journal against its chain.
    fn verify(&self, project: &str, id: &RunId) -> Result<Integrity, StoreError> {
        let run = self.run(project, id)?;
        let mut scope = run.scope.clone();
        scope.project = run.begun_in.clone().unwrap_or(scope.project);
        let mut chain = beginning(&run.id, &scope, &run.feature);
        let mut next = 1;
        let mut broken = None;
        self.replay(&run.id, 0, &mut |entry| {
            chain = link(&chain, next, &NewEvent::from(&entry));
            if broken.is_none() && (entry.seq != next || entry.chain != chain) {
                broken = Some(next);
            }
            next += 1;
        })?;
        let last = next - 1;
        let broken = broken.or_else(|| match run.last_seq {
            seq if seq > last => Some(next),
            seq if seq < last => Some(seq + 1),
            _ => (run.last_chain != chain).then_some(last),
        });
        Ok(broken.map_or(Integrity::Sound, Integrity::BrokenAt))
    }
}

impl<'a> From<&'a Entry> for NewEvent<'a> {
    fn from(entry: &'a Entry) -> Self {
        Self { at_ms: entry.at_ms, kind: &entry.kind, body: &entry.body }
    }
}

/// Returns what a run's chain begins with. Events of another run do not fit behind it.
pub(crate) fn beginning(id: &RunId, scope: &Scope, feature: &str) -> String {
    hash(&[id.as_str(), &scope.project, &scope.branch, feature])
}

/// Returns the chain's next value.
pub(crate) fn link(chain: &str, seq: u64, event: &NewEvent<'_>) -> String {
    hash(&[chain, &seq.to_string(), &event.at_ms.to_string(), event.kind, event.body])
}

/// Hashes parts with their lengths, so that no two lists of parts look the same.
fn hash(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Journals that are kept already must still be found sound.
    #[test]
    fn a_chain_does_not_change() {
        let event = NewEvent { at_ms: -1, kind: "begun", body: "{\"a\":1}\n" };
        let first = link("00", 1, &event);
        assert_eq!(first, "56218611a3a4e64e76b410418dd9161aacec424076a0fbede7b8ae2a85d3185f");
        let moved = NewEvent { kind: "begun{", body: "\"a\":1}\n", ..event };
        assert_ne!(first, link("00", 1, &moved));
    }
}
