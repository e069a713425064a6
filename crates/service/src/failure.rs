//! An error on its way to the user: what, why, and what to do next.

use std::error::Error;

use convoke_domain::lane::outcome::LaneOutcome;

/// The kind of problem that ended a use case. Front ends map it: the command line to exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorClass {
    /// Wrong usage or configuration.
    Usage,
    /// A prerequisite is missing: a program, a login, permission, disk space.
    Prerequisite,
    /// Convoke checked, and the check failed.
    Refused,
    /// An agent gave no answer.
    NoAnswer,
    /// A budget is used up.
    OverBudget,
    /// A read-only agent modified the working tree.
    TreeChanged,
    /// The user stopped it.
    Interrupted,
    /// A bug in Convoke.
    Bug,
}

impl ErrorClass {
    /// Returns the class in a word, for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::Prerequisite => "prerequisite",
            Self::Refused => "refused",
            Self::NoAnswer => "no_answer",
            Self::OverBudget => "over_budget",
            Self::TreeChanged => "tree_changed",
            Self::Interrupted => "interrupted",
            Self::Bug => "bug",
        }
    }

    /// Returns the class of a lane's failure; `None` if it answered.
    pub fn of_lane(outcome: LaneOutcome) -> Option<Self> {
        if outcome == LaneOutcome::Answered {
            None
        } else if outcome == LaneOutcome::Cancelled {
            Some(Self::Interrupted)
        } else if outcome == LaneOutcome::OverBudget {
            Some(Self::OverBudget)
        } else {
            Some(Self::NoAnswer)
        }
    }
}

/// Ends a use case: a message with its causes behind it, and hints.
#[derive(Debug)]
pub struct Failure {
    /// The kind of problem.
    pub class: ErrorClass,
    /// The message, with its causes behind it.
    pub error: Box<dyn Error + Send + Sync>,
    /// The user's next steps.
    pub hints: Vec<String>,
}

impl Failure {
    /// Wraps an error.
    pub fn new(class: ErrorClass, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { class, error: error.into(), hints: Vec::new() }
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a hint, if there is one.
    #[must_use]
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hints.extend(hint);
        self
    }
}

/// Returns the listed word nearest to a mistyped one, as a hint.
pub fn did_you_mean<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    known
        .into_iter()
        .map(|word| (strsim::damerau_levenshtein(given, word), word))
        .filter(|(distance, word)| *distance <= word.len().div_ceil(3))
        .min()
        .map(|(_, word)| format!("did you mean `{word}`?"))
}

/// Returns an error with all its causes, in one line.
pub fn with_causes(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        words = format!("{words}: {error}");
        cause = error.source();
    }
    words
}
