//! The participants of a design: named on the command line, or found on this machine.

use convoke_domain::client::Client as Agent;
use convoke_domain::design::event::Chosen;
use convoke_domain::design::seat::{BadName, Named, Panel};
use convoke_engine::client::adapter;
use convoke_engine::lane::agent_ref::AgentRef;

use crate::failure::{ErrorClass, Failure, did_you_mean};
use crate::lane::model_name;
use crate::session::Session;
use crate::settings::endpoint::must_be_configured;

/// Three agents: the first, the second, and the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seats {
    pub(super) panel: Panel,
    pub(super) agents: [Chosen; 3],
}

/// Why three agents cannot take part.
#[derive(Debug, thiserror::Error)]
pub(super) enum SeatsError {
    #[error("cannot use `{0}`: name three agents, such as `cursor,codex,claude`")]
    NotThree(String),
    #[error("cannot use `{0}`: unknown agent")]
    Unknown(String),
    #[error("cannot use that model for `{0}`: it must be a name on one line")]
    Model(String),
    #[error(transparent)]
    Name(#[from] BadName),
}

impl From<SeatsError> for Failure {
    fn from(error: SeatsError) -> Self {
        let names = Agent::ALL.map(Agent::name);
        let hints = match &error {
            SeatsError::Name(BadName::Twice(_)) => {
                vec!["to seat one API several times, give it several names: [lane.http.ONE], [lane.http.TWO]".to_owned()]
            }
            SeatsError::Unknown(word) => {
                let known = format!(
                    "known agents: {}, `http:NAME` for a configured model API, and `replay:FILE`",
                    names.join(", ")
                );
                did_you_mean(word, names).into_iter().chain([known]).collect()
            }
            SeatsError::NotThree(_) | SeatsError::Model(_) | SeatsError::Name(_) => Vec::new(),
        };
        hints.into_iter().fold(Self::new(ErrorClass::Usage, error), Self::hint)
    }
}

/// The default agents: first the two that compete, then the host.
const USUAL: [Agent; 2] = [Agent::Cursor, Agent::Codex];
const HOSTS: [Agent; 6] =
    [Agent::Claude, Agent::Codex, Agent::Cursor, Agent::Gemini, Agent::Opencode, Agent::Qwen];

impl Seats {
    /// Reads `FIRST,SECOND,HOST`, each with an optional model: `codex=gpt-5.5`.
    pub(super) fn parse(words: &str) -> Result<Self, SeatsError> {
        let seats: Vec<_> = words.split(',').map(str::trim).collect();
        let [first, second, host] = seats.as_slice() else {
            return Err(SeatsError::NotThree(words.to_owned()));
        };
        Self::of([seat(first)?, seat(second)?, seat(host)?])
    }

    /// Checks that every model's API among the agents is configured. To find out later would end the design
    /// only after each of its seats has failed.
    pub(super) fn check_configured(&self, session: &Session) -> Result<(), Failure> {
        for chosen in &self.agents {
            if let Some(AgentRef::Http(name)) = AgentRef::parse(&chosen.agent) {
                must_be_configured(session, &name)?;
            }
        }
        Ok(())
    }

    /// Seats installed clients. The host is always an installed one, so that one agent can answer; the
    /// other two are there if they can be.
    pub(super) fn found(session: &Session) -> Option<Self> {
        let installed = |agent: &Agent| {
            session.environment.find_program(adapter(*agent).programs, &session.project).is_some()
        };
        let host = HOSTS.into_iter().find(installed)?;
        let mut others: Vec<_> = USUAL.into_iter().filter(|agent| *agent != host).collect();
        let rest = HOSTS.into_iter().rev().filter(|agent| *agent != host && !USUAL.contains(agent));
        others.extend(rest);
        // A usual one that is missing gives its place to one that is there, if there is one.
        others.sort_by_key(|agent| !installed(agent));
        others.truncate(2);
        others.sort_by_key(|agent| USUAL.iter().position(|usual| usual == agent).unwrap_or(2));
        let seat = |agent: Agent| (AgentRef::Client(agent), None);
        Self::of([seat(others[0]), seat(others[1]), seat(host)]).ok()
    }

    fn of(seats: [(AgentRef, Option<String>); 3]) -> Result<Self, SeatsError> {
        let [first, second, host] = &seats;
        let panel = Panel::new(named(&first.0)?, named(&second.0)?, named(&host.0)?)?;
        let chosen =
            |(agent, model): (AgentRef, Option<String>)| Chosen { agent: agent.to_string(), model };
        Ok(Self { panel, agents: seats.map(chosen) })
    }
}

fn seat(word: &str) -> Result<(AgentRef, Option<String>), SeatsError> {
    let (agent, model) = match word.split_once('=') {
        Some((agent, model)) => {
            let model = model_name(model).map_err(|_| SeatsError::Model(agent.to_owned()))?;
            (agent, Some(model))
        }
        None => (word, None),
    };
    let agent = AgentRef::parse(agent).ok_or_else(|| SeatsError::Unknown(agent.to_owned()))?;
    Ok((agent, model))
}

/// Names an agent for files and for people: a client by its word, an API by its name in the
/// configuration, a recording by its file.
fn named(agent: &AgentRef) -> Result<Named, BadName> {
    let word = match agent {
        AgentRef::Client(client) => client.name().to_owned(),
        AgentRef::Acp(name) | AgentRef::Http(name) => name.to_lowercase().replace('_', "-"),
        AgentRef::Fleet(offer) => {
            let agent = offer.agent.to_string();
            let agent = agent.rsplit(':').next().unwrap_or_default();
            let place = offer.repository.iter().map(|name| format!("-{name}"));
            (agent.to_owned() + &place.collect::<String>()).to_lowercase().replace('_', "-")
        }
        AgentRef::Replay(path) => {
            path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase()
        }
    };
    let mut letters = word.chars();
    let name = letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters);
    Named::new(&word, &name.collect::<String>())
}

#[cfg(test)]
mod tests {
    use convoke_domain::design::seat::Holder;

    use super::*;

    #[test]
    fn three_are_seated_under_their_names() {
        let seats = Seats::parse("http:Local_1,codex=gpt-5.5, replay:/x/claude.jsonl").unwrap();
        let names =
            [Holder::First, Holder::Second, Holder::Host].map(|holder| seats.panel.named(holder));
        assert_eq!(names.map(Named::name), ["Local-1", "Codex", "Claude"]);
        assert_eq!(seats.agents[1].model.as_deref(), Some("gpt-5.5"));
        for wrong in [
            "codex",
            "codex,codex,claude",
            "codex,aider,claude",
            "a,b,c,d",
            "",
            "cursor,codex=,claude",
        ] {
            assert!(Seats::parse(wrong).is_err(), "{wrong}");
        }
    }
}
