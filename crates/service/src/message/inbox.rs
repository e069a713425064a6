//! An agent's unread messages, and whole conversations.

use convoke_domain::message::Message;
use convoke_domain::scope::AgentName;
use convoke_store::agent::AgentChange;
use convoke_store::message::{InboxFilter, MessageReceipt};
use serde::Serialize;

use super::note_stranger;
use crate::elsewhere;
use crate::failure::Failure;
use crate::session::Session;
use crate::status::UnreadMessages;
use crate::workspace::{Workspace, reader, refused, speaker};

/// Selects messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageSelection {
    /// Those to the reader that are unread.
    Unread,
    /// All to the reader.
    Received,
    /// All that are visible on the branch, to any reader.
    Branch,
}

/// A request for messages.
#[derive(Debug, Clone)]
pub struct InboxRequest {
    /// The reader; without it, the agent of the environment or session, else the person.
    pub agent: Option<AgentName>,
    /// The wanted messages.
    pub which: MessageSelection,
    /// The most messages, the newest.
    pub limit: usize,
    /// Only messages before this one.
    pub before: Option<i64>,
    /// Another branch than the checked-out one.
    pub branch: Option<String>,
    /// Whether the messages are to count as read afterwards; then it must be known who reads.
    pub marks: bool,
}

/// The requested messages.
pub struct Inbox {
    /// The agent whose messages these are.
    pub reader: AgentName,
    /// The messages, oldest first.
    pub messages: Vec<Message>,
    /// Those before them.
    pub older: Option<OlderMessages>,
    /// Another branch with the most unread messages to the reader, and how many, where there are no
    /// messages here and no branch was named.
    pub other_branch: Option<(String, usize)>,
    /// The agents of this branch with unread messages, where the reader was not named and has none.
    pub other_readers: Vec<UnreadMessages>,
    workspace: Workspace,
}

/// Messages that are left out because there are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OlderMessages {
    /// How many there are in all, including the listed ones.
    pub count: usize,
    /// The first message that is listed.
    pub first: i64,
}

/// A message for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageReport {
    /// The message's number.
    pub id: i64,
    /// The message that it answers.
    pub re: Option<i64>,
    /// The sender.
    pub from: String,
    /// The only addressee, if there is one.
    pub to: Option<String>,
    /// The kind of message, such as `direct`.
    pub kind: &'static str,
    /// The words.
    pub content: String,
    /// When it was stored.
    pub created_at: String,
    /// The member of the team who really wrote it, in a store that has a team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
}

impl MessageReport {
    /// Reports a message.
    pub fn new(message: &Message) -> Self {
        Self {
            id: message.id,
            re: message.re,
            from: message.from.as_str().to_owned(),
            to: message.to.as_ref().map(ToString::to_string),
            kind: message.kind.name(),
            content: message.content.clone(),
            created_at: message.created_at.to_string(),
            member: message.member.clone(),
        }
    }
}

/// Returns how many messages on the checked-out branch an agent has not read.
pub fn unread_count(session: &Session, reader: &AgentName) -> Result<usize, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    store.count_addressed_to(&scope, reader, InboxFilter::Unread).map_err(refused)
}

/// Reads the messages to an agent. They stay unread until [`mark_read`].
pub fn inbox(session: &Session, request: &InboxRequest) -> Result<Inbox, Failure> {
    let workspace = Workspace::open(session, request.branch.as_deref())?;
    let Workspace { store, scope } = &workspace;
    elsewhere::note(session, &workspace)?;
    let whose = if request.marks { speaker } else { reader };
    let reader = whose(request.agent.as_ref(), session)?;
    let InboxRequest { which, limit, before, .. } = *request;
    let read = |before: Option<i64>, most: usize| match which.filter() {
        Some(filter) => store.addressed_to(scope, &reader, filter, before, most),
        None => store.visible_messages(scope, before, most),
    };
    let messages = read(before, limit).map_err(refused)?;
    let first = messages.first().map(|message| message.id);
    let older = match first {
        Some(first) if !read(Some(first), 1).map_err(refused)?.is_empty() => {
            let count = match which.filter() {
                Some(filter) => store.count_addressed_to(scope, &reader, filter),
                None => store.count_visible_messages(scope),
            };
            Some(OlderMessages { count: count.map_err(refused)?, first })
        }
        Some(_) | None => None,
    };
    let other_branch = if messages.is_empty() && request.branch.is_none() {
        let branches = store.unread_branches(&scope.project, &reader).map_err(refused)?;
        let others = branches.into_iter().filter(|(branch, _)| *branch != scope.branch);
        others.max_by_key(|(_, count)| *count)
    } else {
        None
    };
    let mut other_readers = Vec::new();
    if messages.is_empty() && other_branch.is_none() {
        match &request.agent {
            Some(agent) => note_stranger(session, &workspace, scope, agent)?,
            None => other_readers = readers_with_unread(&workspace)?,
        }
    }
    Ok(Inbox { reader, messages, older, other_branch, other_readers, workspace })
}

impl MessageSelection {
    /// Returns the filter of one reader's messages; none for those of the whole branch.
    const fn filter(self) -> Option<InboxFilter> {
        match self {
            Self::Unread => Some(InboxFilter::Unread),
            Self::Received => Some(InboxFilter::All),
            Self::Branch => None,
        }
    }
}

/// Counts the unread messages of every agent of the branch that has some.
fn readers_with_unread(workspace: &Workspace) -> Result<Vec<UnreadMessages>, Failure> {
    let Workspace { store, scope } = workspace;
    let mut readers = Vec::new();
    for agent in store.agents(scope).map_err(refused)? {
        let count = store.count_addressed_to(scope, &agent.name, InboxFilter::Unread);
        let count = count.map_err(refused)?;
        if count > 0 {
            readers.push(UnreadMessages { reader: agent.name.to_string(), count });
        }
    }
    Ok(readers)
}

/// Counts messages as read. A front end calls this only when its reader has them.
pub fn mark_read(inbox: &Inbox) -> Result<(), Failure> {
    let read: Vec<_> = inbox.messages.iter().map(|message| message.id).collect();
    receive(&inbox.workspace, &inbox.reader, &read)
}

/// Counts these messages as read, in ascending order. A front end calls this only when their reader
/// has the whole text of each.
pub fn mark_messages_read(
    session: &Session,
    reader: &AgentName,
    read: &[i64],
) -> Result<(), Failure> {
    if read.is_empty() {
        return Ok(());
    }
    receive(&Workspace::open(session, None)?, reader, read)
}

/// Counts those of these messages as read by the person that are unread, and returns how many.
pub fn mark_own_read(session: &Session, shown: &[i64]) -> Result<usize, Failure> {
    let (workspace, person) = (Workspace::open(session, None)?, AgentName::human());
    let Workspace { store, scope } = &workspace;
    let Some(newest) = shown.iter().max() else { return Ok(0) };
    let unread = store
        .addressed_to(scope, &person, InboxFilter::Unread, newest.checked_add(1), shown.len())
        .map_err(refused)?;
    let read = unread.iter().map(|message| message.id).filter(|id| shown.contains(id));
    let read: Vec<_> = read.collect();
    receive(&workspace, &person, &read)?;
    Ok(read.len())
}

fn receive(workspace: &Workspace, reader: &AgentName, read: &[i64]) -> Result<(), Failure> {
    let Workspace { store, scope } = workspace;
    if read.is_empty() {
        return Ok(());
    }
    if store.agent(scope, reader).map_err(refused)?.is_none() {
        store.add_agent(scope, reader, "human").map_err(refused)?;
    }
    let receipt = MessageReceipt { read, known: read.last().copied() };
    store.change_agent(scope, reader, &AgentChange::Received(receipt)).map_err(refused)
}

/// One conversation.
#[derive(Debug, Clone)]
pub struct MessageThread {
    /// The agent whose messages these are.
    pub reader: AgentName,
    /// Every message, oldest first.
    pub messages: Vec<Message>,
}

/// Reads the conversation that a message belongs to, with all answers.
pub fn thread(
    session: &Session,
    id: i64,
    agent: Option<&AgentName>,
    branch: Option<&str>,
) -> Result<MessageThread, Failure> {
    let Workspace { store, scope } = Workspace::open(session, branch)?;
    let reader = reader(agent, session)?;
    let messages = store.thread(&scope, id).map_err(refused)?;
    Ok(MessageThread { reader, messages })
}
