//! Renames an agent in all records of the store.

use convoke_domain::scope::AgentName;
use serde::Serialize;

use super::HumanAgent;
use crate::failure::{ErrorClass, Failure};
use crate::hooks::rebind;
use crate::session::Session;
use crate::settings::wake::settings;
use crate::workspace::{Workspace, refused};

/// An agent that has another name.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RenamedAgentReport {
    /// The old name.
    pub from: String,
    /// The new name.
    pub to: String,
    /// The configuration file that named it, and names it anew: the first, if several did.
    pub bound_by: Option<String>,
}

/// Gives an agent another name, on all branches of the project.
pub fn rename_agent(
    session: &Session,
    from: &AgentName,
    to: &AgentName,
) -> Result<RenamedAgentReport, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    if from.is_human() || to.is_human() {
        let deed = if from.is_human() { "rename" } else { "name an agent" };
        return Err(Failure::new(ErrorClass::Usage, HumanAgent(deed))
            .hint("`convoke agent list` shows the agents of this branch"));
    }
    store.rename_agent(&scope.project, from, to).map_err(refused)?;
    let bound_by = rebind(session, from, to)?;
    let bound_by: Vec<_> = bound_by.iter().map(|path| path.display().to_string()).collect();
    let reporter = session.reporter();
    for path in &bound_by {
        reporter.remark(format!("`{path}` names @{to} too"));
    }
    let settings = settings(session)?;
    if settings.orchestrator == *from {
        reporter.warn(format!("`wake.orchestrator` still names @{from}"));
    }
    if let Some((_, place)) = settings.agent.filter(|(agent, _)| agent == from) {
        reporter.warn(format!("`wake.agent` in {} still names @{from}", place.words()));
    }
    let bound_by = bound_by.into_iter().next();
    Ok(RenamedAgentReport { from: from.to_string(), to: to.to_string(), bound_by })
}
