//! What only the user may do: an agent could otherwise be rid of the user's rules.

use std::fmt;

use crate::failure::{ErrorClass, Failure};
use crate::person::AgentProcess;
use crate::session::Session;

/// A change that decides which rules reach an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserOnly {
    /// Adding, changing or removing rules.
    Rules,
    /// The settings that decide what wake-ups deliver.
    WakeSettings,
    /// Taking hooks away.
    HookRemoval,
    /// Who belongs to the team.
    Team,
    /// Binding sessions that belong to an agent to another one.
    Rebinding,
}

impl fmt::Display for UserOnly {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Rules => "change your rules",
            Self::WakeSettings => "change what wake-ups deliver",
            Self::HookRemoval => "remove hooks",
            Self::Team => "change the team",
            Self::Rebinding => "bind your sessions to another agent",
        })
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot {what}: {process}")]
struct UserOnlyError {
    what: UserOnly,
    process: AgentProcess,
}

/// Refuses a process that works for an agent.
pub(crate) fn refuse_agents(session: &Session, what: UserOnly) -> Result<(), Failure> {
    let Some(process) = AgentProcess::of(&session.environment) else { return Ok(()) };
    let hint = process.hint();
    Err(Failure::new(ErrorClass::Refused, UserOnlyError { what, process }).hint(hint))
}
