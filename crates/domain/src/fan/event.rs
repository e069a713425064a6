//! The events of a fan-out, as its journal keeps them.

use super::FanSource;
use super::item::{ItemKey, ListedItem};
use super::stop::FanStop;
use crate::lane::budget::WrittenBudget;
use crate::lane::event::Usage;
use crate::lane::outcome::LaneOutcome;

/// What every answer of a fan-out depends on besides its item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanSettings {
    /// The hash of all of these, of which the run's id is the beginning.
    pub digest: String,
    /// The prompt, with places for an item.
    pub template: String,
    /// How the items are given.
    pub source: FanSource,
    /// The agent that answers.
    pub agent: String,
    /// The requested model.
    pub model: Option<String>,
    /// The requested effort.
    pub effort: Option<String>,
    /// The JSON Schema that answers have to fit.
    pub schema: Option<String>,
    /// The commit that the agents see; nothing outside of a repository, or before its first commit.
    pub commit: Option<String>,
    /// When the user asked to begin anew, in milliseconds since 1970.
    pub fresh_at: Option<i64>,
}

/// The terms that one process works under; another can continue under others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanTerms {
    /// The budget of all lanes of the run.
    pub budget: Option<WrittenBudget>,
    /// How many lanes run in parallel.
    pub parallel: usize,
    /// How long a lane may take, in milliseconds.
    pub limit_ms: u64,
}

/// An answer, also one that does not fit the schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanAnswer {
    /// The item that it answers.
    pub key: ItemKey,
    /// The agent's words.
    pub text: String,
    /// Why it does not fit the schema; nothing if it fits, or has none to fit.
    pub misfit: Option<String>,
    /// The lane's number in the ledger.
    pub lane: Option<i64>,
    /// The model that answered.
    pub model: Option<String>,
    /// The usage, if known.
    pub usage: Option<Usage>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// A lane without an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FanFailure {
    /// The item.
    pub key: ItemKey,
    /// How the lane ended.
    pub outcome: LaneOutcome,
    /// Why, in words.
    pub why: String,
    /// The lane's number in the ledger.
    pub lane: Option<i64>,
}

/// Something that happened in a fan-out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FanEvent {
    /// The run begins.
    Begun(Box<FanSettings>),
    /// A list of items begins.
    ListBegun,
    /// Some of its items, in their order.
    Items(Vec<ListedItem>),
    /// The list is complete. One without this event does not count.
    Listed {
        /// The hash of all its items.
        digest: String,
        /// How many there are.
        count: usize,
    },
    /// A process begins to work.
    Opened(FanTerms),
    /// An answer came.
    Answered(Box<FanAnswer>),
    /// A lane ended without an answer.
    Failed(Box<FanFailure>),
    /// The process stops before all items are settled.
    Stopped(FanStop),
}
