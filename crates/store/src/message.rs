//! Keeping messages and deeds.

use convoke_domain::message::{ActivityEvent, Message, MessageKind};
use convoke_domain::scope::{Address, AgentName, Scope};
use jiff::Timestamp;

use crate::error::StoreError;

/// The values of a new message.
#[derive(Debug, Clone, Copy)]
pub struct NewMessage<'a> {
    /// The sender.
    pub from: &'a AgentName,
    /// The addressee; `None` for everyone.
    pub to: Option<&'a AgentName>,
    /// The message's purpose.
    pub kind: MessageKind,
    /// The message's text.
    pub content: &'a str,
    /// The agents that it mentions.
    pub mentions: &'a [Address],
}

/// A stored message's number and place in a chain of wake-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredMessage {
    /// The message's number.
    pub id: i64,
    /// How many wake-ups in a row led to it: one more than that of the wake-up that its sender
    /// answers.
    pub hop: u32,
}

/// A message, and the scope it was sent in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopedMessage {
    /// The scope it was sent in.
    pub scope: Scope,
    /// What was sent.
    pub message: Message,
}

/// Selects among the messages to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxFilter {
    /// Those whose text the agent has not received yet.
    Unread,
    /// Those, and the ones that it has read.
    All,
}

/// The messages that reached an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageReceipt<'a> {
    /// The messages whose complete text it received. They count as read.
    pub read: &'a [i64],
    /// The newest message that it received or that was announced to it. Older ones that are not in
    /// `read` stay unread, but do not wake the agent again.
    pub known: Option<i64>,
}

/// Stores messages and deeds. Ids grow, and times never run backwards within a scope, even when the
/// clock does, so that both give the same order.
pub trait MessageStore {
    /// Stores a message.
    fn say(
        &self,
        scope: &Scope,
        message: &NewMessage<'_>,
        now: Timestamp,
    ) -> Result<StoredMessage, StoreError>;

    /// Stores a message as the answer to another. `NoMessage` if that one is not visible in the
    /// scope.
    fn reply(
        &self,
        scope: &Scope,
        to: i64,
        message: &NewMessage<'_>,
        now: Timestamp,
    ) -> Result<StoredMessage, StoreError>;

    /// Returns a message that is visible in a scope: it was sent there, or it is addressed to or
    /// mentions one of its agents.
    fn message(&self, scope: &Scope, id: i64) -> Result<Option<ScopedMessage>, StoreError>;

    /// Returns the message that began a conversation and all answers, as far as they are visible in
    /// the scope, oldest first. `NoMessage` if the given one is not.
    fn thread(&self, scope: &Scope, id: i64) -> Result<Vec<Message>, StoreError>;

    /// Returns the last messages of a scope, oldest first.
    fn recent_messages(&self, scope: &Scope, most: usize) -> Result<Vec<Message>, StoreError>;

    /// Returns messages that are visible in a scope: the last `most` of them that came before
    /// `before`, oldest first.
    fn visible_messages(
        &self,
        scope: &Scope,
        before: Option<i64>,
        most: usize,
    ) -> Result<Vec<Message>, StoreError>;

    /// Counts the messages that are visible in a scope.
    fn count_visible_messages(&self, scope: &Scope) -> Result<usize, StoreError>;

    /// Returns messages of any scope that are addressed to an agent or mention it, and are not its
    /// own: the last `most` of them that came before `before`, oldest first.
    fn addressed_to(
        &self,
        scope: &Scope,
        agent: &AgentName,
        which: InboxFilter,
        before: Option<i64>,
        most: usize,
    ) -> Result<Vec<Message>, StoreError>;

    /// Counts all of them. Counting the unread ones takes the same time however many there are.
    fn count_addressed_to(
        &self,
        scope: &Scope,
        agent: &AgentName,
        which: InboxFilter,
    ) -> Result<usize, StoreError>;

    /// Returns the branches of a project with unread messages to an agent, and how many there are.
    fn unread_branches(
        &self,
        project: &str,
        agent: &AgentName,
    ) -> Result<Vec<(String, usize)>, StoreError>;

    /// Stores a deed of an agent.
    fn record_event(
        &self,
        scope: &Scope,
        actor: &AgentName,
        verb_phrase: &str,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns the last deeds in a scope, oldest first.
    fn recent_events(&self, scope: &Scope, most: usize) -> Result<Vec<ActivityEvent>, StoreError>;
}
