//! Keeping messages and deeds.

use convoke_domain::message::{ActivityEvent, Message, MessageKind};
use convoke_domain::scope::{Address, AgentName, Scope};
use jiff::Timestamp;

use crate::error::StoreError;

/// What a new message needs.
#[derive(Debug, Clone, Copy)]
pub struct NewMessage<'a> {
    /// Who says it.
    pub from: &'a AgentName,
    /// To whom, if not to everyone.
    pub to: Option<&'a AgentName>,
    /// What it is for.
    pub kind: MessageKind,
    /// What is said.
    pub content: &'a str,
    /// Who is mentioned.
    pub mentions: &'a [Address],
}

/// A message that was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredMessage {
    /// Its number.
    pub id: i64,
    /// How many wake-ups in a row led to it: one more than the one that its speaker is answering.
    pub hop: u32,
}

/// A message, and where it was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopedMessage {
    /// Where.
    pub scope: Scope,
    /// What.
    pub message: Message,
}

/// Which of the messages to an agent are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxFilter {
    /// Those whose text it was not given yet.
    Unread,
    /// Those, and the ones that it has read.
    All,
}

/// What an agent was given of its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MessageReceipt<'a> {
    /// The messages whose whole text it was given. They are read.
    pub read: &'a [i64],
    /// The newest message that it was given or told of. Older ones that are not in `read` stay
    /// unread, but do not wake the agent again.
    pub known: Option<i64>,
}

/// Keeps what is said and done. Ids grow, and times never run backwards within a scope, even when
/// the clock does, so that both give the same order.
pub trait MessageStore {
    /// Stores a message.
    fn say(
        &self,
        scope: &Scope,
        message: &NewMessage<'_>,
        now: Timestamp,
    ) -> Result<StoredMessage, StoreError>;

    /// Stores a message as the answer to another. `NoMessage` if that one cannot be heard in the
    /// scope.
    fn reply(
        &self,
        scope: &Scope,
        to: i64,
        message: &NewMessage<'_>,
        now: Timestamp,
    ) -> Result<StoredMessage, StoreError>;

    /// Returns a message that can be heard in a scope: it was said there, or is to or mentions one of
    /// its agents.
    fn message(&self, scope: &Scope, id: i64) -> Result<Option<ScopedMessage>, StoreError>;

    /// Returns the message that began a conversation and all answers, as far as they can be heard in
    /// the scope, oldest first. `NoMessage` if the given one cannot.
    fn thread(&self, scope: &Scope, id: i64) -> Result<Vec<Message>, StoreError>;

    /// Returns the last messages of a scope, oldest first.
    fn recent_messages(&self, scope: &Scope, most: usize) -> Result<Vec<Message>, StoreError>;

    /// Returns messages from anywhere that are to an agent or mention it and were not said by it:
    /// the last `most` of them that came before `before`, oldest first.
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

    /// Stores something an agent did.
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
