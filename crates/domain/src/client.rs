//! The clients: the programs that agents run in.
//!
//! What Convoke knows about each of them is in a folder of its own, `engine/src/client/<name>`.

use std::fmt;

/// A program that agents run in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Cursor's CLI.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// The client `opencode`.
    Opencode,
    /// Qwen Code.
    Qwen,
    /// Convoke's bridge to an agent that speaks the Agent Client Protocol. Users name that agent,
    /// never the bridge, so no list of clients has it.
    Acp,
    /// Convoke's companion that has a worker on another machine run the agent. Users name that agent,
    /// so no list of clients has it either.
    Fleet,
}

impl Client {
    /// Every client that has a program of its own, in the order of lists that users read.
    pub const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Cursor, Self::Gemini, Self::Opencode, Self::Qwen];

    /// The clients whose hooks call Convoke and whose transcripts Convoke reads, in the order of
    /// the commands about hooks.
    pub const WITH_HOOKS: [Self; 5] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Cursor, Self::Opencode];

    /// Those whose agent of the Agent Client Protocol reports the usage of its last step alone, as measured.
    pub const LAST_STEP_ALONE: [Self; 1] = [Self::Opencode];

    /// Returns the word that users type and that the store keeps.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Qwen => "qwen",
            Self::Acp => "acp",
            Self::Fleet => "fleet",
        }
    }

    /// Returns the client called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_its_name_alone() {
        for client in Client::ALL {
            assert_eq!(Client::parse(client.name()), Some(client));
            assert_eq!(client.to_string(), client.name());
        }
        for other in ["", "Claude", "aider", "cursor-agent", "claude ", "acp", "fleet"] {
            assert_eq!(Client::parse(other), None, "{other}");
        }
        assert!(Client::WITH_HOOKS.iter().all(|client| Client::ALL.contains(client)));
    }
}
