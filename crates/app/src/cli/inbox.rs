//! `convoke inbox`: an agent's unread messages.

mod thread;

use std::num::NonZeroUsize;

use convoke_domain::message::{Message, hours, quoted_lines};
use convoke_domain::scope::AgentName;
use convoke_domain::text::shell_word;
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::message::{
    Inbox, InboxRequest, MessageReport, MessageSelection, OlderMessages, inbox, mark_read,
    thread as conversation,
};
use convoke_service::settings::wake;
use convoke_service::status::UnreadMessages;
use jiff::tz::Offset;

use crate::app::{App, Format};
use crate::cli::at_least_one;
use crate::exit::Exit;
use crate::output::Output;

/// `--all` without an agent lists messages to several readers; none of them has read it.
#[derive(Debug, thiserror::Error)]
#[error("cannot mark every message of the branch as read: each has its own readers")]
struct MarksForNoReader;

/// List an agent's unread messages, oldest first
///
/// Lists the newest messages up to `--limit`. If there are more, a note on stderr says how many,
/// and which command lists the earlier ones.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The agent [default: `CONVOKE_AGENT`, else the agent of the client's session, else human]
    #[arg(value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// The agent, as in other commands
    #[arg(long = "as", value_name = "AGENT", conflicts_with = "agent", value_parser = AgentName::parse)]
    acting: Option<AgentName>,

    /// Mark the listed messages as read
    #[arg(long)]
    mark: bool,

    /// Also list messages that were read; without an agent, every message of the branch
    #[arg(long)]
    all: bool,

    /// Show the whole conversation that a message belongs to
    #[arg(long, value_name = "ID", conflicts_with_all = ["mark", "all", "before"])]
    thread: Option<i64>,

    /// List at most this many messages, the newest
    #[arg(long, value_name = "N", default_value = "100", value_parser = at_least_one)]
    limit: NonZeroUsize,

    /// List only messages older than this one
    #[arg(long, value_name = "ID")]
    before: Option<i64>,

    /// List the messages of another branch of the project
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if let Some(id) = self.thread {
            let found = conversation(&app.session, id, self.agent(), self.branch.as_deref())?;
            return thread::print(&found.messages, &found.reader, app, output);
        }
        let inbox = inbox(
            &app.session,
            &InboxRequest {
                agent: self.agent().cloned(),
                which: self.selection()?,
                limit: self.limit.get(),
                before: self.before,
                branch: self.branch.clone(),
                marks: self.mark,
            },
        )?;
        let Inbox { reader, messages, older, other_branch, other_readers, .. } = &inbox;
        match app.format {
            Format::Json => {
                output.json(&messages.iter().map(MessageReport::new).collect::<Vec<_>>())?;
            }
            Format::Text if messages.is_empty() => {
                output.data(&match (self.all, self.agent()) {
                    (true, None) => "No messages on this branch.\n".to_owned(),
                    (true, Some(_)) => format!("No messages for @{reader}.\n"),
                    (false, _) => format!("No new messages for @{reader}.\n"),
                })?;
            }
            Format::Text => {
                let clock = wake::settings(&app.session)?.clock;
                for message in messages {
                    output.data(&format!("{}\n", line(message, reader, clock)))?;
                }
            }
        }
        if let Some((branch, count)) = other_branch {
            say_elsewhere(branch, *count, reader, output);
        }
        for UnreadMessages { reader, count } in other_readers {
            let (messages, them) =
                if *count == 1 { ("message", "it") } else { ("messages", "them") };
            output.say(&format!(
                "note: @{reader} has {count} unread {messages}; `convoke inbox {reader}` shows {them}"
            ));
        }
        if let Some(older) = older {
            output.say(&self.note(reader, messages.len(), *older));
        }
        if self.mark && !messages.is_empty() {
            // Only once the reader has them are they read.
            output.flush()?;
            if output.is_discarded() {
                output.say("note: stdout is closed, so the messages stay unread");
                return Ok(Exit::Done);
            }
            mark_read(&inbox)?;
        }
        Ok(Exit::Done)
    }

    fn agent(&self) -> Option<&AgentName> {
        self.agent.as_ref().or(self.acting.as_ref())
    }

    fn selection(&self) -> Result<MessageSelection, Failure> {
        match (self.all, self.agent()) {
            (false, _) => Ok(MessageSelection::Unread),
            (true, Some(_)) => Ok(MessageSelection::Received),
            (true, None) if self.mark => Err(Failure::new(ErrorClass::Usage, MarksForNoReader)
                .hint("name the reader: `convoke inbox AGENT --all --mark`")),
            (true, None) => Ok(MessageSelection::Branch),
        }
    }

    /// Renders the number of messages, and the command that lists the ones before these. Marked
    /// messages are not listed again, so the same command does that.
    fn note(&self, reader: &AgentName, shown: usize, older: OlderMessages) -> String {
        let OlderMessages { count, first } = older;
        let reader =
            if self.all && self.agent().is_none() { String::new() } else { format!(" {reader}") };
        let (which, all) = if self.all { ("messages", " --all") } else { ("unread messages", "") };
        let before = if self.mark && !self.all {
            " --mark".to_owned()
        } else {
            format!("{all} --before {first}")
        };
        format!(
            "note: listed {shown} of {count} {which}; the ones before: `convoke inbox{reader}{before}`"
        )
    }
}

/// Names another branch with unread messages to an agent, and the command that lists them.
fn say_elsewhere(branch: &str, count: usize, reader: &AgentName, output: &Output) {
    let messages = if count == 1 { "message" } else { "messages" };
    let branch = shell_word(branch);
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
