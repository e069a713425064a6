//! Scopes of work: a project's branch, and the agents in it.

use std::fmt;

/// A branch of a project. Everything stored belongs to exactly one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// The project, by a name that all its worktrees share.
    pub project: String,
    /// The branch by its short name, such as `main`.
    pub branch: String,
}

impl Scope {
    /// Names a scope.
    pub fn new(project: impl Into<String>, branch: impl Into<String>) -> Self {
        Self { project: project.into(), branch: branch.into() }
    }
}

/// An agent's name, in lower case: what follows `@` in a mention.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AgentName(String);

/// A text that cannot be mentioned.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{given}` is not a valid agent name: a name is ASCII letters, digits, `.`, `_`, `/` and `-`, \
     begins with a letter or digit, and does not end with `.`, `/` or `-`"
)]
pub struct InvalidAgentName {
    given: String,
}

impl AgentName {
    /// Reads a name, with or without its `@`. Capitals do not matter.
    pub fn parse(given: &str) -> Result<Self, InvalidAgentName> {
        let name = given.strip_prefix('@').unwrap_or(given);
        // A name that ends like a sentence could never be mentioned at the end of one.
        let usable = name.chars().all(is_name_character)
            && name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !name.ends_with(SENTENCE_ENDS);
        if usable {
            Ok(Self(name.to_ascii_lowercase()))
        } else {
            Err(InvalidAgentName { given: given.to_owned() })
        }
    }

    /// Takes a name unchanged, from a mention or from a store; neither can be refused.
    pub fn known(name: &str) -> Self {
        Self(name.to_ascii_lowercase())
    }

    /// The person at the keyboard, who receives messages and is never woken.
    pub fn human() -> Self {
        Self("human".to_owned())
    }

    /// Returns the name without `@`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Tells whether this is the person at the keyboard.
    pub fn is_human(&self) -> bool {
        self.0 == "human"
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Characters that names of agents, branches and projects are made of.
pub(crate) fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '/' | '-')
}

/// Name characters that end a sentence more often than a name.
pub(crate) const SENTENCE_ENDS: [char; 3] = ['.', '-', '/'];

/// An agent in its scope. Prints as `project:branch:agent`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Address {
    /// The scope that it works in.
    pub scope: Scope,
    /// The agent's name, unique in that scope.
    pub agent: AgentName,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.scope.project, self.scope.branch, self.agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_can_be_mentioned() {
        for (given, name) in [("Impl-1", "impl-1"), ("@June", "june"), ("agent.1", "agent.1")] {
            assert_eq!(AgentName::parse(given).unwrap().as_str(), name);
        }
        for given in ["", "@", "a b", "a:b", "é", "-x", "backend.", "a\n"] {
            assert!(AgentName::parse(given).is_err(), "{given:?}");
        }
    }
}
