//! Why a budget lets a lane not start, or not go on.

use std::fmt;

use super::budget::SpentAmount;

/// What scripts know a budget stop by that says no more.
const UNSTATED: &str = "Token budget cap hit; reviewer skipped";

/// The budget that stopped a lane, and what was spent of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BudgetStop {
    /// The budget of the lane, or of its run.
    Own(SpentAmount),
    /// The budget of the lane around it.
    Around(SpentAmount),
    /// A budget of the day.
    Day {
        /// What was spent of it.
        spent: SpentAmount,
        /// How many running lanes take the rest; 0 if there is no rest.
        running: usize,
    },
    /// A budget is set, and the ledger cannot be read.
    Unknown,
    /// A recording of a lane says that it was stopped, in these words.
    Reported(String),
    /// A budget stopped the lane, and nothing says which.
    Unstated,
    /// The words of a journal from before journals held facts. No new journal has them.
    Sentence(String),
}

impl fmt::Display for BudgetStop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(spent) => write!(f, "the budget is spent: {spent}"),
            Self::Around(spent) => {
                write!(f, "the budget of the lane around it is spent: {spent}")
            }
            Self::Day { spent, running: 0 } => write!(f, "the day's budget is spent: {spent}"),
            Self::Day { spent, running: 1 } => {
                write!(f, "a running lane may need the rest of the day's budget: {spent}")
            }
            Self::Day { spent, running } => {
                write!(f, "{running} running lanes may need the rest of the day's budget: {spent}")
            }
            Self::Unknown => {
                f.write_str("a budget is set, but Convoke cannot look up what was spent")
            }
            Self::Unstated => f.write_str(UNSTATED),
            Self::Reported(words) | Self::Sentence(words) => f.write_str(words),
        }
    }
}
