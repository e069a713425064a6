//! `wake`: an agent's memory, and its unread messages.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use convoke_domain::scope::AgentName;
use convoke_service::failure::Failure;
use convoke_service::message::{
    InboxRequest, MessageReport, MessageSelection, inbox, mark_messages_read,
};
use convoke_service::wake::{WakeReport, WakeRequest, wake as wake_up};
use serde_json::{Map, Value};

use super::{Desk, agent};
use crate::arguments::Arguments;
use crate::page::{PAGE_BYTES, bytes_of, page};
use crate::reply::{Reply, known};

/// The most unread messages that one wake-up shows beside its own.
const MOST_MESSAGES: usize = 10;

/// The bytes of messages that come before the wake-up; others follow it.
const BYTES_BEFORE: usize = PAGE_BYTES / 2;

/// The most agents whose wake-ups a server remembers between pages.
const MOST_AGENTS: usize = 16;

/// The facts of a wake-up that a model has a use for.
const FACTS: [&str; 6] = ["task", "skill", "skill_path", "plan_file", "message_id", "diagnostics"];

/// The wake-ups whose pages are being read, so that pages that follow one another are of one text.
/// Nothing is lost with them: a message stays unread until a page delivers its end.
#[derive(Debug, Default)]
pub(crate) struct WakeMemory {
    documents: Mutex<HashMap<String, WakeDocument>>,
}

impl WakeMemory {
    fn take(&self, agent: &AgentName) -> Option<WakeDocument> {
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        documents.remove(agent.as_str())
    }

    fn keep(&self, agent: &AgentName, document: WakeDocument) {
        let mut documents = self.documents.lock().unwrap_or_else(PoisonError::into_inner);
        if documents.len() >= MOST_AGENTS {
            documents.clear();
        }
        documents.insert(agent.as_str().to_owned(), document);
    }
}

/// A wake-up with unread messages around it. Places are counted in characters.
#[derive(Debug, Default)]
struct WakeDocument {
    text: String,
    length: usize,
    facts: Map<String, Value>,
    /// Where each message ends that is not known to be read.
    ends: Vec<(usize, i64)>,
    /// All before this place was delivered.
    delivered: usize,
}

/// Shows the wake-up in pages, with the messages that an agent has not read. A message of the client's
/// own agent counts as read when pages have delivered all of it: no hook says so for a client without
/// hooks. A call that was cancelled delivers nothing.
pub(super) fn wake(desk: &Desk, arguments: &Arguments) -> Result<Reply, Failure> {
    let named = agent(arguments, "as")?.unwrap_or_else(|| desk.agent.clone());
    let from = arguments.from();
    let earlier = if from == 0 { None } else { desk.memory.take(&named) };
    let mut document = match earlier {
        Some(document) => document,
        None => WakeDocument::new(desk, &named)?,
    };
    let page = page(&document.text, from);
    let facts = document.facts.clone();
    if named == desk.agent && !desk.is_cancelled() {
        let read = document.deliver(from, page.next_from);
        mark_messages_read(&desk.session, &named, &read)?;
    }
    if page.next_from.is_some() {
        desk.memory.keep(&named, document);
    }
    Ok(Reply::of_page(page, facts))
}

/// Returns the text of a wake-up for a prompt.
pub(crate) fn text(desk: &Desk) -> Result<String, Failure> {
    wake_of(desk, &desk.agent).map(|report| report.text)
}

fn wake_of(desk: &Desk, agent: &AgentName) -> Result<WakeReport, Failure> {
    let request = WakeRequest { agent: Some(agent.clone()), ..WakeRequest::default() };
    wake_up(&desk.session, request)
}

impl WakeDocument {
    fn new(desk: &Desk, reader: &AgentName) -> Result<Self, Failure> {
        let report = wake_of(desk, reader)?;
        let facts = serde_json::to_value(&report).map(known).unwrap_or_default();
        let facts = match facts {
            Value::Object(facts) => facts.into_iter(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => Map::new().into_iter(),
        };
        let facts = facts.filter(|(name, _)| FACTS.contains(&name.as_str())).collect();
        let messages = unread(desk, reader, &report.messages)?;
        let mut document = Self { facts, ..Self::default() };
        let fits = fitting(&messages);
        let (before, after) = messages.split_at(fits);
        document.add_messages("# Unread messages", before);
        document.add(&report.text);
        let end = document.length;
        document.ends.extend(report.messages.iter().map(|id| (end, *id)));
        document.add_messages("# More unread messages", after);
        Ok(document)
    }

    fn add(&mut self, text: &str) {
        self.text += text;
        self.length += text.chars().count();
    }

    fn add_messages(&mut self, heading: &str, messages: &[(i64, String)]) {
        if messages.is_empty() {
            return;
        }
        let gap = if self.text.is_empty() || self.text.ends_with('\n') { "" } else { "\n" };
        self.add(&format!("{gap}{heading}\n\n"));
        for (id, text) in messages {
            self.add(text);
            self.ends.push((self.length, *id));
        }
    }

    /// Takes in that a page was delivered, and returns the messages that are read by that.
    fn deliver(&mut self, from: usize, next_from: Option<usize>) -> Vec<i64> {
        if from <= self.delivered {
            self.delivered = self.delivered.max(next_from.unwrap_or(self.length));
        }
        let delivered = self.delivered;
        let (read, rest): (Vec<_>, Vec<_>) =
            self.ends.drain(..).partition(|(end, _)| *end <= delivered);
        self.ends = rest;
        let mut read: Vec<_> = read.into_iter().map(|(_, id)| id).collect();
        read.sort_unstable();
        read
    }
}

/// Returns how many of the first messages fit before a wake-up, whole.
fn fitting(messages: &[(i64, String)]) -> usize {
    let mut bytes = 0;
    messages
        .iter()
        .take_while(|(_, text)| {
            bytes += bytes_of(text);
            bytes <= BYTES_BEFORE
        })
        .count()
}

/// Returns the newest messages that an agent has not read, oldest first, without those that its wake-up
/// has.
fn unread(desk: &Desk, reader: &AgentName, without: &[i64]) -> Result<Vec<(i64, String)>, Failure> {
    let request = InboxRequest {
        agent: Some(reader.clone()),
        which: MessageSelection::Unread,
        limit: MOST_MESSAGES + without.len(),
        before: None,
        branch: None,
        // Pages mark them, as they are delivered.
        marks: false,
    };
    let messages = inbox(&desk.session, &request)?.messages;
    let others = messages.iter().filter(|message| !without.contains(&message.id));
    Ok(others.map(|message| (message.id, shown(&MessageReport::new(message)))).collect())
}

fn shown(message: &MessageReport) -> String {
    let MessageReport { id, from, content, created_at, .. } = message;
    format!("#{id} from @{from}, {created_at}:\n{content}\n\n")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::Arc;

    use convoke_service::environment::Environment;
    use convoke_service::message::{SayRequest, say, unread_count};
    use convoke_service::session::Session;
    use tempfile::TempDir;

    use super::*;
    use crate::calls::CallLimits;
    use crate::catalog::ToolName;

    #[test]
    fn a_cancelled_call_leaves_messages_unread() {
        let folder = TempDir::new().unwrap();
        let project = folder.path().join("project");
        fs::create_dir(&project).unwrap();
        let variable = |name: &str, path: &str| (name.into(), folder.path().join(path).into());
        let variables = [variable("CONVOKE_STORE", "store.db"), variable("HOME", "home")];
        let session = Session::new(project, Environment::new(variables, None, PathBuf::new()));
        let june = AgentName::parse("june").unwrap();
        let text = "The tests are red.".to_owned();
        let request = SayRequest { text, to: Some(june.clone()), ..SayRequest::default() };
        say(&session, &request).unwrap();

        let (tools, memory) = (Arc::new([ToolName::Wake]), Arc::default());
        let desk = Desk::new(session, june.clone(), tools, memory, CallLimits::default());
        let arguments = Arguments::read(ToolName::Wake, Map::new()).unwrap();
        wake(&desk.clone().cancelled_by(Arc::new(|| true)), &arguments).unwrap();
        assert_eq!(unread_count(&desk.session, &june).unwrap(), 1);
        wake(&desk, &arguments).unwrap();
        assert_eq!(unread_count(&desk.session, &june).unwrap(), 0);
    }

    fn document(messages: &[(i64, &str)]) -> WakeDocument {
        let mut document = WakeDocument::default();
        document.add("wake-up\n");
        for (id, text) in messages {
            document.add_messages("# More", &[(*id, (*text).to_owned())]);
        }
        document
    }

    // W-21
    #[test]
    fn a_message_is_read_once_every_page_of_it_was_delivered() {
        let long = "long ".repeat(3000);
        let mut document = document(&[(1, "short\n"), (2, &long), (3, "last\n")]);
        let first = page(&document.text, 0);
        assert_eq!(document.deliver(0, first.next_from), [1]);
        let second = page(&document.text, first.next_from.unwrap());
        // A page that skips one delivers nothing that was begun before it.
        let end = document.length;
        assert!(document.deliver(second.next_from.unwrap(), None).is_empty());
        assert!(document.deliver(first.next_from.unwrap(), second.next_from).is_empty());
        assert_eq!(document.deliver(second.next_from.unwrap(), None), [2, 3]);
        assert_eq!((document.delivered, document.ends.len()), (end, 0));
    }

    #[test]
    fn messages_that_fit_into_half_a_page_come_first() {
        let message = |length: usize| (1, "x".repeat(length));
        assert_eq!(fitting(&[message(10), message(10)]), 2);
        assert_eq!(fitting(&[message(10), message(BYTES_BEFORE), message(1)]), 1);
        assert_eq!(fitting(&[message(BYTES_BEFORE + 1)]), 0);
    }
}
