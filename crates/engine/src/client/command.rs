//! A lane's request to an agent, and the command that starts its client.

use std::borrow::Cow;

use super::acp::AcpCommand;
use super::fleet::FleetCommand;

/// An agent's rights on files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// To read them.
    ReadOnly,
    /// Change them, as far as the client's own settings allow.
    Write,
}

/// A lane's request to an agent.
#[derive(Debug, Clone, Copy)]
pub struct ClientRequest<'a> {
    /// The prompt's text.
    pub prompt: &'a str,
    /// The model to use, else the client's own choice.
    pub model: Option<&'a str>,
    /// The model's effort, for clients that accept it: Claude Code and Codex.
    pub effort: Option<&'a str>,
    /// The session to resume, else a new one.
    pub resume: Option<&'a str>,
    /// The agent's rights. Sent again on every resume, because clients forget them.
    pub rights: Rights,
    /// The folder that the agent works in; the process must be started there.
    pub folder: &'a str,
    /// A folder of the lane's own, for what the client must be able to read.
    pub scratch: &'a str,
    /// The agent behind the bridge, in a lane of the Agent Client Protocol.
    pub acp: Option<&'a AcpCommand>,
    /// The agent on another machine, in a lane of the fleet.
    pub fleet: Option<&'a FleetCommand>,
}

/// The command that starts a client.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ClientCommand {
    /// The arguments after the program's name.
    pub arguments: Vec<String>,
    /// Variables to set, beside those that the client may see.
    pub variables: Vec<(String, String)>,
    /// The client's stdin. Without a text, stdin must be closed.
    pub stdin: Option<String>,
    /// Files that must be written before: paths and texts.
    pub files: Vec<(String, String)>,
}

impl ClientCommand {
    /// Puts the prompt on stdin: there it can have any length, no list of processes shows it, and
    /// it cannot be a flag.
    pub(super) fn new(variables: &[(&str, &str)], prompt: &str) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            variables: variables.iter().map(owned).collect(),
            stdin: Some(as_words(prompt).into_owned()),
            ..Self::default()
        }
    }

    pub(super) fn arguments(&mut self, arguments: &[&str]) {
        self.arguments.extend(arguments.iter().map(|argument| (*argument).to_owned()));
    }

    /// Adds an option with its value in one word, so that no value can be a flag.
    pub(super) fn option(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value.map(one_line).filter(|value| !value.is_empty()) {
            self.arguments.push(format!("{name}={value}"));
        }
    }
}

/// First characters of a prompt that clients take for a command, a shell's line, another machine's
/// request or a flag.
const COMMANDS_BEGIN_WITH: [char; 4] = ['/', '!', '&', '-'];

/// Returns a prompt as words and nothing else. Even on stdin, `/init` is a command to some clients,
/// and one of them then writes files although it may only read.
pub(super) fn as_words(prompt: &str) -> Cow<'_, str> {
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
pub(super) fn one_line(text: &str) -> String {
    text.trim().chars().filter(|c| !c.is_control()).collect()
}
