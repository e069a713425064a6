//! Agents of the Agent Client Protocol among the agents: those that the user configured, and the
//! known ones whose program is no client of its own.

use convoke_domain::lane::health::AgentHealth;
use convoke_engine::client::acp::{KNOWN_AGENTS, ReadOnlyProof};

use super::AgentReport;
use crate::failure::{Failure, with_causes};
use crate::lane::acp_agent;
use crate::session::Session;
use crate::settings::acp::agents;

/// Lists them. No probe asks them: their lanes are the test.
pub(super) fn acp_agents(session: &Session) -> Result<Vec<AgentReport>, Failure> {
    let configured: Vec<_> = agents(session)?.into_iter().map(|(name, _)| name).collect();
    let is_there = |name: &&str| acp_agent(name, session).is_ok();
    let known = KNOWN_AGENTS.iter().filter(|known| known.package.is_some());
    let known = known.map(|known| known.name).filter(is_there).map(str::to_owned);
    let is_new = |name: &String| !configured.contains(name);
    let more: Vec<_> = known.filter(is_new).collect();
    Ok(configured.iter().chain(&more).map(|name| report(name, session)).collect())
}

fn report(name: &str, session: &Session) -> AgentReport {
    let found = acp_agent(name, session);
    let command = found.as_ref().ok().map(|agent| &agent.command);
    let proven = command.filter(|command| command.proof == ReadOnlyProof::Tested);
    let health = if found.is_ok() { AgentHealth::NotAsked } else { AgentHealth::Missing };
    AgentReport {
        agent: format!("acp:{name}"),
        path: command.map(|command| command.program.display().to_string()),
        version: None,
        health: health.words(),
        error: found.as_ref().err().map(|failure| with_causes(failure.error.as_ref())),
        problem: None,
        read_only: proven
            .and_then(|command| command.known)
            .map_or("unproven", |known| known.read_only_by),
        resume: "by id",
        hooks: "none",
        model: None,
        key: None,
    }
}
