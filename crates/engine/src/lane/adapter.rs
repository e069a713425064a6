//! Adapters: how each client is started for one errand, and what its output means.
//!
//! Nothing here does anything. [`launch`] says what to start and what to write beforehand, and a
//! [`Listener`] turns lines into events; whoever runs the process does the rest. So every adapter
//! is tested with strings.
//!
//! *Read-only means that the agent has no tool to write with*, not that it is asked not to. Settings
//! of the user and of the project stay in force, with their hooks, because those are the user's own
//! doing; but no setting may give a reader its tools back.

mod claude;
mod codex;
mod cursor;
pub(super) mod failure;
mod gemini;
mod hearing;
mod message_line;
mod opencode;
mod qwen;

use std::borrow::Cow;
use std::fmt;

pub use convoke_domain::lane::counted::{CounterScope, UsageScope};
use convoke_domain::lane::event::{GrantedRights, LaneEvent};

use self::hearing::Ear;

/// A client that agents work in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Agent {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Cursor's CLI.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// opencode.
    Opencode,
    /// Qwen Code.
    Qwen,
}

impl Agent {
    /// Every client.
    pub const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Cursor, Self::Gemini, Self::Opencode, Self::Qwen];

    /// Returns the word that is typed and stored.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
        }
    }

    /// Returns the client called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|agent| agent.name() == name)
    }

    /// Returns the programs to look for, the best first.
    pub const fn programs(self) -> &'static [&'static str] {
        match self {
            Self::Claude => &["claude"],
            Self::Codex => &["codex"],
            // The later name is a word that other programs may have too.
            Self::Cursor => &["cursor-agent", "agent"],
            Self::Gemini => &["gemini"],
            Self::Opencode => &["opencode"],
            Self::Qwen => &["qwen"],
        }
    }

    /// Returns the variables of the user's environment that it may see beside those that every
    /// program needs: its own vendor's keys, addresses and folders, and nobody else's.
    pub const fn variables(self) -> &'static [&'static str] {
        match self {
            Self::Claude => claude::VARIABLES,
            Self::Codex => codex::VARIABLES,
            Self::Cursor => cursor::VARIABLES,
            Self::Gemini => gemini::VARIABLES,
            Self::Opencode => opencode::VARIABLES,
            Self::Qwen => qwen::VARIABLES,
        }
    }

    /// Returns what keeps a reader from writing, in a word or two.
    pub const fn reading(self) -> &'static str {
        match self {
            Self::Codex => "sandbox",
            Self::Claude | Self::Gemini | Self::Opencode => "no tools",
            Self::Cursor => "ask mode",
            Self::Qwen => "plan mode",
        }
    }

    /// Returns how a session is gone on with, as measured.
    pub const fn resuming(self) -> &'static str {
        match self {
            Self::Claude | Self::Codex | Self::Cursor | Self::Opencode | Self::Qwen => "by id",
            Self::Gemini => "by id, repeats tools",
        }
    }

    /// Returns variables that it is always given: no updates while it works, no endless retries,
    /// and nothing that keeps it from being supervised.
    pub const fn quiet(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Claude => claude::QUIET,
            Self::Gemini => gemini::QUIET,
            Self::Opencode => opencode::QUIET,
            Self::Codex | Self::Cursor | Self::Qwen => &[],
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What an agent may do to files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// Look at them.
    ReadOnly,
    /// Change them, as far as the client's own settings allow.
    Write,
}

/// What an agent is sent to do.
#[derive(Debug, Clone, Copy)]
pub struct Errand<'a> {
    /// What it is told.
    pub prompt: &'a str,
    /// The model to use, else the client's own choice.
    pub model: Option<&'a str>,
    /// How hard the model shall think, where a client can be told: Claude Code and Codex.
    pub effort: Option<&'a str>,
    /// The session to go on with, else a new one.
    pub resume: Option<&'a str>,
    /// What it may do. Said again on every resume, because clients forget.
    pub rights: Rights,
    /// The folder that it works in; the process must be started there.
    pub folder: &'a str,
    /// A folder of the lane's own, for what the client must be able to read.
    pub scratch: &'a str,
}

/// How a client is started.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Launch {
    /// What follows the program's name.
    pub arguments: Vec<String>,
    /// Variables to set, beside those that it may see.
    pub variables: Vec<(String, String)>,
    /// What it is given on stdin. Where there is nothing, stdin must be closed.
    pub stdin: Option<String>,
    /// Files that must be written before: paths and texts.
    pub files: Vec<(String, String)>,
}

impl Launch {
    /// A prompt is given on stdin: there it can be of any length, no list of processes shows it,
    /// and it cannot be a flag.
    fn new(agent: Agent, errand: &Errand<'_>) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            variables: agent.quiet().iter().map(owned).collect(),
            stdin: Some(spoken(errand.prompt).into_owned()),
            ..Self::default()
        }
    }

    fn arguments(&mut self, arguments: &[&str]) {
        self.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    }

    /// Adds an option with its value in one word, so that no value can be a flag.
    fn option(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value.map(one_line).filter(|value| !value.is_empty()) {
            self.arguments.push(format!("{name}={value}"));
        }
    }
}

/// Says how a client is started for an errand.
pub fn launch(agent: Agent, errand: &Errand<'_>) -> Launch {
    let mut launch = Launch::new(agent, errand);
    match agent {
        Agent::Claude => claude::launch(errand, &mut launch),
        Agent::Codex => codex::launch(errand, &mut launch),
        Agent::Cursor => cursor::launch(errand, &mut launch),
        Agent::Gemini => gemini::launch(errand, &mut launch),
        Agent::Opencode => opencode::launch(errand, &mut launch),
        Agent::Qwen => qwen::launch(errand, &mut launch),
    }
    launch
}

/// What clients take for a command, a shell's line, another machine's errand or a flag when a prompt
/// begins with it.
const COMMANDS_BEGIN_WITH: [char; 4] = ['/', '!', '&', '-'];

/// Returns a prompt as words and nothing else. Even on stdin, `/init` is a command to some clients,
/// and one of them then writes files although it may only read.
fn spoken(prompt: &str) -> Cow<'_, str> {
    let prompt = without_nul(prompt);
    // The languages that clients are written in take a byte order mark for a space.
    let start = prompt.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    let is_command = start.starts_with(COMMANDS_BEGIN_WITH);
    if is_command { Cow::Owned(format!("Your task:\n{prompt}")) } else { prompt }
}

/// No argument and no variable can hold a NUL.
fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        return Cow::Owned(text.replace('\0', "\u{fffd}"));
    }
    Cow::Borrowed(text)
}

/// Names of models, sessions and files have no control characters.
fn one_line(text: &str) -> String {
    text.trim().chars().filter(|c| !c.is_control()).collect()
}

/// Turns a client's lines into events. A line that is not understood is passed over.
pub trait Listener: Send {
    /// Takes in a line of stdout.
    fn stdout_line(&mut self, line: &str) -> Vec<LaneEvent>;
    /// Takes in that a line of stdout was too long to be read, and how long it was, in bytes.
    fn long_line(&mut self, bytes: u64) -> Vec<LaneEvent>;
    /// Takes in a line of stderr.
    fn stderr_line(&mut self, line: &str) -> Vec<LaneEvent>;
    /// Takes in that the process ended, with a code unless a signal ended it. Some clients say only
    /// by this how a turn ended. An end said now replaces an earlier one: it knows more.
    fn exited(&mut self, code: Option<i32>) -> Vec<LaneEvent>;
}

/// Returns a listener for one run of a client.
pub fn listen(agent: Agent) -> Box<dyn Listener> {
    match agent {
        Agent::Claude => Box::new(Ear::<claude::Claude>::default()),
        Agent::Codex => Box::new(Ear::<codex::Codex>::default()),
        Agent::Cursor => Box::new(Ear::<cursor::Cursor>::default()),
        Agent::Gemini => Box::new(Ear::<gemini::Gemini>::default()),
        Agent::Opencode => Box::new(Ear::<opencode::Opencode>::default()),
        Agent::Qwen => Box::new(Ear::<qwen::Qwen>::default()),
    }
}

/// Returns what a client says that an agent may do beyond what it was started with. A resumed session
/// may remember more than it is asked for, and only where the client says so can that be noticed.
pub fn excess(agent: Agent, rights: Rights, granted: &GrantedRights) -> Vec<String> {
    if rights == Rights::Write {
        return Vec::new();
    }
    let is_harmless_tool = |tool: &&String| match agent {
        Agent::Claude => claude::is_reading(tool),
        Agent::Qwen => qwen::is_harmless(tool),
        // These do not say it.
        Agent::Codex | Agent::Cursor | Agent::Gemini | Agent::Opencode => true,
    };
    let is_harmless_mode = |mode: &&String| match agent {
        Agent::Claude => claude::is_asking_mode(mode),
        Agent::Qwen => mode.as_str() == "plan",
        Agent::Codex | Agent::Cursor | Agent::Gemini | Agent::Opencode => true,
    };
    let tools = granted.tools.iter().filter(|tool| !is_harmless_tool(tool)).cloned();
    let mode = granted.mode.as_ref().filter(|mode| !is_harmless_mode(mode));
    tools.chain(mode.map(|mode| format!("mode {mode}"))).collect()
}

/// Says what a client's counters count, as measured.
pub const fn usage_scope(agent: Agent) -> UsageScope {
    let (tokens, money) = match agent {
        Agent::Claude => (CounterScope::Run, CounterScope::Session),
        Agent::Codex | Agent::Qwen => (CounterScope::Session, CounterScope::Session),
        Agent::Cursor | Agent::Gemini | Agent::Opencode => (CounterScope::Run, CounterScope::Run),
    };
    UsageScope { tokens, money }
}

#[cfg(test)]
mod tests;
