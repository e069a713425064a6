//! All that Convoke knows about clients: one folder for each, and one table.
//!
//! Lanes, transcripts, hooks and health checks ask [`adapter`] about a client; no other module
//! knows a client's flags, output, files or programs. A client's folder has its `launch`, the
//! `listener` of its output, its `transcript` and its `hooks`. Adding a client touches its folder,
//! the enum in `domain`, the table here and its fixtures.
//!
//! Nothing here starts, reads or writes anything but transcripts: [`command`] says what to start
//! and what to write beforehand, and a [`Listener`] turns lines into events. So every client is
//! tested with strings.
//!
//! *Read-only means that the agent has no tool to write with*, not that it is asked not to. Settings
//! of the user and of the project stay in force, with their hooks, because those are the user's own
//! doing; but no setting may give a reader its tools back.

pub mod claude;
pub mod codex;
mod command;
mod cursor;
pub(crate) mod failure;
mod gemini;
mod hook_wiring;
mod listener;
mod message_line;
mod opencode;
mod qwen;
mod server_wiring;

use std::fmt;
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
pub use convoke_domain::lane::counted::{CounterScope, UsageScope};
use convoke_domain::lane::event::GrantedRights;

pub use self::command::{ClientCommand, ClientRequest, Rights};
pub use self::hook_wiring::HookWiring;
pub(crate) use self::hook_wiring::{Compactions, EntryCount, PluginFile, SettingsForm};
pub use self::listener::Listener;
pub(crate) use self::server_wiring::ServerForm;
pub use self::server_wiring::ServerWiring;
use crate::transcript::InjectedTexts;
use crate::transcript::reads::recorder::Recorder;

/// What Convoke knows about one client.
pub struct ClientAdapter {
    /// The programs to look for, the best first.
    pub programs: &'static [&'static str],
    /// The variables of the user's environment that the client may see beside those that every
    /// program needs: its own vendor's keys, addresses and folders, and no other vendor's.
    pub variables: &'static [&'static str],
    /// Variables that the client is always given: no updates while it works, no endless retries,
    /// and nothing that keeps it from being supervised.
    pub quiet: &'static [(&'static str, &'static str)],
    /// What keeps a reader from writing, in a word or two.
    pub read_only_by: &'static str,
    /// The oldest version that Convoke is tested with, by its first two numbers.
    pub oldest: Option<(u32, u32)>,
    /// How the client resumes a session, as measured.
    pub resumed_by: &'static str,
    /// What the client's counters count, as measured.
    pub usage_scope: UsageScope,
    /// The variable by which programs that the client starts know their session.
    pub session_variable: Option<&'static str>,
    /// The variable that is set for every program that the client starts.
    pub shell_variable: Option<&'static str>,
    /// The folder that holds the client's own records, where Convoke looks for them.
    pub home: Option<ClientHome>,
    /// How to read the client's record of a session.
    pub transcript: Option<TranscriptFormat>,
    /// How Convoke's hooks are wired into the client.
    pub hooks: Option<HookWiring>,
    /// How Convoke's MCP server is entered in the client's settings.
    pub server: Option<ServerWiring>,
    /// Adds to a command what the client needs to be told.
    launch: fn(&ClientRequest<'_>, &mut ClientCommand),
    listen: fn() -> Box<dyn Listener>,
    /// Tells whether a reader may have a tool; always so where the client does not list its tools.
    is_reader_tool: fn(&str) -> bool,
    /// Tells whether a reader may be in a mode; always so where the client does not say its mode.
    is_reader_mode: fn(&str) -> bool,
}

impl fmt::Debug for ClientAdapter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientAdapter").field("programs", &self.programs).finish_non_exhaustive()
    }
}

/// Where a client keeps what is its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientHome {
    /// The variable that names the folder.
    pub variable: &'static str,
    /// The folder below the user's home where that variable is not set.
    pub folder: &'static str,
}

/// How to read a client's record of a session.
#[derive(Clone, Copy)]
pub struct TranscriptFormat {
    /// Takes in a line; `None` if the client writes no such lines.
    pub(crate) line: fn(&str, &mut Recorder<'_>) -> Option<()>,
    /// Reads which of Convoke's texts the agent still has, from a place of the record on.
    pub(crate) injected: Option<fn(&Path, u64) -> Option<InjectedTexts>>,
    /// What the events that the client prints tell about what the agent was given.
    pub(crate) printed: PrintedEvents,
    /// Finds the record of a session in the client's own folder.
    pub(crate) own_record: Option<fn(&Path, &str) -> Option<PathBuf>>,
}

impl fmt::Debug for TranscriptFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TranscriptFormat").finish_non_exhaustive()
    }
}

/// What the events that a client prints tell about what its agent was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrintedEvents {
    /// No more than the agent was given.
    AsGiven,
    /// Perhaps more than the agent was given, so that only the client's own record is proof.
    MayTellMore,
}

/// Returns what Convoke knows about a client.
pub fn adapter(client: Client) -> &'static ClientAdapter {
    match client {
        Client::Claude => &claude::ADAPTER,
        Client::Codex => &codex::ADAPTER,
        Client::Cursor => &cursor::ADAPTER,
        Client::Gemini => &gemini::ADAPTER,
        Client::Opencode => &opencode::ADAPTER,
        Client::Qwen => &qwen::ADAPTER,
    }
}

/// Says how to start a client for a request.
pub fn command(client: Client, request: &ClientRequest<'_>) -> ClientCommand {
    let adapter = adapter(client);
    let mut command = ClientCommand::new(adapter.quiet, request.prompt);
    (adapter.launch)(request, &mut command);
    command
}

/// Returns a listener for one run of a client.
pub fn listen(client: Client) -> Box<dyn Listener> {
    (adapter(client).listen)()
}

/// Says what a client's counters count, as measured.
pub fn usage_scope(client: Client) -> UsageScope {
    adapter(client).usage_scope
}

/// Returns what a client says that an agent may do beyond what it was started with. A resumed session
/// may remember more than it is asked for, and only where the client says so can that be noticed.
pub fn excess(client: Client, rights: Rights, granted: &GrantedRights) -> Vec<String> {
    if rights == Rights::Write {
        return Vec::new();
    }
    let adapter = adapter(client);
    let tools = granted.tools.iter().filter(|tool| !(adapter.is_reader_tool)(tool)).cloned();
    let mode = granted.mode.as_ref().filter(|mode| !(adapter.is_reader_mode)(mode));
    tools.chain(mode.map(|mode| format!("mode {mode}"))).collect()
}

/// For clients that do not say which tools or which mode an agent has.
const fn is_not_said(_: &str) -> bool {
    true
}

#[cfg(test)]
mod tests;
