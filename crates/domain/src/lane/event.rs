//! A client's messages while its agent works, in a form that all clients share.

use std::fmt;

use super::reset::ResetHint;

/// One message of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LaneEvent {
    /// The session has this name; it can be resumed by it.
    Session(String),
    /// This model answers.
    Model(String),
    /// The agent's rights, as the client reports them.
    Rights(GrantedRights),
    /// The agent wrote this text.
    Text(String),
    /// The agent used a tool.
    Tool(String),
    /// This was spent. Whether it counts the whole session or this run alone, the client's adapter
    /// knows.
    Usage(Usage),
    /// The turn is over.
    Ended(TurnEnd),
    /// An error that does not end the turn: a retry, a warning.
    Trouble(LaneFailure),
}

/// An agent's rights, as its client reports them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GrantedRights {
    /// The client's word for its permission mode.
    pub mode: Option<String>,
    /// The tools that the agent has.
    pub tools: Vec<String>,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnEnd {
    /// The answer, where the end carries it.
    pub answer: Option<String>,
    /// The failure, if there is one. An end without one is a success as far as the client knows.
    pub failure: Option<LaneFailure>,
}

/// Something that went wrong, as far as a client tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// In the client's own words.
    pub message: String,
    /// When the limit ends, where a header or a field says so. Words are read only when a lane ends.
    pub reset: Option<ResetHint>,
}

/// The kinds of failure between a client and its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The client is not logged in, or the service refuses the key.
    Auth,
    /// Too many requests, or no quota left.
    RateLimited,
    /// The client does not know a flag, or refuses a setting.
    RefusedFlags,
    /// The session to resume is not there.
    NoSession,
    /// A limit of the client's own was reached: turns, money.
    OverBudget,
    /// The client printed a line that is too long to read; it may have been the answer.
    LongLine,
    /// The answer reached its greatest length; the beginning is there.
    CutOff,
    /// Another run of the same client was at its files.
    Clash,
    /// Anything else.
    Other,
}

impl FailureKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::Auth,
        Self::RateLimited,
        Self::RefusedFlags,
        Self::NoSession,
        Self::OverBudget,
        Self::LongLine,
        Self::CutOff,
        Self::Clash,
        Self::Other,
    ];

    /// Returns the word that is stored and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auth => "auth",
            Self::RateLimited => "rate_limited",
            Self::RefusedFlags => "refused_flags",
            Self::NoSession => "no_session",
            Self::OverBudget => "over_budget",
            Self::LongLine => "long_line",
            Self::CutOff => "cut_off",
            Self::Clash => "clash",
            Self::Other => "other",
        }
    }

    /// Returns the kind stored as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Usage, as far as a client counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Tokens of the prompts, with those that came from a cache.
    pub input: u64,
    /// Of these, tokens that came from a cache.
    pub cached: u64,
    /// Tokens of the answers, with those of reasoning.
    pub output: u64,
    /// Of these, tokens of reasoning.
    pub reasoning: u64,
    /// Money in millionths of a dollar, where the client says it.
    pub micro_dollars: Option<u64>,
}

impl Usage {
    /// Returns all tokens, also those that came from a cache.
    pub const fn tokens(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Adds what another run spent.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            output: self.output.saturating_add(other.output),
            reasoning: self.reasoning.saturating_add(other.reasoning),
            micro_dollars: match (self.micro_dollars, other.micro_dollars) {
                (Some(one), Some(more)) => Some(one.saturating_add(more)),
                (known, None) | (None, known) => known,
            },
        }
    }

    /// Returns the usage since an earlier count of the same session. A counter that decreased was
    /// reset.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        let began_anew = self.input < earlier.input || self.output < earlier.output;
        if began_anew {
            return self;
        }
        Self {
            input: self.input - earlier.input,
            cached: self.cached.saturating_sub(earlier.cached),
            output: self.output - earlier.output,
            reasoning: self.reasoning.saturating_sub(earlier.reasoning),
            micro_dollars: self
                .micro_dollars
                .map(|now| now.saturating_sub(earlier.micro_dollars.unwrap_or_default())),
        }
    }
}

impl fmt::Display for LaneFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.message.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64, micro_dollars: Option<u64>) -> Usage {
        Usage { input, output, micro_dollars, ..Usage::default() }
    }

    #[test]
    fn kinds_have_names() {
        for kind in FailureKind::ALL {
            assert_eq!(FailureKind::parse(kind.name()), Some(kind));
        }
        assert_eq!(FailureKind::parse("odd"), None);
    }

    // Clients count a resumed session from its beginning.
    #[test]
    fn cumulative_counts_become_differences() {
        let (first, second) = (usage(1200, 42, Some(900)), usage(2500, 84, Some(1500)));
        assert_eq!(second.since(first), usage(1300, 42, Some(600)));
        assert_eq!(first.since(Usage::default()), first);
        assert_eq!(usage(100, 5, None).since(first), usage(100, 5, None), "it began anew");
        assert_eq!(first.plus(usage(1, 2, None)), usage(1201, 44, Some(900)));
    }
}
