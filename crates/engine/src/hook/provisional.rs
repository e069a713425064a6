//! Messages in a text that no model may have seen yet.
//!
//! A client calls the hook of a session's start before its user has written anything, and the user may
//! leave again. So what such a hook delivers stays unread until the session shows life: its next prompt,
//! or the text in the client's own record.

use std::num::NonZeroUsize;

use convoke_domain::hook::parts::split;
use convoke_domain::hook::{Moment, Trace};
use convoke_store::agent::AgentChange;
use convoke_store::delivery::{GivenText, Session};
use convoke_store::error::StoreError;
use convoke_store::message::MessageReceipt;

use super::{HookAnswer, HookEvent, trace_of_session};
use crate::client::adapter;
use crate::owner;
use crate::skill::hash;
use crate::wake::WakeSources;

/// Tells whether the session may end without a model having seen what this event is answered with. After
/// a compaction the agent usually goes on without a prompt that would say so.
pub(super) fn is_provisional(heard: &HookEvent<'_>) -> bool {
    heard.hooks.before_prompt.contains(&heard.event) && heard.moment != Moment::Compacted
}

/// Remembers who holds the messages of a printed answer: the client, as long as its process lives.
pub(super) fn hold(
    sources: &WakeSources<'_>,
    heard: &HookEvent<'_>,
    answer: &HookAnswer,
) -> Result<(), StoreError> {
    if answer.messages.is_empty() || !is_provisional(heard) {
        return Ok(());
    }
    match owner::parent() {
        Some(client) => sources.store.hold(heard.session, heard.entry.number, &client, heard.now),
        None => Ok(()),
    }
}

/// Marks what the session was given at its start as read: a prompt is on its way to a model that has it.
pub(super) fn confirm(sources: &WakeSources<'_>, heard: &HookEvent<'_>) -> Result<(), StoreError> {
    if heard.entry.number != 1 || heard.moment != Moment::Prompted {
        return Ok(());
    }
    match sources.store.given(heard.session)? {
        Some(given) if is_whole(&given) => read(sources, &given),
        Some(_) | None => Ok(()),
    }
}

/// Marks as read what clients' records show, of this session and of the agent's others: no later hook
/// of them has said so, because there was none, or it failed.
pub(super) fn settle(sources: &WakeSources<'_>, heard: &HookEvent<'_>) -> Result<(), StoreError> {
    let own = sources.store.given(heard.session)?;
    let others = sources.store.given_to_others(heard.agent, heard.session)?;
    for given in own.into_iter().chain(others) {
        let session = Session { client: given.client, id: &given.id };
        match trace_of_session(session, &given.last, heard.homes) {
            Trace::Found | Trace::Forgotten => read(sources, &given)?,
            Trace::Missing | Trace::Unknown => {}
        }
    }
    Ok(())
}

/// Tells whether every part of a text was delivered.
fn is_whole(given: &GivenText) -> bool {
    let wording = &given.last.wording;
    let wiring = adapter(given.client).hooks.as_ref();
    let Some((wiring, entries)) = wiring.zip(NonZeroUsize::new(wording.entries as usize)) else {
        return false;
    };
    let (parts, _left) =
        split(&wording.text, entries, wiring.most_bytes, &hash(&wording.text)[..8]);
    (1..=parts.len()).all(|part| given.entries.iter().any(|entry| *entry as usize == part))
}

fn read(sources: &WakeSources<'_>, given: &GivenText) -> Result<(), StoreError> {
    let wording = &given.last.wording;
    let Some(agent) = wording.agent() else { return Ok(()) };
    let receipt = MessageReceipt { read: &wording.messages, known: wording.newest_known };
    let change = AgentChange::Received(receipt);
    match sources.store.change_agent(&agent.scope, &agent.agent, &change) {
        // The agent was removed since, and its messages wait for no reader.
        Err(StoreError::NoAgent { .. }) => Ok(()),
        other => other,
    }
}
