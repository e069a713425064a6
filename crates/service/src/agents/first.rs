//! The agent that works where the user names none.

use convoke_domain::client::Client;
use convoke_domain::lane::health::AgentHealth;
use convoke_engine::client::adapter;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::health::HealthCache;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::health::settings;

#[derive(Debug, thiserror::Error)]
enum NoAgent {
    #[error("cannot choose an agent: no client is on the PATH")]
    Missing,
    #[error("cannot choose an agent: none of the clients on the PATH answered ({0})")]
    Sick(String),
}

/// Chooses the first client that answered lately, else the first on the PATH that no probe found
/// out of order, and reports the choice. It probes no agent.
pub fn first_usable_agent(session: &Session) -> Result<AgentRef, Failure> {
    let remember = settings(session)?.remember;
    let cache = session.environment.health_cache();
    let remembered = cache.as_deref().map(HealthCache::read).unwrap_or_default();
    let known = |client: Client| {
        let program =
            session.environment.find_program(adapter(client).programs, &session.project)?;
        let health = remembered.get(client.name(), &program, session.now(), remember);
        Some((client, health.unwrap_or(AgentHealth::NotAsked)))
    };
    let there: Vec<_> = Client::ALL.into_iter().filter_map(known).collect();
    let first = |wanted: AgentHealth| there.iter().find(|(_, health)| *health == wanted);
    let (client, why) = match (first(AgentHealth::Healthy), first(AgentHealth::NotAsked)) {
        (Some((client, _)), _) => (client, "it answered lately"),
        (None, Some((client, _))) if there.first().is_some_and(|(first, _)| first == client) => {
            (client, "the first client on the PATH")
        }
        (None, Some((client, _))) => (client, "the clients before it did not answer lately"),
        (None, None) if there.is_empty() => return Err(refused(NoAgent::Missing)),
        (None, None) => {
            let names: Vec<_> = there.iter().map(|(client, _)| client.name()).collect();
            return Err(refused(NoAgent::Sick(names.join(", "))));
        }
    };
    session.reporter().remark(format!("{client} answers ({why}); `--agent` names another"));
    Ok(AgentRef::Client(*client))
}

fn refused(error: NoAgent) -> Failure {
    Failure::new(ErrorClass::Prerequisite, error)
        .hint("`convoke agents --probe` asks every client whether it answers")
}
