//! Keeping agents.

use convoke_domain::agent::{Agent, AgentStatus};
use convoke_domain::scope::{AgentName, Scope};
use jiff::Timestamp;

use crate::error::StoreError;
use crate::message::MessageReceipt;

/// A change to one agent.
#[derive(Debug, Clone, Copy)]
pub enum AgentChange<'a> {
    /// Its present activity.
    Status(AgentStatus),
    /// This session resumes it.
    Session(&'a str),
    /// It received messages, or an announcement of them.
    Received(MessageReceipt<'a>),
    /// Its client compacted, or it was woken in full since.
    Compacted(Option<Timestamp>),
    /// It was archived, or taken out of the archive.
    Archived(Option<Timestamp>),
}

/// When an agent may be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    /// Only if it has no open task and no unread message.
    IfIdle,
    /// Remove it even if it has open tasks or unread messages.
    Anyway,
}

/// The consequences of removing an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentLeftovers {
    /// Open tasks, which are assigned to no agent from now on.
    pub tasks: usize,
    /// Messages that it never read; they stay readable.
    pub unread: usize,
}

/// Keeps agents between their sessions.
pub trait AgentStore {
    /// Adds an agent, or changes the client of one that exists.
    fn add_agent(&self, scope: &Scope, name: &AgentName, client: &str) -> Result<(), StoreError>;

    /// Returns an agent; `None` if the branch has none of this name.
    fn agent(&self, scope: &Scope, name: &AgentName) -> Result<Option<Agent>, StoreError>;

    /// Returns every agent, by name.
    fn agents(&self, scope: &Scope) -> Result<Vec<Agent>, StoreError>;

    /// Changes an agent. `NoAgent` if it is missing. A message that was read never becomes unread
    /// again.
    fn change_agent(
        &self,
        scope: &Scope,
        name: &AgentName,
        change: &AgentChange<'_>,
    ) -> Result<(), StoreError>;

    /// Gives an agent another name on all branches of a project: its tasks, messages, deeds, skills
    /// and sessions follow. `NoAgent` if it is on none of them, `AgentExists` if another has the
    /// name on any.
    fn rename_agent(
        &self,
        project: &str,
        from: &AgentName,
        to: &AgentName,
    ) -> Result<(), StoreError>;

    /// Removes an agent and its sessions' bindings. `AgentBusy` if it has open tasks or unread
    /// messages and only an idle agent may be removed.
    fn remove_agent(
        &self,
        scope: &Scope,
        name: &AgentName,
        removal: Removal,
        now: Timestamp,
    ) -> Result<AgentLeftovers, StoreError>;
}
