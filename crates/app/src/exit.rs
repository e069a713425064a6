//! What the process exits with. Scripts may rely on these numbers.

use std::process::ExitCode;

use convoke_domain::lane::outcome::LaneOutcome;
use convoke_service::failure::{ErrorClass, Failure};

/// What running a command comes to.
pub type CommandResult = Result<Exit, Failure>;

/// The outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done. A reader that closed the pipe early is also done.
    Done,
    /// The answer is no.
    No,
    /// Wrong usage or configuration.
    Usage,
    /// Something around us is missing, refused or not ready.
    Surroundings,
    /// An agent gave no answer.
    LaneFailed,
    /// A budget is used up.
    Budget,
    /// A tree changed that nobody was to change.
    DirtyTree,
    /// A bug in Convoke.
    Bug,
    /// Somebody stopped it.
    Interrupted,
    /// What the script exits with that a plumbing command stands for; what it means is said there.
    Script(u8),
}

impl Exit {
    /// Every outcome of commands that are not plumbing, for the reference page.
    pub const ALL: [Self; 9] = [
        Self::Done,
        Self::No,
        Self::Usage,
        Self::Surroundings,
        Self::LaneFailed,
        Self::Budget,
        Self::DirtyTree,
        Self::Bug,
        Self::Interrupted,
    ];

    /// Returns what a command exits with whose lane ended so.
    pub fn of_lane(outcome: LaneOutcome) -> Self {
        ErrorClass::of_lane(outcome).map_or(Self::Done, Self::from)
    }

    /// Returns the number.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::Usage => 2,
            Self::Surroundings => 3,
            Self::LaneFailed => 4,
            Self::Budget => 5,
            Self::DirtyTree => 6,
            Self::Bug => 70,
            Self::Interrupted => 130,
            Self::Script(code) => code,
        }
    }

    /// Returns what the number means.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done; a reader that closed the pipe early is not an error",
            Self::No => "the answer is no",
            Self::Usage => "wrong usage or configuration",
            Self::Surroundings => "something around Convoke is missing, refused or not ready",
            Self::LaneFailed => "an agent gave no answer",
            Self::Budget => "a budget is used up",
            Self::DirtyTree => "the working tree changed although nobody was to change it",
            Self::Bug => "a bug in Convoke",
            Self::Interrupted => "it was interrupted",
            Self::Script(_) => "a plumbing command's own",
        }
    }
}

impl From<ErrorClass> for Exit {
    fn from(class: ErrorClass) -> Self {
        match class {
            ErrorClass::Usage => Self::Usage,
            ErrorClass::Prerequisite => Self::Surroundings,
            ErrorClass::Refused => Self::No,
            ErrorClass::NoAnswer => Self::LaneFailed,
            ErrorClass::OverBudget => Self::Budget,
            ErrorClass::TreeChanged => Self::DirtyTree,
            ErrorClass::Interrupted => Self::Interrupted,
            ErrorClass::Bug => Self::Bug,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
