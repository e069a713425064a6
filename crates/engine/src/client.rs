//! Everything Convoke knows about clients: one folder for each, and one table.
//!
//! Lanes, transcripts, hooks and health checks ask [`adapter`] about a client; no other module
//! knows a client's flags, output, files or programs. A client's folder has its `launch`, the
//! `listener` of its output, its `transcript` and its `hooks`. Adding a client touches its folder,
//! the enum in `domain`, the table here and its fixtures.
//!
//! This module reads and writes only transcripts and starts nothing: [`command`] returns the
//! command to start and the files to write beforehand, and a [`Listener`] turns lines into events.
//! So every client is tested with strings.
//!
//! *Read-only means that the agent has no tool to write with*, not that its prompt forbids writing.
//! Settings of the user and of the project stay in force, with their hooks, because the user chose
//! them; but no setting may give a read-only agent its tools back.

pub mod acp;
pub mod claude;
pub mod codex;
mod command;
mod cursor;
pub(crate) mod failure;
pub mod fleet;
mod gemini;
mod hook_wiring;
mod listener;
mod message_line;
mod opencode;
mod qwen;
mod release;
mod server_approval;
mod server_wiring;
mod user_file;

use std::fmt;
use std::iter;
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
pub use convoke_domain::lane::counted::{CounterScope, UsageScope};
use convoke_domain::lane::event::GrantedRights;

pub use self::command::{ClientCommand, ClientRequest, Rights};
pub use self::hook_wiring::HookWiring;
pub(crate) use self::hook_wiring::{Compactions, EntryCount, PluginFile, SettingsForm};
pub use self::listener::Listener;
pub use self::release::ClientRelease;
pub use self::server_approval::{ApprovalPlaces, ServerApproval};
pub(crate) use self::server_wiring::ServerForm;
pub use self::server_wiring::ServerWiring;
pub use self::user_file::{SettingsOwner, SettingsPlace, UserFile};
use crate::transcript::InjectedTexts;
use crate::transcript::reads::recorder::Recorder;
use crate::transcript::usage::UsageRecords;

/// The place of a session's id in the arguments that resume it.
const SESSION: &str = "{session}";

/// What Convoke knows about one client.
pub struct ClientAdapter {
    /// The programs to search for, the best first.
    pub programs: &'static [&'static str],
    /// The variables of the user's environment that the client may see beside those that every
    /// program needs: its own vendor's keys, addresses and folders, and no other vendor's.
    pub variables: &'static [&'static str],
    /// Variables that are always set: no updates while it works, no endless retries, and nothing
    /// that keeps it from being supervised.
    pub quiet: &'static [(&'static str, &'static str)],
    /// The mechanism that keeps a read-only agent from writing, in a word or two.
    pub read_only_by: &'static str,
    /// The version that Convoke's tests drive, if they can install one.
    pub tested: Option<ClientRelease>,
    /// What the client says to the command of a lane that has no prompt, in lower case: it has read
    /// its arguments, and asks no model. Nothing where that was not measured.
    pub no_prompt: Option<&'static str>,
    /// How the client resumes a session, as measured.
    pub resumed_by: &'static str,
    /// The scope of the client's counters, as measured.
    pub usage_scope: UsageScope,
    /// The variable by which programs that the client starts know their session.
    pub session_variable: Option<&'static str>,
    /// The variable that is set for every program that the client starts.
    pub shell_variable: Option<&'static str>,
    /// The folder of the client's own records.
    pub home: Option<ClientHome>,
    /// How to read the client's record of a session.
    pub transcript: Option<TranscriptFormat>,
    /// How to add up what the client's sessions used; `None` if its records hold no usage.
    pub usage_records: Option<UsageRecords>,
    /// How Convoke's hooks are wired into the client.
    pub hooks: Option<HookWiring>,
    /// How Convoke's MCP server is entered in the client's settings.
    pub server: Option<ServerWiring>,
    /// The arguments by which a person resumes a session with a prompt on stdin, with [`SESSION`] in
    /// the place of its id. Empty if no command line does.
    resumed_with: &'static [&'static str],
    /// Adds the client's arguments and files to a command.
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

/// The folder in which a client keeps its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientHome {
    /// The variables that name the folder, or the one that holds it; the first that is set counts.
    pub variables: &'static [&'static str],
    /// The folder below the one that a variable names; empty if it is that one.
    pub below: &'static str,
    /// The folder below the user's home where no such variable is set.
    pub folder: &'static str,
}

/// How to read a client's record of a session.
#[derive(Clone, Copy)]
pub struct TranscriptFormat {
    /// Takes in a line; `None` if the client writes no such lines.
    pub(crate) line: fn(&str, &mut Recorder<'_>) -> Option<()>,
    /// Reads which of Convoke's texts the agent still has, from a place of the record on.
    pub(crate) injected: Option<fn(&Path, u64) -> Option<InjectedTexts>>,
    /// How printed events relate to what the agent saw.
    pub(crate) printed: PrintedEvents,
    /// Finds the record of a session in the client's own folder.
    pub(crate) own_record: Option<fn(&Path, &str) -> Option<PathBuf>>,
}

impl TranscriptFormat {
    /// A client whose printed events are all that can be read of a session.
    pub(crate) const fn printed(line: fn(&str, &mut Recorder<'_>) -> Option<()>) -> Self {
        Self { line, injected: None, printed: PrintedEvents::AsGiven, own_record: None }
    }
}

impl fmt::Debug for TranscriptFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TranscriptFormat").finish_non_exhaustive()
    }
}

/// How printed events relate to what the agent saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PrintedEvents {
    /// They show no more than the agent saw.
    AsGiven,
    /// It may show more than the agent saw, so that only the client's own record is proof.
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
        Client::Acp => &acp::ADAPTER,
        Client::Fleet => &fleet::ADAPTER,
    }
}

/// Returns the command that starts a client for a request.
pub fn command(client: Client, request: &ClientRequest<'_>) -> ClientCommand {
    let adapter = adapter(client);
    let mut command = ClientCommand::new(adapter.quiet, request.prompt);
    (adapter.launch)(request, &mut command);
    command
}

/// Returns the command line by which a person gives a session another prompt, on stdin. Empty if
/// the client has none.
pub fn resume_by_hand(client: Client, session: &str) -> Vec<String> {
    let ClientAdapter { programs, resumed_with, .. } = adapter(client);
    let Some(program) = programs.first().filter(|_| !resumed_with.is_empty()) else {
        return Vec::new();
    };
    let arguments = resumed_with.iter().map(|word| word.replace(SESSION, session));
    iter::once((*program).to_owned()).chain(arguments).collect()
}

/// Returns a listener for one run of a client.
pub fn listen(client: Client) -> Box<dyn Listener> {
    (adapter(client).listen)()
}

/// Returns the scope of a client's counters, as measured.
pub fn usage_scope(client: Client) -> UsageScope {
    adapter(client).usage_scope
}

/// Returns the rights that a client reports beyond those it was started with. A resumed session may
/// keep rights from before, which Convoke notices only if the client reports them.
pub fn excess(client: Client, rights: Rights, granted: &GrantedRights) -> Vec<String> {
    if rights == Rights::Write {
        return Vec::new();
    }
    let adapter = adapter(client);
    let tools = granted.tools.iter().filter(|tool| !(adapter.is_reader_tool)(tool)).cloned();
    let mode = granted.mode.as_ref().filter(|mode| !(adapter.is_reader_mode)(mode));
    tools.chain(mode.map(|mode| format!("mode {mode}"))).collect()
}

/// For clients that do not report an agent's tools or mode.
const fn is_not_said(_: &str) -> bool {
    true
}

#[cfg(test)]
mod tests;
