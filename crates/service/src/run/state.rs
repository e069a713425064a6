//! The states of runs and journals, as reports have them.

use std::fmt;

use convoke_domain::design::tally::FindingVerdict;
use convoke_domain::run::RunState;
use convoke_store::journal::Integrity;
use serde::{Serialize, Serializer};

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStateReport {
    /// A process works on it.
    Running,
    /// It is not at its end, and no process works on it.
    Stopped,
    /// It completed.
    Ended,
    /// It was not allowed to begin.
    Refused,
    /// The report is about the beginning of its journal, which tells of no process.
    Unfinished,
}

impl RunStateReport {
    /// Returns the word that people and programs read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => RunState::Running.name(),
            Self::Stopped => RunState::Stopped.name(),
            Self::Ended => RunState::Ended.name(),
            Self::Refused => RunState::Refused.name(),
            Self::Unfinished => "unfinished",
        }
    }
}

impl From<RunState> for RunStateReport {
    fn from(state: RunState) -> Self {
        match state {
            RunState::Running => Self::Running,
            RunState::Stopped => Self::Stopped,
            RunState::Ended => Self::Ended,
            RunState::Refused => Self::Refused,
        }
    }
}

impl fmt::Display for RunStateReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a journal is as it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JournalStateReport {
    /// It is.
    Sound,
    /// This event is the first that was changed.
    ChangedAt(u64),
}

impl From<Integrity> for JournalStateReport {
    fn from(integrity: Integrity) -> Self {
        match integrity {
            Integrity::Sound => Self::Sound,
            Integrity::BrokenAt(event) => Self::ChangedAt(event),
        }
    }
}

impl fmt::Display for JournalStateReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sound => f.write_str("sound"),
            Self::ChangedAt(event) => write!(f, "changed at event {event}"),
        }
    }
}

// Programs read the sentence that people read.
impl Serialize for JournalStateReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Writes the word of a verdict for programs. It is generic because serde gives it a reference to
/// an option.
pub(super) fn verdict_word<V, S>(verdict: &V, serializer: S) -> Result<S::Ok, S::Error>
where
    V: Copy + Into<Option<FindingVerdict>>,
    S: Serializer,
{
    let verdict: Option<FindingVerdict> = (*verdict).into();
    verdict.map(FindingVerdict::word).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_the_words_that_programs_know() {
        for state in RunState::ALL {
            let report = RunStateReport::from(state);
            assert_eq!(report.to_string(), state.name());
            assert_eq!(serde_json::to_value(report).unwrap(), state.name());
        }
        assert_eq!(serde_json::to_value(RunStateReport::Unfinished).unwrap(), "unfinished");
        let journal =
            |integrity| serde_json::to_value(JournalStateReport::from(integrity)).unwrap();
        assert_eq!(journal(Integrity::Sound), "sound");
        assert_eq!(journal(Integrity::BrokenAt(7)), "changed at event 7");
    }
}
