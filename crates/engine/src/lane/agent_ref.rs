//! The one word by which a user names who shall answer.

use std::fmt;

use super::adapter::{Agent, UsageScope, usage_scope};

/// Who shall answer, as a user names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AgentRef {
    /// A client's program, such as `claude`.
    Client(Agent),
}

impl AgentRef {
    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Agent::parse(word).map(Self::Client)
    }

    /// Returns the client, if it is one.
    pub const fn client(&self) -> Option<Agent> {
        match self {
            Self::Client(agent) => Some(*agent),
        }
    }

    /// Says what its counters count.
    pub const fn usage_scope(&self) -> UsageScope {
        match self {
            Self::Client(agent) => usage_scope(*agent),
        }
    }
}

impl fmt::Display for AgentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(agent) => agent.fmt(f),
        }
    }
}
