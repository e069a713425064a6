//! The exit codes. Scripts may rely on these numbers.

use std::process::ExitCode;

use convoke_domain::lane::outcome::LaneOutcome;
use convoke_service::failure::{ErrorClass, Failure};

/// The result of running a command.
pub type CommandResult = Result<Exit, Failure>;

/// The outcome of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The command succeeded, even if the reader closed the pipe early.
    Done,
    /// The check failed.
    No,
    /// Wrong usage or configuration.
    Usage,
    /// A prerequisite is missing.
    Surroundings,
    /// An agent gave no answer.
    LaneFailed,
    /// The budget is spent.
    Budget,
    /// A read-only agent modified the working tree.
    DirtyTree,
    /// A bug in Convoke.
    Bug,
    /// The user interrupted the command.
    Interrupted,
    /// The exit code of the script that a plumbing command replaces; its help has the meanings.
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
            Self::Done => "success, also if the reader closed the output pipe early",
            Self::No => "the check failed",
            Self::Usage => "wrong usage or configuration",
            Self::Surroundings => {
                "a prerequisite is missing: a program, a login, permission, disk space"
            }
            Self::LaneFailed => "an agent gave no answer",
            Self::Budget => "the budget is spent",
            Self::DirtyTree => "a read-only agent modified the working tree",
            Self::Bug => "a bug in Convoke",
            Self::Interrupted => "interrupted, for example with Ctrl-C",
            Self::Script(_) => "documented with the plumbing command",
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
