//! Why a fan-out stopped before all its items were settled.

use std::fmt;

use jiff::Timestamp;

use crate::lane::outcome::LaneOutcome;

/// Why the process of a fan-out stopped early.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FanStop {
    /// Some lanes gave no answer.
    Incomplete,
    /// The budget is spent, in the words of the lane that it stopped.
    OverBudget(String),
    /// A lane failed in a way in which every other lane of the agent would fail.
    Hopeless {
        /// How the lane ended.
        outcome: LaneOutcome,
        /// The words of its failure.
        why: String,
    },
    /// The agent's limit is reached, and the process waits for its end.
    Parked {
        /// When the limit ends.
        until: Timestamp,
        /// The words of the failure.
        why: String,
    },
    /// So many lanes in a row gave no answer.
    ManyFailures {
        /// The number of lanes without an answer.
        count: usize,
        /// How the last of them ended.
        outcome: LaneOutcome,
        /// The words of its failure.
        why: String,
    },
    /// The user stopped Convoke.
    Signal,
    /// Something else failed; the text is the error's.
    Broken(String),
    /// The words of a journal from before journals held facts.
    Sentence(String),
}

impl fmt::Display for FanStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete => f.write_str("some lanes gave no answer"),
            Self::Hopeless { outcome, why } => write!(f, "the agent {}: {why}", outcome.words()),
            Self::Parked { until, why } => write!(f, "parked until {until}: {why}"),
            Self::ManyFailures { count, outcome, why } => write!(
                f,
                "{count} lanes in a row gave no answer; the last one {}: {why}",
                outcome.words()
            ),
            Self::Signal => f.write_str("stopped by a signal"),
            Self::OverBudget(words) | Self::Broken(words) | Self::Sentence(words) => {
                f.write_str(words)
            }
        }
    }
}
