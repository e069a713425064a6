//! The word by which a user names the agent of a lane.

use std::fmt;
use std::path::PathBuf;

use convoke_domain::client::Client;

use crate::client::{UsageScope, usage_scope};

/// The agent that should answer, as a user names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AgentRef {
    /// A client's program, such as `claude`.
    Client(Client),
    /// A model's API of the user's configuration: `http:NAME`.
    Http(String),
    /// Recorded lanes in a file: `replay:FILE`.
    Replay(PathBuf),
}

impl AgentRef {
    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        match word.split_once(':') {
            Some(("http", name)) => is_name(name).then(|| Self::Http(name.to_owned())),
            Some(("replay", path)) => (!path.is_empty()).then(|| Self::Replay(path.into())),
            _ => Client::parse(word).map(Self::Client),
        }
    }

    /// Returns the client, if it is one.
    pub const fn client(&self) -> Option<Client> {
        match self {
            Self::Client(client) => Some(*client),
            Self::Http(_) | Self::Replay(_) => None,
        }
    }
}

/// Tells whether an API of the configuration can be called so.
pub fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.chars().all(is_plain)
}

impl AgentRef {
    /// Returns the scope of its counters, as far as that is known before it runs.
    pub fn usage_scope(&self) -> UsageScope {
        self.client().map_or(UsageScope::RUN, usage_scope)
    }
}

impl fmt::Display for AgentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(client) => client.fmt(f),
            Self::Http(name) => write!(f, "http:{name}"),
            Self::Replay(path) => write!(f, "replay:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_names_the_agent() {
        for word in
            ["claude", "qwen", "http:small", "http:a-b_9", "replay:a/b c.jsonl", "replay:/x"]
        {
            assert_eq!(AgentRef::parse(word).map(|named| named.to_string()).as_deref(), Some(word));
        }
        for word in ["", "aider", "http", "http:", "http:a b", "http://x", "replay:", "Claude"] {
            assert_eq!(AgentRef::parse(word), None, "{word}");
        }
    }
}
