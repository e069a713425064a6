//! Agents of the Agent Client Protocol among the agents: those that the user configured, and the
//! known ones whose program is no client of its own.

use std::path::Path;

use convoke_domain::lane::health::AgentHealth;
use convoke_engine::client::acp::{KNOWN_AGENTS, ReadOnlyProof};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::health::{HealthCache, ProbedAcp, probe_acp};

use super::{AgentReport, AgentsRequest, HealthSource};
use crate::failure::{Failure, with_causes};
use crate::lane::{AcpAgent, acp_agent};
use crate::session::Session;
use crate::settings::acp::agents;
use crate::settings::health::Settings;

/// The facts about one agent.
pub(super) struct KnownAcp {
    name: String,
    found: Result<AcpAgent, Failure>,
    pub(super) health: AgentHealth,
}

/// Names the agents that the user configured, and the known ones that are installed beside their
/// vendor's client. An agent that is a mode of its client's own program is not among them.
pub(crate) fn acp_names(session: &Session) -> Result<Vec<String>, Failure> {
    let mut names: Vec<_> = agents(session)?.into_iter().map(|(name, _)| name).collect();
    let is_there = |name: &&str| acp_agent(name, session).is_ok();
    let known = KNOWN_AGENTS.iter().filter(|known| known.package.is_some());
    let known: Vec<_> = known.map(|known| known.name).filter(is_there).collect();
    for name in known {
        if names.iter().all(|configured| configured != name) {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Finds out which agents exist and which answer: from cached results or by a probe.
pub(super) fn known_acp(
    session: &Session,
    request: &AgentsRequest,
    settings: Settings,
) -> Result<Vec<KnownAcp>, Failure> {
    let cache = session.environment.health_cache();
    let mut remembered = cache.as_deref().map(HealthCache::read).unwrap_or_default();
    let known = |name: String| {
        let found = acp_agent(&name, session);
        let health = match &found {
            Err(_) => AgentHealth::Missing,
            Ok(_) if request.source == HealthSource::Presence => AgentHealth::NotAsked,
            Ok(agent) => {
                let program = &agent.command.program;
                let cached =
                    remembered.get(&word(&name), program, session.now(), settings.remember);
                let cached = cached.filter(|health| request.source.accepts(health));
                cached.unwrap_or(AgentHealth::NotAsked)
            }
        };
        KnownAcp { name, found, health }
    };
    let mut all: Vec<_> = wanted(session, request)?.into_iter().map(known).collect();
    if request.source != HealthSource::Probe {
        return Ok(all);
    }
    let convoke = session.environment.program();
    let (places, asked): (Vec<_>, Vec<_>) = all
        .iter()
        .enumerate()
        .filter(|(_, agent)| agent.health == AgentHealth::NotAsked)
        .filter_map(|(at, agent)| Some((at, agent.found.as_ref().ok()?)))
        .map(|(at, agent)| (at, agent.probed(&convoke)))
        .unzip();
    let answers = probe_acp(&asked, settings.pause, &session.cancel());
    for (at, health) in places.into_iter().zip(answers) {
        let KnownAcp { name, found, health: known } = &mut all[at];
        if let Ok(agent) = found {
            remembered.note(&word(name), &agent.command.program, &health, session.now());
        }
        *known = health;
    }
    // Without the cache Convoke only probes again next time.
    cache.and_then(|path| remembered.write(&path).ok());
    Ok(all)
}

/// Returns the agents that a request is about.
fn wanted(session: &Session, request: &AgentsRequest) -> Result<Vec<String>, Failure> {
    if request.only.is_empty() {
        return acp_names(session);
    }
    let named = request.only.iter().filter_map(|agent| match agent {
        AgentRef::Acp(name) => Some(name.clone()),
        AgentRef::Client(_) | AgentRef::Http(_) | AgentRef::Replay(_) | AgentRef::Fleet(_) => None,
    });
    Ok(named.collect())
}

impl AcpAgent {
    /// Returns it as a probe takes it.
    pub(crate) fn probed<'a>(&'a self, convoke: &'a Path) -> ProbedAcp<'a> {
        ProbedAcp { convoke, command: &self.command, variables: self.variables.clone() }
    }
}

impl KnownAcp {
    pub(super) fn report(self) -> AgentReport {
        let Self { name, found, health } = self;
        let command = found.as_ref().ok().map(|agent| &agent.command);
        let proven = command.filter(|command| command.proof == ReadOnlyProof::Tested);
        let missing = found.as_ref().err().map(|failure| with_causes(failure.error.as_ref()));
        AgentReport {
            agent: word(&name),
            path: command.map(|command| command.program.display().to_string()),
            version: None,
            health: health.words(),
            error: missing.or_else(|| health.reason().map(|reason| reason.line.clone())),
            problem: health.reason().map(|reason| reason.words.clone()),
            read_only: proven
                .and_then(|command| command.known)
                .map_or("unproven", |known| known.read_only_by),
            resume: "by id",
            hooks: "none",
            model: None,
            key: None,
        }
    }
}

fn word(name: &str) -> String {
    format!("acp:{name}")
}
