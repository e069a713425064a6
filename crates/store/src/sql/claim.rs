//! Which process is answering a loss, and which messages are on their way.
//!
//! A claim is taken in the transaction that decides who answers. It ends with the answer, with the
//! process that holds it, or after a while: an answer may be given twice, but never not at all.

use std::collections::BTreeSet;

use convoke_domain::hook::{Answering, SAME_EVENT, View};
use convoke_domain::owner::Owner;
use convoke_domain::scope::Address;
use jiff::Timestamp;

use super::row::Time;
use super::rows;
use crate::delivery::{Claimant, NewText, Session};
use crate::sql::driver::{self, Connection, OptionalExtension, Row, params};

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
    let elsewhere = given_elsewhere(connection, session, &text.wording.whose, claimant, now)?;
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

/// Returns the messages in texts that other sessions of an agent are being given: a part of the text
/// was delivered, or a process that still runs has one.
fn given_elsewhere(
    connection: &Connection,
    session: Session<'_>,
    whose: &str,
    claimant: Claimant<'_>,
    now: Timestamp,
) -> driver::Result<BTreeSet<i64>> {
    let sql = "SELECT messages, delivered >= loss, claim_pid, claim_mark \
               FROM deliveries JOIN memories USING (client, session_id) \
               WHERE whose = ?1 AND made_at > ?2 AND messages <> '' \
               AND (client, session_id) <> (?3, ?4) \
               AND (delivered >= loss OR claimed = loss AND claim_pid IS NOT NULL)";
    let since = now.saturating_sub(SAME_EVENT).unwrap_or(now);
    let values = params![whose, Time(since), session.client.name(), session.id];
    let found = rows(connection, sql, values, |row| {
        let messages: String = row.get(0)?;
        let is_delivered: bool = row.get(1)?;
        let owner = if is_delivered { None } else { Some(owner(row, 2)?) };
        Ok((messages, owner))
    })?;
    let is_held =
        |owner: &Option<Owner>| owner.as_ref().is_none_or(|owner| !(claimant.is_gone)(owner));
    let held = found.iter().filter(|(_, owner)| is_held(owner));
    let ids = held.flat_map(|(messages, _)| messages.split(' ').filter_map(|id| id.parse().ok()));
    Ok(ids.collect())
}
