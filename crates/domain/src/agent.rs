//! Agents as they are remembered between their sessions.

use jiff::Timestamp;

use crate::owner::Owner;
use crate::scope::AgentName;

/// An agent's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgentStatus {
    /// Waiting for work.
    #[default]
    Idle,
    /// Working.
    Busy,
    /// Waiting for another agent or a person.
    Blocked,
    /// Finished; the agent gets no further work.
    Complete,
    /// Ended in an error.
    Failed,
}

impl AgentStatus {
    /// Every status.
    pub const ALL: [Self; 5] =
        [Self::Idle, Self::Busy, Self::Blocked, Self::Complete, Self::Failed];

    /// Returns the word that is stored and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Busy => "busy",
            Self::Blocked => "blocked",
            Self::Complete => "complete",
            Self::Failed => "failed",
        }
    }

    /// Returns the status stored as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

/// One agent of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Unique in its scope.
    pub name: AgentName,
    /// The program that runs it, such as `claude` or `codex`.
    pub client: String,
    /// The agent's state.
    pub status: AgentStatus,
    /// The client's session to resume.
    pub session_id: Option<String>,
    /// The process that runs it, while it answers a wake-up.
    pub owner: Option<Owner>,
    /// When its client compacted last, until the next full wake-up.
    pub compacted_at: Option<Timestamp>,
    /// The newest message that was delivered or announced to it.
    pub last_seen: Option<i64>,
    /// When it was archived.
    pub archived_at: Option<Timestamp>,
}
