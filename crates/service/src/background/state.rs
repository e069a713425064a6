//! The kinds of background runs, and how far one is.

use std::fmt;

use convoke_domain::run::RunState;
use serde::{Deserialize, Serialize};

/// The kind of a background run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BackgroundKind {
    /// A panel plans a feature, as `convoke design` does.
    Design,
    /// One round of a role.
    Dispatch,
    /// One agent.
    Lane,
}

impl fmt::Display for BackgroundKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Design => "design",
            Self::Dispatch => "dispatch",
            Self::Lane => "lane",
        })
    }
}

/// How far a background run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BackgroundState {
    /// Its process begins.
    Starting,
    /// Its process works.
    Running,
    /// It waits for an answer.
    NeedsAnswer,
    /// It came to its end.
    Ended,
    /// It was stopped, and can be resumed.
    Stopped,
    /// It was not allowed to begin.
    Refused,
    /// Its process ended without a report.
    Failed,
}

impl BackgroundState {
    /// Tells whether it goes on by itself.
    pub const fn goes_on(self) -> bool {
        matches!(self, Self::Starting | Self::Running)
    }
}

impl From<RunState> for BackgroundState {
    fn from(state: RunState) -> Self {
        match state {
            RunState::Running => Self::Running,
            RunState::Ended => Self::Ended,
            RunState::Refused => Self::Refused,
            RunState::Stopped => Self::Stopped,
        }
    }
}

impl fmt::Display for BackgroundState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Starting => "starting",
            Self::Running => "running",
            Self::NeedsAnswer => "needs_answer",
            Self::Ended => "ended",
            Self::Stopped => "stopped",
            Self::Refused => "refused",
            Self::Failed => "failed",
        })
    }
}
