//! `convoke inbox`: what an agent has not been given yet.

mod thread;

use std::num::NonZeroUsize;

use convoke_domain::message::{Message, hours, quoted_lines};
use convoke_domain::scope::AgentName;
use convoke_store::agent::AgentChange;
use convoke_store::message::{Addressed, Receipt};
use jiff::tz::Offset;
use serde::Serialize;

use crate::app::{App, Format};
use crate::config::wake;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused, speaker};

use super::elsewhere::quoted;

/// List the unread messages to an agent, oldest first
///
/// Lists the newest of them. When there are more, a note on stderr says how many and which command
/// lists the ones before.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent [default: `CONVOKE_AGENT`, else the agent of the client's session, else human]
    #[arg(value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// Count them as read
    #[arg(long)]
    mark: bool,

    /// List those that were read, too
    #[arg(long)]
    all: bool,

    /// Show the conversation that a message belongs to, with all answers
    #[arg(long, value_name = "ID", conflicts_with_all = ["mark", "all", "before"])]
    thread: Option<i64>,

    /// List at most this many, the newest
    #[arg(long, value_name = "N", default_value = "100")]
    limit: NonZeroUsize,

    /// List only messages before this one
    #[arg(long, value_name = "ID")]
    before: Option<i64>,

    /// List the messages of another branch of the project
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
}

#[derive(Serialize)]
struct Report<'a> {
    id: i64,
    re: Option<i64>,
    from: &'a str,
    kind: &'static str,
    content: &'a str,
    created_at: String,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let Workspace { store, scope } = Workspace::open(app, self.branch.as_deref())?;
        let reader = speaker(self.agent.as_ref(), app)?;
        if let Some(id) = self.thread {
            let messages = store.thread(&scope, id).map_err(refused)?;
            return thread::print(&messages, &reader, app, output);
        }
        let agent = store.agent(&scope, &reader).map_err(refused)?;
        let which = if self.all { Addressed::All } else { Addressed::Unread };
        let most = self.limit.get();
        let messages =
            store.addressed_to(&scope, &reader, which, self.before, most).map_err(refused)?;
        let first = messages.first().map(|message| message.id);
        let older = store.addressed_to(&scope, &reader, which, first, 1).map_err(refused)?;
        let more = first.filter(|_| !older.is_empty());
        match app.format {
            Format::Json => output.json(&messages.iter().map(report).collect::<Vec<_>>())?,
            Format::Text if messages.is_empty() => output.data("No new messages.\n")?,
            Format::Text => {
                let clock = wake::settings(app)?.clock;
                for message in &messages {
                    output.data(&format!("{}\n", line(message, &reader, clock)))?;
                }
            }
        }
        if messages.is_empty() && self.branch.is_none() {
            let others = store.unread_branches(&scope.project, &reader).map_err(refused)?;
            say_elsewhere(&others, &scope.branch, &reader, output);
        }
        if let Some(first) = more {
            let count = store.count_addressed_to(&scope, &reader, which).map_err(refused)?;
            output.say(&self.note(&reader, messages.len(), count, first));
        }
        if self.mark && !messages.is_empty() {
            // Only once the reader has them are they read.
            output.flush()?;
            if output.is_discarded() {
                output.say("note: stdout goes nowhere, so the messages stay unread");
                return Ok(Exit::Done);
            }
            if agent.is_none() {
                store.add_agent(&scope, &reader, "human").map_err(refused)?;
            }
            let read: Vec<_> = messages.iter().map(|message| message.id).collect();
            let receipt = Receipt { read: &read, known: read.last().copied() };
            store
                .change_agent(&scope, &reader, &AgentChange::Received(receipt))
                .map_err(refused)?;
        }
        Ok(Exit::Done)
    }

    /// Says how many messages there are, and which command lists the ones before these. What was
    /// marked is not listed again, so the same command does.
    fn note(&self, reader: &AgentName, shown: usize, count: usize, first: i64) -> String {
        let (which, all) = if self.all { ("messages", " --all") } else { ("unread messages", "") };
        let before = if self.mark && !self.all {
            " --mark".to_owned()
        } else {
            format!("{all} --before {first}")
        };
        format!(
            "note: listed {shown} of {count} {which}; the ones before: `convoke inbox {reader}{before}`"
        )
    }
}

/// Names the other branch with the most unread messages to an agent, and the command that lists them.
fn say_elsewhere(others: &[(String, usize)], here: &str, reader: &AgentName, output: &Output) {
    let others = others.iter().filter(|(branch, _)| branch != here);
    let Some((branch, count)) = others.max_by_key(|(_, count)| *count) else { return };
    let messages = if *count == 1 { "message" } else { "messages" };
    let branch = quoted(branch);
    output.say(&format!(
        "note: branch {branch} has {count} unread {messages} to @{reader}; \
         list them with `convoke inbox {reader} --branch {branch}`"
    ));
}

/// Renders a message with the number that an answer names.
fn line(message: &Message, reader: &AgentName, clock: Offset) -> String {
    let time = hours(message.created_at, clock);
    format!("#{} - {time} - {}", message.id, quoted_lines(message, reader))
}

fn report(message: &Message) -> Report<'_> {
    Report {
        id: message.id,
        re: message.re,
        from: message.from.as_str(),
        kind: message.kind.name(),
        content: &message.content,
        created_at: message.created_at.to_string(),
    }
}
