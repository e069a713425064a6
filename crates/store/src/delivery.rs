//! Keeping what was delivered to which session.

use convoke_domain::hook::{Client, Moment};
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

/// Keeps sessions and deliveries.
pub trait DeliveryStore {
    /// Remembers whose session it is; the last word counts.
    fn bind(&self, session: Session<'_>, agent: &Address) -> Result<(), StoreError>;

    /// Returns whose session it is.
    fn bound(&self, session: Session<'_>) -> Result<Option<Address>, StoreError>;

    /// Takes notice of a moment at one hook entry, and returns the loss that is to be answered
    /// there now, if any. Until [`DeliveryStore::delivered`] is called it stays open.
    fn notice(
        &self,
        session: Session<'_>,
        entry: u32,
        moment: Moment,
    ) -> Result<Option<u32>, StoreError>;

    /// Keeps the text that answers a loss, and returns the one that was kept first: all entries
    /// deliver parts of the same text, however their processes race.
    fn keep_text(
        &self,
        session: Session<'_>,
        loss: u32,
        text: &str,
        now: Timestamp,
    ) -> Result<String, StoreError>;

    /// Remembers that an entry has answered a loss.
    fn delivered(
        &self,
        session: Session<'_>,
        entry: u32,
        loss: u32,
        now: Timestamp,
    ) -> Result<(), StoreError>;
}
