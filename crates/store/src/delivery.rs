//! Stores which texts were delivered to which session.

use std::fmt;

use convoke_domain::client::Client;
use convoke_domain::hook::NoticedEvent;
use convoke_domain::owner::Owner;
use convoke_domain::scope::{Address, AgentName, Scope};
use jiff::Timestamp;

use crate::error::StoreError;

/// A client's session.
#[derive(Debug, Clone, Copy)]
pub struct Session<'a> {
    /// The client that holds the session.
    pub client: Client,
    /// The client's id of the session.
    pub id: &'a str,
}

/// A text that replaces a lost memory.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wording {
    /// The text, with all its parts.
    pub text: String,
    /// The messages whose complete text it delivers.
    pub messages: Vec<i64>,
    /// The newest message that it delivers or announces.
    pub newest_known: Option<i64>,
    /// How long the client's record was when the text was made.
    pub record_bytes: u64,
    /// How many hook entries it is spread over.
    pub entries: u32,
    /// The agent it was made for: a project, a branch and an agent, a line each.
    pub whose: String,
}

impl Wording {
    /// Names an agent as [`Wording::whose`] does.
    pub fn name_of(agent: &Address) -> String {
        let Address { scope, agent } = agent;
        format!("{}\n{}\n{agent}", scope.project, scope.branch)
    }

    /// Returns the agent that the text was made for.
    pub fn agent(&self) -> Option<Address> {
        let mut lines = self.whose.split('\n');
        let (project, branch, agent) = (lines.next()?, lines.next()?, lines.next()?);
        let agent = AgentName::parse(agent).ok()?;
        Some(Address { scope: Scope::new(project, branch), agent })
    }
}

/// The last text for a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastText {
    /// The text and its agent.
    pub wording: Wording,
    /// When it was made, or delivered if it was.
    pub at: Timestamp,
    /// Whether the client's record holds the calling entry's part.
    pub arrived: bool,
    /// The place up to which the client's record was read since the text arrived; `None` if it was
    /// not read since.
    pub read_until: Option<u64>,
}

/// A text of a session whose messages are not read yet: no model has been seen to receive it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenText {
    /// The client that holds the session.
    pub client: Client,
    /// The client's id of the session.
    pub id: String,
    /// The text.
    pub last: LastText,
    /// The entries that have delivered their part, in order.
    pub entries: Vec<u32>,
}

/// The activity of a client's hooks in a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// When one was last called.
    pub fired_at: Option<Timestamp>,
    /// When a wake-up was last delivered.
    pub delivered_at: Option<Timestamp>,
    /// When that wake-up was found in the client's record, all of it.
    pub arrived_at: Option<Timestamp>,
}

/// A session that is bound to an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundSession {
    /// The client that holds the session.
    pub client: Client,
    /// The client's id of the session.
    pub id: String,
    /// The agent that the session belongs to.
    pub agent: Address,
    /// When it last began, or was compacted.
    pub noticed_at: Option<Timestamp>,
}

/// The process that answers a loss, and how it tells whether another one still does.
#[derive(Clone, Copy)]
pub struct Claimant<'a> {
    /// The process.
    pub owner: &'a Owner,
    /// Tells whether another process has ended.
    pub is_gone: &'a dyn Fn(&Owner) -> bool,
}

impl fmt::Debug for Claimant<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Claimant").field("owner", self.owner).finish_non_exhaustive()
    }
}

/// A text that is to answer a loss.
#[derive(Clone, Copy)]
pub struct NewText<'a> {
    /// The number of the session's loss of context that it answers.
    pub loss: u32,
    /// The text.
    pub wording: &'a Wording,
    /// Whose messages it hands over.
    pub agent: &'a Address,
    /// The client's process, if it is known.
    pub client: Option<&'a Owner>,
    /// Whether that process has cleared its session: an earlier one of it has lost what it was given.
    pub is_cleared: bool,
    /// Tells of the text that was kept first, and of when it was made, whether this one must take its
    /// place.
    pub is_outdated: &'a dyn Fn(&Wording, Timestamp) -> bool,
}

impl fmt::Debug for NewText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewText").field("loss", &self.loss).finish_non_exhaustive()
    }
}

/// The text to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextChoice {
    /// This one.
    Deliver(Wording),
    /// Neither: the new text hands over these messages, which were read since, or which another
    /// session of the agent is being given now. A text without them may be kept.
    Taken(Vec<i64>),
}

/// Keeps sessions and deliveries.
pub trait DeliveryStore {
    /// Remembers whose session it is; the last word counts.
    fn bind(&self, session: Session<'_>, agent: &Address) -> Result<(), StoreError>;

    /// Returns whose session it is.
    fn bound(&self, session: Session<'_>) -> Result<Option<Address>, StoreError>;

    /// Returns the sessions of a project, the one that began or was compacted last first.
    fn sessions(&self, project: &str) -> Result<Vec<BoundSession>, StoreError>;

    /// Remembers that a client called a hook in a project.
    fn fired(&self, client: Client, project: &str, now: Timestamp) -> Result<(), StoreError>;

    /// Returns how a client's hooks do in a project.
    fn activity(&self, client: Client, project: &str) -> Result<Activity, StoreError>;

    /// Returns the last text of a session, as one of its hook entries knows it.
    fn last_text(&self, session: Session<'_>, entry: u32) -> Result<Option<LastText>, StoreError>;

    /// Remembers up to which place a session's record was read, so that the next look begins there.
    /// The place belongs to the last text: a later text begins anew.
    fn record_read(&self, session: Session<'_>, until: u64) -> Result<(), StoreError>;

    /// Takes notice of a moment at one hook entry, and of what the client's record says about the
    /// entry's part of the last text. Returns the loss that is to be answered there now, if any.
    /// Until [`DeliveryStore::delivered`] is called it stays open, but it belongs to `claimant`: a
    /// process that reports the same event, or another one of the session, is not asked to answer it
    /// while the claimant lives.
    fn notice(
        &self,
        session: Session<'_>,
        entry: u32,
        noticed: NoticedEvent,
        claimant: Claimant<'_>,
        now: Timestamp,
    ) -> Result<Option<u32>, StoreError>;

    /// Keeps the text that answers a loss, and returns the one that was kept first: all entries
    /// deliver parts of the same text, however their processes race. Texts of earlier losses go.
    /// If the text that was kept first is outdated, the new one takes its place, and no entry has
    /// delivered a part of it. Keeping a text claims its messages: two sessions are not given the same
    /// message as new while both live.
    fn keep_text(
        &self,
        session: Session<'_>,
        text: NewText<'_>,
        claimant: Claimant<'_>,
        now: Timestamp,
    ) -> Result<TextChoice, StoreError>;

    /// Remembers the client's process that holds a delivered text, until a model has seen it: while that
    /// process lives, no other session is given the same messages as new.
    fn hold(
        &self,
        session: Session<'_>,
        entry: u32,
        holder: &Owner,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns the last text of a session, if it hands over messages that are still unread.
    fn given(&self, session: Session<'_>) -> Result<Option<GivenText>, StoreError>;

    /// Returns such texts of an agent's other sessions, the newest first, not all of them.
    fn given_to_others(
        &self,
        agent: &Address,
        session: Session<'_>,
    ) -> Result<Vec<GivenText>, StoreError>;

    /// Tells whether a session has its whole wake-up: it lost its memory before, and every entry that
    /// noticed the loss has answered.
    fn is_settled(&self, session: Session<'_>) -> Result<bool, StoreError>;

    /// Remembers that an entry has answered a loss, and returns the numbers of all entries that
    /// have.
    fn delivered(
        &self,
        session: Session<'_>,
        entry: u32,
        loss: u32,
        now: Timestamp,
    ) -> Result<Vec<u32>, StoreError>;
}
