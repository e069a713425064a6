//! `wake`: an agent's memory, and its unread messages.

use convoke_domain::scope::AgentName;
use convoke_service::failure::Failure;
use convoke_service::message::{InboxRequest, MessageReport, inbox, mark_read};
use convoke_service::wake::{WakeRequest, wake as wake_up};
use convoke_store::message::InboxFilter;

use super::{Desk, agent};
use crate::arguments::Arguments;
use crate::page::{PAGE_BYTES, Page, bytes_of, page_within};
use crate::reply::{Reply, known};

/// The most unread messages that one call shows.
const MOST_MESSAGES: usize = 10;

/// The least bytes of a page that the wake-up gets beside messages.
const LEAST_BYTES: usize = 512;

/// Shows the wake-up in pages. Unread messages come on the first page, before it.
pub(super) fn wake(desk: &Desk, arguments: &Arguments) -> Result<Reply, Failure> {
    let named = agent(arguments, "as")?.unwrap_or_else(|| desk.agent.clone());
    let request = WakeRequest { agent: Some(named.clone()), ..WakeRequest::default() };
    let report = wake_up(&desk.session, request)?;
    let mut facts = serde_json::to_value(&report).map(known).unwrap_or_default();
    let facts = facts.as_object_mut().map(std::mem::take).unwrap_or_default();
    let wanted = ["task", "skill", "skill_path", "plan_file", "message_id", "diagnostics"];
    let facts = facts.into_iter().filter(|(name, _)| wanted.contains(&name.as_str())).collect();
    let from = arguments.from();
    // They are read then, so a later page cannot count them in.
    let messages = if from == 0 { messages(desk, &named)? } else { String::new() };
    let most = PAGE_BYTES.saturating_sub(bytes_of(&messages)).max(LEAST_BYTES);
    let Page { text, next_from } = page_within(&report.text, from, most);
    Ok(Reply::of_page(Page { text: messages + &text, next_from }, facts))
}

/// Returns the text of a wake-up for a prompt.
pub(crate) fn text(desk: &Desk) -> Result<String, Failure> {
    let request = WakeRequest { agent: Some(desk.agent.clone()), ..WakeRequest::default() };
    wake_up(&desk.session, request).map(|report| report.text)
}

/// Shows a message, whole unless it alone is longer than a page.
fn whole_or_cut(message: &MessageReport) -> String {
    let MessageReport { id, from, content, created_at, .. } = message;
    let Page { text, next_from } = page_within(content, 0, PAGE_BYTES - LEAST_BYTES);
    let cut = next_from.map_or_else(String::new, |shown| {
        let all = content.chars().count();
        format!("\n[cut: {shown} of {all} characters; `convoke inbox --all` shows all]")
    });
    format!("#{id} from @{from}, {created_at}:\n{text}{cut}\n\n")
}

/// Shows the messages that an agent has not read. The client's own agent has read them then: no hook
/// says so for a client without hooks. Messages beyond half a page stay for the next call.
fn messages(desk: &Desk, reader: &AgentName) -> Result<String, Failure> {
    let request = InboxRequest {
        agent: Some(reader.clone()),
        which: InboxFilter::Unread,
        limit: MOST_MESSAGES,
        before: None,
        branch: None,
    };
    let mut inbox = inbox(&desk.session, &request)?;
    let (mut shown, mut text) = (0, String::new());
    for message in &inbox.messages {
        let next = whole_or_cut(&MessageReport::new(message));
        if shown > 0 && bytes_of(&text) + bytes_of(&next) > PAGE_BYTES / 2 {
            break;
        }
        (text, shown) = (text + &next, shown + 1);
    }
    if shown == 0 {
        return Ok(String::new());
    }
    inbox.messages.truncate(shown);
    if *reader == desk.agent {
        mark_read(&inbox)?;
    }
    Ok(format!("# Unread messages\n\n{text}"))
}
