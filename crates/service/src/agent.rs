//! Manages the agents of a branch.

mod removal;
mod rename;
mod session;

use convoke_domain::agent::{Agent, AgentStatus};
use convoke_domain::scope::AgentName;
use convoke_store::agent::AgentChange;
use convoke_store::error::StoreError;
use serde::Serialize;

pub use self::removal::{RemovedAgentReport, remove_agent};
pub use self::rename::{RenamedAgentReport, rename_agent};
pub use self::session::{BoundSessionReport, bind_session};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

#[derive(Debug, thiserror::Error)]
#[error("cannot {0} `human`: the name means you")]
struct HumanAgent(&'static str);

/// An agent, as commands print it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentProfileReport {
    /// The agent's name.
    pub name: String,
    /// The client that runs it, such as `claude`.
    pub client: String,
    /// The agent's status.
    pub status: &'static str,
    /// The client's session that resumes it.
    pub session_id: Option<String>,
    /// The newest message that it received.
    pub last_seen_message_id: Option<i64>,
    /// When it last lost its memory.
    pub compacted_at: Option<String>,
    /// When it was archived.
    pub archived_at: Option<String>,
}

impl AgentProfileReport {
    fn new(agent: &Agent) -> Self {
        Self {
            name: agent.name.to_string(),
            client: agent.client.clone(),
            status: agent.status.name(),
            session_id: agent.session_id.clone(),
            last_seen_message_id: agent.last_seen,
            compacted_at: agent.compacted_at.map(|at| at.to_string()),
            archived_at: agent.archived_at.map(|at| at.to_string()),
        }
    }
}

/// Adds an agent, or changes the program and session of one that exists.
pub fn add_agent(
    session: &Session,
    name: &AgentName,
    client: &str,
    session_id: Option<&str>,
) -> Result<AgentProfileReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    if name.is_human() {
        return Err(Failure::new(ErrorClass::Usage, HumanAgent("add"))
            .hint("`@human` reaches a person as it is"));
    }
    let Workspace { store, scope } = &workspace;
    store.add_agent(scope, name, client).map_err(refused)?;
    if let Some(id) = session_id {
        store.change_agent(scope, name, &AgentChange::Session(id)).map_err(refused)?;
    }
    found(&workspace, name)
}

/// Lists all agents of the branch.
pub fn list_agents(session: &Session) -> Result<Vec<AgentProfileReport>, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    Ok(store.agents(&scope).map_err(refused)?.iter().map(AgentProfileReport::new).collect())
}

/// Shows one agent.
pub fn show_agent(session: &Session, name: &AgentName) -> Result<AgentProfileReport, Failure> {
    found(&Workspace::open(session, None)?, name)
}

/// Sets an agent's status.
pub fn set_agent_status(
    session: &Session,
    name: &AgentName,
    status: AgentStatus,
) -> Result<AgentProfileReport, Failure> {
    change(session, name, &AgentChange::Status(status))
}

/// Puts an agent away; prompting it takes it out again.
pub fn archive_agent(session: &Session, name: &AgentName) -> Result<AgentProfileReport, Failure> {
    change(session, name, &AgentChange::Archived(Some(session.now())))
}

fn change(
    session: &Session,
    name: &AgentName,
    change: &AgentChange<'_>,
) -> Result<AgentProfileReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    workspace.store.change_agent(&workspace.scope, name, change).map_err(refused)?;
    found(&workspace, name)
}

fn found(workspace: &Workspace, name: &AgentName) -> Result<AgentProfileReport, Failure> {
    let found = workspace.store.agent(&workspace.scope, name).map_err(refused)?;
    let agent = found.ok_or_else(|| refused(StoreError::NoAgent { name: name.clone() }))?;
    Ok(AgentProfileReport::new(&agent))
}
