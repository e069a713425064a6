//! `convoke inbox`: what an agent has not been given yet.

mod thread;

use convoke_domain::message::{Message, activity};
use convoke_domain::scope::AgentName;
use convoke_store::agent::{AgentChange, AgentStore};
use convoke_store::message::MessageStore;
use jiff::tz::Offset;
use serde::Serialize;

use crate::app::{App, Format};
use crate::config::wake;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused, speaker};

/// List the unread messages to an agent, oldest first
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent [default: `CONVOKE_AGENT`, else human]
    #[arg(value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// Count them as read
    #[arg(long)]
    mark: bool,

    /// List those that were read, too
    #[arg(long)]
    all: bool,

    /// Show the conversation that a message belongs to, with all answers
    #[arg(long, value_name = "ID", conflicts_with_all = ["mark", "all"])]
    thread: Option<i64>,
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
        let Workspace { store, scope } = Workspace::open(app, None)?;
        let reader = speaker(self.agent.as_ref(), app)?;
        if let Some(id) = self.thread {
            let messages = store.thread(&scope, id).map_err(refused)?;
            return thread::print(&messages, &reader, app, output);
        }
        let agent = store.agent(&scope, &reader).map_err(refused)?;
        let seen = agent.as_ref().and_then(|agent| agent.last_seen).filter(|_| !self.all);
        let messages = store.addressed_to(&scope, &reader, seen, usize::MAX).map_err(refused)?;
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
        if let (true, Some(last)) = (self.mark, messages.last()) {
            // Only once the reader has them are they read.
            output.flush()?;
            if agent.is_none() {
                store.add_agent(&scope, &reader, "human").map_err(refused)?;
            }
            store.change_agent(&scope, &reader, &AgentChange::Seen(last.id)).map_err(refused)?;
        }
        Ok(Exit::Done)
    }
}

/// Renders a message with the number that an answer names.
fn line(message: &Message, reader: &AgentName, clock: Offset) -> String {
    let line = activity(std::slice::from_ref(message), &[], reader, clock).concat();
    format!("#{} {line}", message.id)
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
