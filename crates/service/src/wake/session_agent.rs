//! Which agent a client's session belongs to.

use convoke_domain::scope::{Address, AgentName};
use convoke_store::delivery::Session as ClientSession;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::wake::Settings;
use crate::workspace::{Workspace, default_agent, refused};

/// A command needs an agent, and nothing names one.
#[derive(Debug, thiserror::Error)]
#[error("cannot wake an agent: this project has no default agent")]
struct NoAgentSet;

/// Returns the agent that this session, or else this project, belongs to.
pub(super) fn present_agent(
    session: &Session,
    workspace: &Workspace,
    settings: &Settings,
) -> Result<AgentName, Failure> {
    let sessions = session.environment.client_sessions();
    // A client that runs inside another leaves it open which session counts.
    let present = match sessions.as_slice() {
        [(client, id)] => Some(ClientSession { client: *client, id }),
        _ => None,
    };
    let address = session_address(session, workspace, settings, present)?;
    if let Some(address) = address {
        return Ok(address.agent);
    }
    let known = workspace.store.agents(&workspace.scope).map_err(refused)?;
    let example = known.into_iter().next().map_or_else(default_agent, |agent| agent.name);
    Err(Failure::new(ErrorClass::Refused, NoAgentSet)
        .hint(format!("name one: `convoke wake {example}`; `convoke agent list` shows the agents"))
        .hint("`convoke hooks install CLIENT --as NAME` sets one for this project"))
}

/// Returns whose a client's session is: the agent of the environment, else the one that it is bound
/// to in this project, else the one that all sessions of the project belong to.
pub fn session_address(
    session: &Session,
    workspace: &Workspace,
    settings: &Settings,
    of: Option<ClientSession<'_>>,
) -> Result<Option<Address>, Failure> {
    let here = |agent: AgentName| Address { scope: workspace.scope.clone(), agent };
    if let Some(name) = session.environment.agent() {
        let name = AgentName::parse(&name.to_string_lossy());
        return Ok(name.ok().filter(|name| !name.is_human()).map(here));
    }
    let bound = of.map(|session| workspace.store.bound(session)).transpose();
    let bound = bound.map_err(refused)?.flatten();
    // The person's messages are not a session's to read.
    let bound = bound.filter(|address| {
        address.scope.project == workspace.scope.project && !address.agent.is_human()
    });
    Ok(bound.or_else(|| settings.agent.clone().map(|(agent, _)| here(agent))))
}

/// Returns whose a client's session is for a hook: where a mistake in a file may hide the agent, the
/// one of the project's newest session, else the default one, so that the user's rules arrive.
pub fn hook_address(
    session: &Session,
    workspace: &Workspace,
    (settings, left_out): &(Settings, Vec<String>),
    of: Option<ClientSession<'_>>,
) -> Result<Option<Address>, Failure> {
    let known = session_address(session, workspace, settings, of)?;
    if known.is_some() || left_out.is_empty() || session.environment.agent().is_some() {
        return Ok(known);
    }
    let Workspace { store, scope } = workspace;
    let sessions = store.sessions(&scope.project).map_err(refused)?;
    let newest = sessions.into_iter().find(|session| !session.agent.agent.is_human());
    let agent = newest.map_or_else(default_agent, |newest| newest.agent.agent);
    Ok(Some(Address { scope: scope.clone(), agent }))
}
