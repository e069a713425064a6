//! Keeping agents.

use convoke_domain::agent::{Agent, AgentStatus};
use convoke_domain::scope::{AgentName, Scope};
use jiff::Timestamp;

use crate::error::StoreError;
use crate::message::Receipt;

/// A change to one agent.
#[derive(Debug, Clone, Copy)]
pub enum AgentChange<'a> {
    /// It does this now.
    Status(AgentStatus),
    /// This session resumes it.
    Session(&'a str),
    /// It was given messages, or told of them.
    Received(Receipt<'a>),
    /// Its client compacted, or it was woken in full since.
    Compacted(Option<Timestamp>),
    /// It was put away, or taken out again.
    Archived(Option<Timestamp>),
}

/// Keeps agents between their sessions.
pub trait AgentStore {
    /// Adds an agent, or changes the client of one that exists.
    fn add_agent(&self, scope: &Scope, name: &AgentName, client: &str) -> Result<(), StoreError>;

    /// Returns an agent.
    fn agent(&self, scope: &Scope, name: &AgentName) -> Result<Option<Agent>, StoreError>;

    /// Returns every agent, by name.
    fn agents(&self, scope: &Scope) -> Result<Vec<Agent>, StoreError>;

    /// Changes an agent. `NoAgent` if it is missing. What was read is never
    /// unread again.
    fn change_agent(
        &self,
        scope: &Scope,
        name: &AgentName,
        change: &AgentChange<'_>,
    ) -> Result<(), StoreError>;
}
