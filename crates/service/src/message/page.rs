//! The messages of a branch for one page, newest first.

use convoke_domain::message::Message;
use convoke_domain::scope::AgentName;
use convoke_store::message::InboxFilter;
use serde::Serialize;

use super::MessageReport;
use crate::failure::Failure;
use crate::session::Session;
use crate::status::UnreadMessages;
use crate::workspace::{Workspace, refused};

/// How many messages a page has.
const MOST_MESSAGES: usize = 50;

/// The messages of a branch for one page.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessagePageReport {
    /// The messages, newest first.
    pub messages: Vec<ListedMessageReport>,
    /// The number before which the next page begins; none on the last page.
    pub older_than: Option<i64>,
    /// You and every agent of the branch, each with the number of unread messages.
    pub unread: Vec<UnreadMessages>,
}

/// A message in a list.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListedMessageReport {
    /// The fields of the message.
    #[serde(flatten)]
    pub message: MessageReport,
    /// The agents that it mentions.
    pub mentions: Vec<String>,
    /// The number of wake-ups in a row that led to it.
    pub hop: u32,
}

impl ListedMessageReport {
    /// Reports a message.
    pub fn new(message: &Message) -> Self {
        Self {
            message: MessageReport::new(message),
            mentions: message.mentions.iter().map(ToString::to_string).collect(),
            hop: message.hop,
        }
    }
}

/// Returns the messages that are visible on the checked-out branch, before a number if one is given.
pub fn message_page(session: &Session, before: Option<i64>) -> Result<MessagePageReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    let Workspace { store, scope } = &workspace;
    // One more than is shown, to know whether there are older ones.
    let found = store.visible_messages(scope, before, MOST_MESSAGES + 1).map_err(refused)?;
    let skipped = found.len().saturating_sub(MOST_MESSAGES);
    let shown = found.get(skipped..).unwrap_or_default();
    let mut readers = vec![AgentName::human()];
    let agents = store.agents(scope).map_err(refused)?;
    readers.extend(agents.into_iter().map(|agent| agent.name).filter(|name| !name.is_human()));
    let unread = |reader: AgentName| {
        let count = store.count_addressed_to(scope, &reader, InboxFilter::Unread);
        Ok(UnreadMessages { reader: reader.to_string(), count: count.map_err(refused)? })
    };
    Ok(MessagePageReport {
        older_than: shown.first().filter(|_| skipped > 0).map(|message| message.id),
        messages: shown.iter().rev().map(ListedMessageReport::new).collect(),
        unread: readers.into_iter().map(unread).collect::<Result<_, Failure>>()?,
    })
}
