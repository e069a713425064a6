//! The agent that `CONVOKE_AGENT` names.

use convoke_domain::scope::AgentName;

use super::Environment;

/// The variable with the agent that a process works for.
pub(crate) const AGENT_VARIABLE: &str = "CONVOKE_AGENT";

/// The longest value that an error shows, in characters.
const MOST_SHOWN: usize = 60;

/// Why the variable names no agent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnusableAgent {
    #[error("CONVOKE_AGENT is `human`, which means you and is no agent")]
    Human,
    // The value may hold anything, so it is shown with its control characters spelled out.
    #[error("CONVOKE_AGENT holds {0:?}, which is no agent's name")]
    Name(String),
}

impl Environment {
    /// Returns the agent that the variable names, if it is set. Blanks around the name come from
    /// quotes and line ends of scripts, and mean nothing.
    pub(crate) fn named_agent(&self) -> Option<Result<AgentName, UnusableAgent>> {
        let given = self.agent()?;
        let given = given.to_string_lossy();
        Some(match AgentName::parse(given.trim()) {
            Ok(name) if name.is_human() => Err(UnusableAgent::Human),
            Ok(name) => Ok(name),
            Err(_) => Err(UnusableAgent::Name(given.chars().take(MOST_SHOWN).collect())),
        })
    }

    /// Returns why the variable names no agent although it is set.
    pub(crate) fn unusable_agent(&self) -> Option<UnusableAgent> {
        self.named_agent()?.err()
    }
}
