//! Telling an agent at work that messages came in.

use convoke_domain::hook::{Moment, SAVED};
use convoke_store::error::StoreError;
use convoke_store::message::InboxFilter;

use super::{HookAnswer, HookEvent, in_format};
use crate::wake::WakeSources;

/// Announces messages that came in since the last announcement to the agent, once, at a prompt. They stay
/// unread, and the next wake-up shows them.
pub(super) fn announcement(
    sources: &WakeSources<'_>,
    heard: &HookEvent<'_>,
) -> Result<HookAnswer, StoreError> {
    let is_prompt = matches!(heard.moment, Moment::Prompted | Moment::Resumed);
    if heard.entry.number != 1 || !is_prompt || heard.event == SAVED {
        return Ok(HookAnswer::nothing());
    }
    let (store, name) = (sources.store, &heard.agent.agent);
    let known = store.agent(sources.scope, name)?.and_then(|agent| agent.last_seen);
    let Some(pending) = store.pending(sources.scope, name, known)? else {
        return Ok(HookAnswer::nothing());
    };
    // While a wake-up is on its way, that one tells of them.
    if !store.is_settled(heard.session)? {
        return Ok(HookAnswer::nothing());
    }
    let count = store.count_addressed_to(sources.scope, name, InboxFilter::Unread)?;
    let messages = if count == 1 { "message" } else { "messages" };
    let text = format!(
        "[convoke] {count} unread {messages} to you, @{name}: read with `convoke inbox {name} --mark`\n"
    );
    let json = in_format(heard, &text);
    Ok(HookAnswer { json, newest_known: Some(pending.newest), ..HookAnswer::nothing() })
}
