//! The word by which journals and ledgers name the agent of a lane, in its parts.

/// The agent that a word names. Any word can be read: journals keep those of other versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentWord<'a> {
    /// A client's program, such as `claude`.
    Client(&'a str),
    /// An agent of the Agent Client Protocol: `acp:NAME`.
    Acp(&'a str),
    /// A model's API: `http:NAME`.
    Http(&'a str),
    /// Recorded lanes: `replay:FILE`.
    Replay(&'a str),
    /// An agent on another machine: `fleet:AGENT` or `fleet:AGENT@REPOSITORY`.
    Fleet {
        /// The agent, as the worker's machine names it.
        agent: &'a str,
        /// The repository that it works in; without one, an empty folder.
        repository: Option<&'a str>,
    },
}

impl<'a> AgentWord<'a> {
    /// Reads a word.
    pub fn parse(word: &'a str) -> Self {
        match word.split_once(':') {
            Some(("acp", name)) => Self::Acp(name),
            Some(("http", name)) => Self::Http(name),
            Some(("replay", file)) => Self::Replay(file),
            Some(("fleet", offer)) => match offer.split_once('@') {
                Some((agent, repository)) => Self::Fleet { agent, repository: Some(repository) },
                None => Self::Fleet { agent: offer, repository: None },
            },
            Some(_) | None => Self::Client(word),
        }
    }

    /// Tells whether a recording answers: it costs nothing and looks at nothing.
    pub const fn is_recorded(self) -> bool {
        matches!(self, Self::Replay(_))
    }

    /// Tells whether the agent that answers in the end can read the project's files: a model's API
    /// alone cannot, and on another machine an agent without a repository has none.
    pub fn has_tools(self) -> bool {
        match self {
            Self::Client(_) | Self::Acp(_) | Self::Replay(_) => true,
            Self::Http(_) => false,
            Self::Fleet { agent, repository } => {
                repository.is_some() && Self::parse(agent).has_tools()
            }
        }
    }

    /// Returns the agent that answers in the end: for one on another machine, as that machine names it.
    #[must_use]
    pub fn here(self) -> Self {
        match self {
            Self::Fleet { agent, .. } => Self::parse(agent),
            Self::Client(_) | Self::Acp(_) | Self::Http(_) | Self::Replay(_) => self,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::AgentWord::{self, Acp, Client, Fleet, Http, Replay};

    #[test]
    fn a_word_is_read_in_its_parts() {
        let fleet = |agent, repository| Fleet { agent, repository };
        for (word, expected, has_tools) in [
            ("claude", Client("claude"), true),
            ("acp:codex", Acp("codex"), true),
            ("http:small", Http("small"), false),
            ("replay:a:b c.jsonl", Replay("a:b c.jsonl"), true),
            ("fleet:claude", fleet("claude", None), false),
            ("fleet:claude@app", fleet("claude", Some("app")), true),
            ("fleet:acp:mine@app", fleet("acp:mine", Some("app")), true),
            ("fleet:http:small@app", fleet("http:small", Some("app")), false),
            ("", Client(""), true),
            ("later:kind", Client("later:kind"), true),
            ("http", Client("http"), true),
        ] {
            let read = AgentWord::parse(word);
            assert_eq!(read, expected, "{word}");
            assert_eq!(read.has_tools(), has_tools, "{word}");
            assert_eq!(read.is_recorded(), word.starts_with("replay:"), "{word}");
        }
        assert_eq!(AgentWord::parse("fleet:acp:mine@app").here(), Acp("mine"));
    }
}
