//! Which agent a client's session belongs to.

use convoke_domain::scope::{Address, AgentName};
use convoke_engine::hooks::binding::bound;
use convoke_store::delivery::Session as ClientSession;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::LOCAL_FILE;
use crate::settings::wake::{Settings, other_places, settings_for_hook};
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
    let unusable = session.environment.unusable_agent();
    if let Some(Address { agent, .. }) = address {
        if let Some(error) = unusable {
            session.reporter().warn(format!("{error}; this is what @{agent} gets"));
        }
        return Ok(agent);
    }
    let known = workspace.store.agents(&workspace.scope).map_err(refused)?;
    let example = known.into_iter().next().map_or_else(default_agent, |agent| agent.name);
    Err(Failure::new(ErrorClass::Refused, NoAgentSet)
        .maybe_hint(unusable.map(|error| error.to_string()))
        .hint(format!("name one: `convoke wake {example}`; `convoke agent list` shows the agents"))
        .hint("`convoke hooks install CLIENT --as NAME` sets one for this project"))
}

/// Returns whose a client's session is: the agent of the environment, else the one that it is bound
/// to in this project, else the one that all sessions of the project belong to. A variable that names
/// no agent counts as not set. The branch is always the one that is checked out now: a session begins
/// on one branch and often works on another.
pub fn session_address(
    session: &Session,
    workspace: &Workspace,
    settings: &Settings,
    of: Option<ClientSession<'_>>,
) -> Result<Option<Address>, Failure> {
    let here = |agent: AgentName| Address { scope: workspace.scope.clone(), agent };
    if let Some(Ok(agent)) = session.environment.named_agent() {
        return Ok(Some(here(agent)));
    }
    let bound = of.map(|session| workspace.store.bound(session)).transpose();
    let bound = bound.map_err(refused)?.flatten();
    // The person's messages are not a session's to read.
    let bound = bound.filter(|address| {
        address.scope.project == workspace.scope.project && !address.agent.is_human()
    });
    let bound = bound.map(|address| address.agent);
    Ok(bound.or_else(|| settings.agent.clone().map(|(agent, _)| agent)).map(here))
}

/// Returns the settings that a hook uses, and the names of files and variables with a mistake. Where a
/// mistake may hide the agent, the project is bound to the one that is most likely meant, so that the
/// user's rules and the plan arrive.
pub fn hook_settings(
    session: &Session,
    workspace: &Workspace,
) -> Result<(Settings, Vec<String>), Failure> {
    let (settings, left_out) = settings_for_hook(session);
    if settings.agent.is_some() || left_out.is_empty() {
        return Ok((settings, left_out));
    }
    let agent = hidden_agent(session, workspace)?;
    Ok((settings.bound_by_guess(agent), left_out))
}

/// Returns the agent that `hooks install` bound the project to, else that of its newest session, else
/// the default one.
fn hidden_agent(session: &Session, workspace: &Workspace) -> Result<AgentName, Failure> {
    let Workspace { store, scope } = workspace;
    let folders = std::iter::once(session.absolute_project()).chain(other_places(session));
    let files = folders.map(|folder| folder.join(LOCAL_FILE));
    for file in files.chain(session.environment.user_config()) {
        let install = store.install(&file.display().to_string()).map_err(refused)?;
        let agent = install.and_then(|install| bound(&install.installed).ok()?);
        if let Some(agent) = agent.filter(|agent| !agent.is_human()) {
            return Ok(agent);
        }
    }
    let sessions = store.sessions(&scope.project).map_err(refused)?;
    let newest = sessions.into_iter().find(|session| !session.agent.agent.is_human());
    Ok(newest.map_or_else(default_agent, |newest| newest.agent.agent))
}
