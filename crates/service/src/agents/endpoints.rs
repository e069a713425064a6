//! Models' APIs among the agents: their configuration, their keys, and whether they answer.

use std::path::PathBuf;

use convoke_domain::lane::health::{AgentHealth, ProbeFailure};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::health::{HealthCache, ProbedApi, probe_apis};

use super::{AgentReport, AgentsRequest, HealthSource};
use crate::failure::{Failure, with_causes};
use crate::session::Session;
use crate::settings::endpoint::{Configured, KeyState, Listed, listed};
use crate::settings::health::Settings;

/// The facts about one API.
pub(super) struct KnownApi {
    listed: Listed,
    pub(super) health: AgentHealth,
}

/// Finds out which APIs exist and which answer: from cached results or by a probe.
pub(super) fn known_apis(
    session: &Session,
    request: &AgentsRequest,
    settings: Settings,
) -> Result<Vec<KnownApi>, Failure> {
    let cache = session.environment.health_cache();
    let mut remembered = cache.as_deref().map(HealthCache::read).unwrap_or_default();
    let known = |listed: Listed| {
        let health = match &listed.configured {
            Err(failure) => {
                let why = with_causes(failure.error.as_ref());
                AgentHealth::Sick(Some(ProbeFailure::other(why)))
            }
            Ok(_) if request.source == HealthSource::Presence => AgentHealth::NotAsked,
            Ok(api) => remembered
                .get(&word(&listed.name), &place(api), session.now(), settings.remember)
                .filter(|health| request.source.accepts(health))
                .unwrap_or(AgentHealth::NotAsked),
        };
        KnownApi { listed, health }
    };
    let is_wanted = |listed: &Listed| request.names(&AgentRef::Http(listed.name.clone()));
    let mut all: Vec<_> = listed(session)?.into_iter().filter(is_wanted).map(known).collect();
    if request.source != HealthSource::Probe {
        return Ok(all);
    }
    let (places, asked): (Vec<_>, Vec<_>) = all
        .iter()
        .enumerate()
        .filter(|(_, api)| api.health == AgentHealth::NotAsked)
        .filter_map(|(at, api)| Some((at, api.listed.configured.as_ref().ok()?)))
        .map(|(at, api)| {
            let effort = api.effort.as_deref();
            (at, ProbedApi { endpoint: &api.endpoint, model: &api.model, effort })
        })
        .unzip();
    let answers = probe_apis(&asked, settings.pause, &session.cancel());
    for (at, health) in places.into_iter().zip(answers) {
        let KnownApi { listed, health: known } = &mut all[at];
        if let Ok(api) = &listed.configured {
            remembered.note(&word(&listed.name), &place(api), &health, session.now());
        }
        *known = health;
    }
    // Without the cache Convoke only probes again next time.
    cache.and_then(|path| remembered.write(&path).ok());
    Ok(all)
}

impl KnownApi {
    pub(super) fn report(self) -> AgentReport {
        let Listed { name, url, model, key, configured } = self.listed;
        AgentReport {
            agent: word(&name),
            path: url,
            version: None,
            health: if configured.is_ok() { self.health.words() } else { "not usable" },
            error: self.health.reason().map(|reason| reason.line.clone()),
            problem: self.health.reason().map(|reason| reason.words.clone()),
            read_only: "no tools",
            resume: "none",
            hooks: "none",
            model,
            key: Some(match key {
                Some(KeyState::Present) => "present",
                Some(KeyState::Missing) => "missing",
                Some(KeyState::Unneeded) => "none",
                None => "unknown",
            }),
        }
    }
}

fn word(name: &str) -> String {
    format!("http:{name}")
}

/// Returns what an API is remembered under in place of a program: another address or model may answer
/// differently.
fn place(api: &Configured) -> PathBuf {
    format!("{} {}", api.endpoint.url, api.model).into()
}
