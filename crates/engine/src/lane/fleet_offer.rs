//! What a worker offers and a remote lane asks for: an agent, and the repository that it works in.

use std::fmt;

use super::agent_ref::{AgentRef, is_name};

/// What the names of all queues begin with.
const QUEUE_PREFIX: &str = "convoke/";

/// An agent on another machine: `AGENT` or `AGENT@REPOSITORY`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FleetOffer {
    /// The agent, as its worker's machine names it: a client, `acp:NAME` or `http:NAME`.
    pub agent: Box<AgentRef>,
    /// The name of the repository; without one, the agent works in an empty folder.
    pub repository: Option<String>,
}

impl FleetOffer {
    /// Reads the words of an offer. A recording is no agent of another machine, and neither is an agent
    /// that is itself on one.
    pub fn parse(words: &str) -> Option<Self> {
        let (agent, repository) = match words.split_once('@') {
            Some((agent, repository)) => (agent, Some(repository)),
            None => (words, None),
        };
        let agent = match AgentRef::parse(agent)? {
            agent @ (AgentRef::Client(_) | AgentRef::Acp(_) | AgentRef::Http(_)) => agent,
            AgentRef::Replay(_) | AgentRef::Fleet(_) => return None,
        };
        if repository.is_some_and(|name| !is_name(name)) {
            return None;
        }
        Some(Self { agent: Box::new(agent), repository: repository.map(str::to_owned) })
    }

    /// Returns the name of the queue in which lanes wait for workers with this offer.
    pub fn queue(&self) -> String {
        format!("{QUEUE_PREFIX}{self}")
    }

    /// Reads the name of such a queue.
    pub fn of_queue(queue: &str) -> Option<Self> {
        queue.strip_prefix(QUEUE_PREFIX).and_then(Self::parse)
    }
}

impl fmt::Display for FleetOffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.agent.fmt(f)?;
        match &self.repository {
            Some(name) => write!(f, "@{name}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offer_is_an_agent_and_a_repository() {
        for words in ["claude", "codex@repo-x", "http:small@app_2", "acp:mine", "acp:codex@x"] {
            let offer = FleetOffer::parse(words).unwrap();
            assert_eq!(offer.to_string(), words);
            assert_eq!(offer.queue(), format!("convoke/{words}"));
            assert_eq!(FleetOffer::of_queue(&offer.queue()), Some(offer));
            assert_eq!(FleetOffer::of_queue(words), None);
        }
        for words in [
            "",
            "@x",
            "claude@",
            "claude@a/b",
            "claude@a b",
            "claude@x@y",
            "aider",
            "replay:a",
            "fleet:claude",
            "claude@../x",
            "claude,codex",
        ] {
            assert_eq!(FleetOffer::parse(words), None, "{words}");
        }
    }
}
