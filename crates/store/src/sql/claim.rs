//! Which process is answering a loss, and which messages are on their way.
//!
//! A claim is taken in the transaction that decides who answers. It ends with the answer, with the
//! process that holds it, or after a while: an answer may be given twice, but never not at all.

use std::collections::BTreeSet;

use convoke_domain::client::Client;
use convoke_domain::hook::{Answering, LONGEST_HELD, SAME_EVENT, View};
use convoke_domain::owner::Owner;
use convoke_domain::scope::Address;
use jiff::Timestamp;

use super::delivery::read_wording;
use super::row::{MessageIds, Time};
use super::rows;
use crate::delivery::{Claimant, GivenText, LastText, NewText, Session, Wording};
use crate::sql::driver::{self, Connection, OptionalExtension, Row, params};

/// How many texts of other sessions are compared with their clients' records.
const MOST_LOOKED_AT: u32 = 16;

/// Tells whether another process is answering the last loss at an entry.
pub(super) fn answering(
    connection: &Connection,
    session: Session<'_>,
    entry: u32,
    view: View,
    claimant: Claimant<'_>,
    now: Timestamp,
) -> driver::Result<Answering> {
    let sql = "SELECT claimed, claim_pid, claim_mark, claim_at FROM memories \
               WHERE client = ?1 AND session_id = ?2 AND entry = ?3 AND claim_pid IS NOT NULL";
    let values = params![session.client.name(), session.id, entry];
    let found = connection.query_row(sql, values, |row| {
        let (claimed, Time(at)): (u32, Time) = (row.get(0)?, row.get(3)?);
        Ok((claimed, owner(row, 1)?, at))
    });
    let is_held = found.optional()?.is_some_and(|(claimed, owner, at)| {
        claimed == view.losses.last
            && now.duration_since(at).abs() < SAME_EVENT
            && owner != *claimant.owner
            && !(claimant.is_gone)(&owner)
    });
    Ok(if is_held { Answering::AnotherProcess } else { Answering::NoProcess })
}

fn owner(row: &Row<'_>, first: usize) -> driver::Result<Owner> {
    Ok(Owner { pid: row.get(first)?, mark: row.get(first + 1)? })
}

/// Remembers which process answers a loss at an entry.
pub(super) fn claim(
    connection: &Connection,
    session: Session<'_>,
    entry: u32,
    loss: u32,
    claimant: Claimant<'_>,
    now: Timestamp,
) -> driver::Result<()> {
    let sql = "UPDATE memories SET claimed = ?4, claim_pid = ?5, claim_mark = ?6, claim_at = ?7 \
               WHERE client = ?1 AND session_id = ?2 AND entry = ?3";
    let Owner { pid, mark } = claimant.owner;
    let values = params![session.client.name(), session.id, entry, loss, pid, mark, Time(now)];
    connection.execute(sql, values).map(drop)
}

/// Returns the messages of a new text that were read since it was made, or that another session is
/// being given.
pub(super) fn taken_messages(
    connection: &Connection,
    session: Session<'_>,
    text: &NewText<'_>,
    claimant: Claimant<'_>,
    now: Timestamp,
) -> driver::Result<Vec<i64>> {
    if text.wording.messages.is_empty() {
        return Ok(Vec::new());
    }
    let elsewhere = given_elsewhere(connection, session, text, claimant, now)?;
    let mut taken = Vec::new();
    for message in &text.wording.messages {
        if elsewhere.contains(message) || !is_unread(connection, text.agent, *message)? {
            taken.push(*message);
        }
    }
    Ok(taken)
}

fn is_unread(connection: &Connection, agent: &Address, message: i64) -> driver::Result<bool> {
    let sql = "SELECT 1 FROM unread \
               WHERE project = ?1 AND branch = ?2 AND agent = ?3 AND message_id = ?4";
    let Address { scope, agent } = agent;
    let values = params![scope.project, scope.branch, agent.as_str(), message];
    connection.prepare_cached(sql)?.exists(values)
}

/// A text that another session of the agent was given, as one of its entries has it.
struct GivenElsewhere {
    messages: Vec<i64>,
    made_at: Timestamp,
    holder: Holder,
}

/// Who has a text.
enum Holder {
    /// A process that is answering with it.
    Answering(Owner),
    /// The client, in a session that had no prompt yet.
    Client(Owner),
    /// A session, as far as is known.
    Session,
}

impl GivenElsewhere {
    /// Tells whether the other session still has the messages, or is being given them. One that had no
    /// prompt yet has them while its client's process lives, unless that process has begun the new
    /// session in its place.
    fn is_held(&self, text: &NewText<'_>, claimant: Claimant<'_>, now: Timestamp) -> bool {
        let is_recent = now.duration_since(self.made_at).abs() < SAME_EVENT;
        let lives = |owner: &Owner| !(claimant.is_gone)(owner);
        match &self.holder {
            Holder::Answering(process) => is_recent && lives(process),
            Holder::Client(client) if Some(client) == text.client => is_recent && !text.is_cleared,
            Holder::Client(client) => lives(client),
            Holder::Session => is_recent,
        }
    }
}

/// Returns the messages in texts that other sessions of an agent hold, or are being given: a part of
/// the text was delivered, or a process that still runs has one.
fn given_elsewhere(
    connection: &Connection,
    session: Session<'_>,
    text: &NewText<'_>,
    claimant: Claimant<'_>,
    now: Timestamp,
) -> driver::Result<BTreeSet<i64>> {
    let sql = "SELECT messages, made_at, delivered >= loss, \
               claim_pid IS NOT NULL AND claimed = loss AND claim_at < made_at, \
               coalesce(claim_pid, 0), coalesce(claim_mark, '') \
               FROM deliveries JOIN memories USING (client, session_id) \
               WHERE whose = ?1 AND made_at > ?2 AND messages <> '' \
               AND (client, session_id) <> (?3, ?4) \
               AND (delivered >= loss OR claimed = loss AND claim_pid IS NOT NULL)";
    let since = now.saturating_sub(LONGEST_HELD).unwrap_or(now);
    let whose = &text.wording.whose;
    let values = params![whose, Time(since), session.client.name(), session.id];
    let found = rows(connection, sql, values, |row| {
        let Time(made_at) = row.get(1)?;
        // What holds a text since before it was made is the client, not a process that answers.
        let holder = match (row.get(2)?, row.get(3)?) {
            (false, _) => Holder::Answering(owner(row, 4)?),
            (true, true) => Holder::Client(owner(row, 4)?),
            (true, false) => Holder::Session,
        };
        let MessageIds(messages) = row.get(0)?;
        Ok(GivenElsewhere { messages, made_at, holder })
    })?;
    let held = found.into_iter().filter(|given| given.is_held(text, claimant, now));
    Ok(held.flat_map(|given| given.messages).collect())
}

/// Returns the last text of a session, if it hands over messages that are still unread.
pub(super) fn given(
    connection: &Connection,
    session: Session<'_>,
) -> driver::Result<Option<GivenText>> {
    let (client, id) = (session.client, session.id);
    let sql = "SELECT loss, messages, whose FROM deliveries \
               WHERE client = ?1 AND session_id = ?2 AND messages <> '' \
               ORDER BY loss DESC LIMIT 1";
    let read = |row: &Row<'_>| Ok((row.get::<_, u32>(0)?, row.get(1)?, row.get(2)?));
    let found = connection.query_row(sql, params![client.name(), id], read).optional()?;
    let Some((loss, MessageIds(messages), whose)) = found else { return Ok(None) };
    if !has_unread(connection, &messages, whose)? {
        return Ok(None);
    }
    let sql = "SELECT deliveries.*, coalesce(delivered_at, made_at) AS at FROM deliveries \
               WHERE client = ?1 AND session_id = ?2 AND loss = ?3";
    let read = |row: &Row<'_>| {
        let at = row.get("at").map(|Time(at)| at)?;
        Ok(LastText { wording: read_wording(row)?, at, arrived: false, read_until: None })
    };
    let last = connection.query_row(sql, params![client.name(), id, loss], read).optional()?;
    let sql = "SELECT entry FROM memories \
               WHERE client = ?1 AND session_id = ?2 AND delivered >= ?3 ORDER BY entry";
    let entries = rows(connection, sql, params![client.name(), id, loss], |row| row.get(0))?;
    Ok(last.map(|last| GivenText { client, id: id.to_owned(), last, entries }))
}

/// Returns the sessions of an agent with such texts, the newest first.
pub(super) fn given_to(
    connection: &Connection,
    agent: &Address,
    but: Session<'_>,
) -> driver::Result<Vec<GivenText>> {
    let sql = "SELECT client, session_id FROM deliveries \
               WHERE whose = ?1 AND messages <> '' AND (client, session_id) <> (?2, ?3) \
               ORDER BY made_at DESC LIMIT ?4";
    let values = params![Wording::name_of(agent), but.client.name(), but.id, MOST_LOOKED_AT];
    let found = rows(connection, sql, values, |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    let mut others = Vec::new();
    for (client, id) in found {
        // A later version may know more clients.
        if let Some(client) = Client::parse(&client) {
            others.extend(given(connection, Session { client, id: &id })?);
        }
    }
    Ok(others)
}

fn has_unread(connection: &Connection, messages: &[i64], whose: String) -> driver::Result<bool> {
    let wording = Wording { whose, ..Wording::default() };
    let Some(agent) = wording.agent() else { return Ok(false) };
    for message in messages {
        if is_unread(connection, &agent, *message)? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
