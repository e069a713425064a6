//! The result of judges' votes.

use crate::design::seat::Side;

/// The judges' verdict on one decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgesVerdict {
    /// A side won.
    Won {
        /// The winning side.
        side: Side,
        /// The votes for the chosen option.
        thesis: usize,
        /// The votes for the alternative.
        antithesis: usize,
        /// Why the winning judges voted as they did.
        rationales: Vec<String>,
    },
    /// So many judges voted for each side.
    Tie(usize),
    /// So many judges voted, which is too few.
    TooFew(usize),
}

impl JudgesVerdict {
    /// Returns the reason that an open decision is recorded with.
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Won { .. } => None,
            Self::Tie(each) => Some(format!("{each}-{each} tie with {} voters", 2 * each)),
            Self::TooFew(count) => Some(format!("{count} judges eligible")),
        }
    }
}
