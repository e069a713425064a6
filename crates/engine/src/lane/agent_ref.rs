//! The word by which a user names the agent of a lane.

use std::fmt;
use std::path::PathBuf;

use convoke_domain::client::Client;

use super::fleet_offer::FleetOffer;
use crate::client::acp::known_agent;
use crate::client::{UsageScope, usage_scope};

/// The agent that should answer, as a user names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AgentRef {
    /// A client's program, such as `claude`.
    Client(Client),
    /// An agent that speaks the Agent Client Protocol: `acp:NAME`.
    Acp(String),
    /// A model's API of the user's configuration: `http:NAME`.
    Http(String),
    /// Recorded lanes in a file: `replay:FILE`.
    Replay(PathBuf),
    /// An agent on another machine: `fleet:AGENT` or `fleet:AGENT@REPOSITORY`.
    Fleet(FleetOffer),
}

impl AgentRef {
    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        match word.split_once(':') {
            Some(("acp", name)) => is_name(name).then(|| {
                // One name for each agent, so that its lanes are counted together.
                Self::Acp(known_agent(name).map_or(name, |known| known.name).to_owned())
            }),
            Some(("fleet", offer)) => FleetOffer::parse(offer).map(Self::Fleet),
            Some(("http", name)) => is_name(name).then(|| Self::Http(name.to_owned())),
            Some(("replay", path)) => (!path.is_empty()).then(|| Self::Replay(path.into())),
            _ => Client::parse(word).map(Self::Client),
        }
    }

    /// Returns the client, if it is one.
    pub const fn client(&self) -> Option<Client> {
        match self {
            Self::Client(client) => Some(*client),
            Self::Acp(_) | Self::Http(_) | Self::Replay(_) | Self::Fleet(_) => None,
        }
    }

    /// Returns the client whose output a lane of this agent keeps: for an agent of the protocol, the
    /// bridge.
    pub const fn speaker(&self) -> Option<Client> {
        match self {
            Self::Client(client) => Some(*client),
            Self::Acp(_) => Some(Client::Acp),
            Self::Http(_) | Self::Replay(_) | Self::Fleet(_) => None,
        }
    }
}

/// Tells whether an API or an agent of the configuration can be called so.
pub fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty() && name.chars().all(is_plain)
}

impl AgentRef {
    /// Returns the scope of its counters, as far as that is known before it runs.
    pub fn usage_scope(&self) -> UsageScope {
        match self {
            Self::Client(client) => usage_scope(*client),
            Self::Acp(name) => known_agent(name).map_or(UsageScope::RUN, |known| known.usage_scope),
            // A remote lane resumes no session.
            Self::Http(_) | Self::Replay(_) | Self::Fleet(_) => UsageScope::RUN,
        }
    }
}

impl fmt::Display for AgentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(client) => client.fmt(f),
            Self::Acp(name) => write!(f, "acp:{name}"),
            Self::Http(name) => write!(f, "http:{name}"),
            Self::Replay(path) => write!(f, "replay:{}", path.display()),
            Self::Fleet(offer) => write!(f, "fleet:{offer}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_names_the_agent() {
        for word in [
            "claude",
            "qwen",
            "acp:codex",
            "acp:my-own",
            "http:small",
            "http:a-b_9",
            "replay:a/b c.jsonl",
            "replay:/x",
            "fleet:claude",
            "fleet:codex@repo-x",
            "fleet:http:small@app",
        ] {
            assert_eq!(AgentRef::parse(word).map(|named| named.to_string()).as_deref(), Some(word));
        }
        let named = AgentRef::parse("acp:claude-agent-acp");
        assert_eq!(named, Some(AgentRef::Acp("claude".to_owned())), "one agent, one name");
        for word in [
            "",
            "aider",
            "acp",
            "acp:",
            "acp:a b",
            "acp:../x",
            "http",
            "http:",
            "http:a b",
            "http://x",
            "replay:",
            "Claude",
            "fleet:",
            "fleet:@x",
            "fleet:claude@",
            "fleet:replay:x",
        ] {
            assert_eq!(AgentRef::parse(word), None, "{word}");
        }
    }
}
