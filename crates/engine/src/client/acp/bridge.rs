//! The bridge: a small process that speaks the Agent Client Protocol to an agent, and tells its
//! supervisor, line by line, what the agent said and what it was answered.
//!
//! It has the place of a client: below its guardian, with its request on stdin. Its agent
//! leads a process group of its own, so that a stop reaches the bridge first, which then asks the
//! agent to cancel its turn. When the bridge ends, the agent's stdin closes and the guardian ends
//! what is left. Nothing that the agent prints reaches the bridge's stdout except inside a line of
//! the bridge's; its stderr is the bridge's.

mod answer;
mod conversation;
mod lines;
mod message;
mod named_paths;
mod offer;
mod part;
mod permission;
mod request;
mod step;

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use convoke_domain::lane::event::FailureKind;
use convoke_guard::wait_for;
use rustix::process::{Pid, Signal, kill_process_group};

use self::conversation::Conversation;
use self::lines::{AgentLine, read_lines};
pub use self::request::BridgeRequest;
use self::step::Step;
pub(super) use self::step::{FAILED, READY};
use crate::lane::cancel::Cancel;
use crate::process::command;

/// How many lines of the agent may wait.
const WAITING_LINES: usize = 4;

/// How many messages to the agent may wait: one that does not read has more than it can answer.
const WAITING_MESSAGES: usize = 1024;

/// How long an agent may take to cancel its turn.
const CANCEL_PATIENCE: Duration = Duration::from_secs(1);

/// How long an agent may take to end after its last message, before the bridge ends it.
const FAREWELL: Duration = Duration::from_millis(500);

/// The bridge's exit code when there is no answer and the agent has none of its own.
const NO_ANSWER: u8 = 1;

/// What the bridge waits for.
enum News {
    Line(AgentLine),
    /// The agent closed its stdout.
    Closed,
    /// The lane was stopped.
    Cancelled,
}

/// Prints one line for the supervisor, immediately. Breaking off ends the conversation: its reader
/// is gone.
pub type TellLine<'a> = dyn FnMut(&str) -> ControlFlow<()> + 'a;

/// Holds a conversation, and returns the exit code of the bridge: that of an agent which ended too
/// early, else whether the conversation came to its end.
pub fn hold(request: &BridgeRequest, cancel: &Cancel, tell: &mut TellLine<'_>) -> u8 {
    let (sender, news) = sync_channel(WAITING_LINES);
    let mut conversation = Conversation::new(request.clone());
    let mut agent = match Agent::start(request, &sender) {
        Ok(agent) => agent,
        Err(error) => {
            let words = format!("cannot start `{}`: {error}", request.program);
            tell_all(conversation.fail(FailureKind::Other, &words), tell);
            return NO_ANSWER;
        }
    };
    let _watch = cancel.watch(move || {
        // The channel may be full of lines, which the bridge reads first.
        let sender = sender.clone();
        thread::spawn(move || sender.send(News::Cancelled).unwrap_or_default());
    });
    let end = converse(&mut conversation, &agent, &news, tell);
    let status = agent.end();
    match end {
        Ending::Said => 0,
        Ending::Failed => NO_ANSWER,
        Ending::AgentGone => status.map_or(NO_ANSWER, exit_code),
    }
}

/// Why a conversation is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The conversation came to its end, also one that failed.
    Said,
    Failed,
    /// The agent ended before its turn did.
    AgentGone,
}

fn converse(
    conversation: &mut Conversation,
    agent: &Agent,
    news: &Receiver<News>,
    tell: &mut TellLine<'_>,
) -> Ending {
    let mut steps = conversation.begin();
    let mut patience = None;
    loop {
        for step in steps {
            match step {
                Step::Tell(line) => {
                    if tell(&line).is_break() {
                        return Ending::Failed;
                    }
                }
                Step::End => return Ending::Said,
                Step::Send(line) => {
                    if agent.send(line) == Delivery::NotRead {
                        let words = "the agent does not read its messages";
                        tell_all(conversation.fail(FailureKind::Other, words), tell);
                        return Ending::Failed;
                    }
                }
            }
        }
        steps = match next(news, patience) {
            Some(News::Line(AgentLine::Whole(line))) => conversation.take(&line),
            Some(News::Line(AgentLine::TooLong(bytes))) => conversation.long_line(bytes),
            Some(News::Line(AgentLine::Endless(bytes))) => {
                let mut steps = conversation.long_line(bytes);
                let words = format!("the agent sent {bytes} bytes without the end of a line");
                steps.extend(conversation.fail(FailureKind::LongLine, &words));
                steps
            }
            Some(News::Cancelled) => {
                patience = Some(CANCEL_PATIENCE);
                conversation.cancel()
            }
            Some(News::Closed) => return Ending::AgentGone,
            None => return Ending::Failed,
        };
    }
}

/// Waits for news; `None` if the patience with a cancelled turn is over.
fn next(news: &Receiver<News>, patience: Option<Duration>) -> Option<News> {
    match patience {
        None => news.recv().ok(),
        Some(patience) => news.recv_timeout(patience).ok(),
    }
}

/// Tells the last lines; it no longer matters whether anyone reads them.
fn tell_all(steps: Vec<Step>, tell: &mut TellLine<'_>) {
    for step in steps {
        if let Step::Tell(line) = step
            && tell(&line).is_break()
        {
            return;
        }
    }
}

/// The agent's process.
struct Agent {
    child: Child,
    messages: Option<SyncSender<String>>,
}

/// Whether a message is on its way to the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Delivery {
    Underway,
    /// Too many messages wait.
    NotRead,
}

impl Agent {
    fn start(request: &BridgeRequest, news: &SyncSender<News>) -> io::Result<Self> {
        let mut agent = command(&request.program, Path::new(&request.folder));
        agent.args(&request.arguments).process_group(0);
        let mut child = agent.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (messages, waiting) = sync_channel(WAITING_MESSAGES);
        if let Some(stdin) = child.stdin.take() {
            thread::spawn(move || write_messages(stdin, &waiting));
        }
        if let Some(stdout) = child.stdout.take() {
            let news = news.clone();
            thread::spawn(move || {
                read_lines(stdout, &mut |line| news.send(News::Line(line)).is_ok());
                news.send(News::Closed).unwrap_or_default();
            });
        }
        Ok(Self { child, messages: Some(messages) })
    }

    /// Sends a message. An agent that has closed its stdin is about to end, which its stdout shows.
    fn send(&self, line: String) -> Delivery {
        match self.messages.as_ref().map(|messages| messages.try_send(line)) {
            Some(Err(TrySendError::Full(_))) => Delivery::NotRead,
            Some(Ok(()) | Err(TrySendError::Disconnected(_))) | None => Delivery::Underway,
        }
    }

    /// Closes the agent's stdin, and ends it when it does not end.
    fn end(&mut self) -> Option<ExitStatus> {
        drop(self.messages.take());
        let pid = Pid::from_child(&self.child);
        wait_for(pid, FAREWELL);
        let status = self.child.try_wait().ok().flatten();
        if status.is_none() {
            kill_process_group(pid, Signal::TERM).ok();
        }
        status
    }
}

/// Writes messages until there are no more, and closes the stream.
fn write_messages(mut stdin: ChildStdin, messages: &Receiver<String>) {
    for message in messages {
        if stdin.write_all(message.as_bytes()).and_then(|()| stdin.write_all(b"\n")).is_err() {
            return;
        }
    }
}

/// Returns the bridge's exit code for an agent that ended too early. Success would be a lie.
fn exit_code(status: ExitStatus) -> u8 {
    let signalled = status.signal().and_then(|signal| u8::try_from(signal).ok());
    let code = signalled.map(|signal| signal.saturating_add(128));
    let code = code.or_else(|| status.code().and_then(|code| u8::try_from(code).ok()));
    code.filter(|code| *code != 0).unwrap_or(NO_ANSWER)
}
