//! Removing an agent that is no longer there.

use convoke_domain::scope::AgentName;
use convoke_store::agent::{AgentLeftovers, Removal};
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::wake::{AgentPlace, settings};
use crate::workspace::{Workspace, refused};

#[derive(Debug, thiserror::Error)]
#[error("cannot remove @{name}: {place} gives it the sessions of this project")]
struct StillBound {
    name: AgentName,
    place: &'static str,
}

/// An agent that was removed.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemovedAgentReport {
    /// The agent's name.
    pub removed: String,
    /// Open tasks that it had, which are assigned to no agent from now on.
    pub freed_tasks: usize,
    /// Messages that it had not read; they stay readable.
    pub unread: usize,
}

/// Removes an agent from the branch; its messages stay readable.
pub fn remove_agent(
    session: &Session,
    name: &AgentName,
    removal: Removal,
) -> Result<RemovedAgentReport, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let bound = settings(session)?.agent.filter(|(agent, _)| agent == name);
    if let Some((_, place)) = bound.filter(|_| matches!(removal, Removal::IfIdle)) {
        return Err(still_bound(name, place));
    }
    let AgentLeftovers { tasks, unread } =
        store.remove_agent(&scope, name, removal, session.now()).map_err(refused)?;
    Ok(RemovedAgentReport { removed: name.to_string(), freed_tasks: tasks, unread })
}

/// A hook would only add it again.
fn still_bound(name: &AgentName, place: AgentPlace) -> Failure {
    let error = StillBound { name: name.clone(), place: place.words() };
    Failure::new(ErrorClass::Refused, error)
        .hint("`convoke hooks install CLIENT --as NAME` gives them to another agent")
        .hint("`--force` removes it; the next session adds it again")
}
