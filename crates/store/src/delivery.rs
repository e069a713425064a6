//! Keeping what was delivered to which session.

use convoke_domain::client::Client;
use convoke_domain::hook::NoticedEvent;
use convoke_domain::scope::Address;
use jiff::Timestamp;

use crate::error::StoreError;

/// A client's session.
#[derive(Debug, Clone, Copy)]
pub struct Session<'a> {
    /// The client.
    pub client: Client,
    /// Its own name for the session.
    pub id: &'a str,
}

/// A text that answers a loss.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wording {
    /// The text, with all its parts.
    pub text: String,
    /// The messages whose whole text it hands over.
    pub messages: Vec<i64>,
    /// The newest message that it hands over or tells of.
    pub newest_known: Option<i64>,
    /// How long the client's record was when the text was made.
    pub record_bytes: u64,
    /// How many hook entries it is spread over.
    pub entries: u32,
    /// For whom it was made: a project, a branch and an agent, a line each.
    pub whose: String,
}

/// The last text that a session was to be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastText {
    /// The text.
    pub wording: Wording,
    /// When it was made, or delivered if it was.
    pub at: Timestamp,
    /// Whether the part of the entry that asks was found in the client's record.
    pub arrived: bool,
}

/// How the hooks of a client do in a project.
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
    /// The client.
    pub client: Client,
    /// Its own name for the session.
    pub id: String,
    /// Whose session it is.
    pub agent: Address,
    /// When it last began, or was compacted.
    pub noticed_at: Option<Timestamp>,
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

    /// Takes notice of a moment at one hook entry, and of what the client's record says about the
    /// entry's part of the last text. Returns the loss that is to be answered there now, if any.
    /// Until [`DeliveryStore::delivered`] is called it stays open, but a second process that reports
    /// the same event is not asked to answer it.
    fn notice(
        &self,
        session: Session<'_>,
        entry: u32,
        noticed: NoticedEvent,
        now: Timestamp,
    ) -> Result<Option<u32>, StoreError>;

    /// Keeps the text that answers a loss, and returns the one that was kept first: all entries
    /// deliver parts of the same text, however their processes race. Texts of earlier losses go.
    /// If `is_outdated` holds of the text that was kept first and of when it was made, the new one
    /// takes its place, and no entry has delivered a part of it.
    fn keep_text(
        &self,
        session: Session<'_>,
        loss: u32,
        wording: &Wording,
        now: Timestamp,
        is_outdated: &dyn Fn(&Wording, Timestamp) -> bool,
    ) -> Result<Wording, StoreError>;

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
