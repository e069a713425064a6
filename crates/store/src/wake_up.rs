//! Stores wake-ups: an agent's waiting messages, and the process that answers.

use convoke_domain::owner::Owner;
use convoke_domain::scope::{AgentName, Scope};
use jiff::Timestamp;

use crate::error::StoreError;
use crate::message::{MessageReceipt, NewMessage, StoredMessage};

/// The waiting messages of an agent: every unread one that may start it, as one wake-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingWakeUp {
    /// The newest of the messages.
    pub newest: i64,
    /// The furthest down a chain that any of them is.
    pub hop: u32,
}

/// How a wake-up ended.
#[derive(Debug, Clone, Copy)]
pub struct WakeUpEnd<'a> {
    /// The messages that were taken in with it, if it was answered.
    pub received: MessageReceipt<'a>,
    /// Whether it was answered.
    pub answered: bool,
    /// The message about it.
    pub message: Option<NewMessage<'a>>,
}

/// Keeps wake-ups. Each begins and ends in one transaction, so that no two processes answer the same
/// one, and an answer is never kept without what it answers.
pub trait WakeUpStore {
    /// Returns the waiting messages of an agent that knows of all up to `after`.
    fn pending(
        &self,
        scope: &Scope,
        agent: &AgentName,
        after: Option<i64>,
    ) -> Result<Option<PendingWakeUp>, StoreError>;

    /// Takes an agent that is neither busy nor taken; tells whether it was.
    fn begin_wake_up(
        &self,
        scope: &Scope,
        agent: &AgentName,
        hop: u32,
        owner: &Owner,
    ) -> Result<bool, StoreError>;

    /// Releases an agent that `owner` had taken, and stores a message about it. Does nothing if
    /// another process has the agent now.
    fn end_wake_up(
        &self,
        scope: &Scope,
        agent: &AgentName,
        owner: &Owner,
        end: &WakeUpEnd<'_>,
        now: Timestamp,
    ) -> Result<Option<StoredMessage>, StoreError>;

    /// Returns a number that changes when another process, or another opening of the store, has
    /// written to it. It may also change when neither has: then the caller looks and finds nothing.
    fn changes(&self) -> Result<i64, StoreError>;
}
