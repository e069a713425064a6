//! Whether named agents answer, for use cases that are about to give them work.

use convoke_domain::client::Client;
use convoke_domain::lane::health::AgentHealth;
use convoke_engine::client::adapter;
use convoke_engine::lane::drive::ClientProgram;
use convoke_engine::lane::health::{HealthCache, probe};

use super::stopped;
use crate::failure::Failure;
use crate::lane::seen_by;
use crate::session::Session;
use crate::settings::health;

/// Which agents are probed. A probe costs a few tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbePolicy {
    /// No probe: a cached result counts, and an agent without one stays unknown.
    Never,
    /// Those without a remembered result.
    Unknown,
    /// All of them: a remembered result does not count.
    Afresh,
}

/// Finds out whether agents answer. Nothing is known of an agent without a program, such as an API.
/// An interrupt is a failure: an agent that was cut off must not pass for one that does not answer.
pub fn healths_of(
    words: &[&str],
    probing: ProbePolicy,
    session: &Session,
) -> Result<Vec<Option<AgentHealth>>, Failure> {
    let settings = health::settings(session)?;
    let environment = &session.environment;
    let cache = environment.health_cache();
    let mut remembered = cache.as_deref().map(HealthCache::read).unwrap_or_default();
    let convoke = environment.program();
    let mut found = Vec::new();
    let mut is_stopped = false;
    for word in words {
        let Some(agent) = Client::parse(word) else {
            found.push(None);
            continue;
        };
        let Some(path) = environment.find_program(adapter(agent).programs, &session.project) else {
            found.push(Some(AgentHealth::Missing));
            continue;
        };
        let known = remembered.get(agent.name(), &path, session.now(), settings.remember);
        let known = known.filter(|_| probing != ProbePolicy::Afresh);
        let variables = seen_by(agent, session)?;
        let program = ClientProgram { agent, program: &path, convoke: &convoke, variables };
        let health = match known {
            Some(health) => health,
            None if probing != ProbePolicy::Never => {
                let asked = probe(&[program], settings.pause, &session.cancel()).pop();
                let health = asked.unwrap_or(AgentHealth::NotAsked);
                is_stopped |= health == AgentHealth::NotAsked;
                remembered.note(agent.name(), &path, &health, session.now());
                health
            }
            None => AgentHealth::NotAsked,
        };
        found.push(Some(health));
    }
    // Without the cache Convoke only probes again next time.
    cache.and_then(|path| remembered.write(&path).ok());
    if is_stopped { Err(stopped()) } else { Ok(found) }
}
