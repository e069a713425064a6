//! What only the user may do: an agent could otherwise be rid of the user's rules.

use std::fmt;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

/// A change that decides which rules reach an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UserOnly {
    /// The rules.
    Rules,
    /// The settings that decide what wake-ups deliver.
    WakeSettings,
    /// Taking hooks away.
    HookRemoval,
    /// Binding sessions that belong to an agent to another one.
    Rebinding,
}

impl fmt::Display for UserOnly {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Rules => "change your rules",
            Self::WakeSettings => "change what wake-ups deliver",
            Self::HookRemoval => "remove hooks",
            Self::Rebinding => "bind your sessions to another agent",
        })
    }
}

#[derive(Debug, thiserror::Error)]
enum UserOnlyError {
    #[error("cannot {what}: this process works for @{agent}")]
    Agent { what: UserOnly, agent: String },
    #[error("cannot {what}: this process runs inside a lane")]
    Lane { what: UserOnly },
    #[error("cannot {what}: this process runs in a session of {client}")]
    Session { what: UserOnly, client: &'static str },
}

/// Refuses a process that works for an agent.
pub(crate) fn refuse_agents(session: &Session, what: UserOnly) -> Result<(), Failure> {
    if session.environment.is_in_lane() {
        let hint = "run it in your own shell, outside of a lane";
        return Err(Failure::new(ErrorClass::Refused, UserOnlyError::Lane { what }).hint(hint));
    }
    if let Some(agent) = session.environment.agent() {
        let agent = agent.to_string_lossy().into_owned();
        let hint = "run it in your own shell, without CONVOKE_AGENT";
        let error = UserOnlyError::Agent { what, agent };
        return Err(Failure::new(ErrorClass::Refused, error).hint(hint));
    }
    let Some(client) = session.environment.around() else { return Ok(()) };
    let error = UserOnlyError::Session { what, client: client.name() };
    Err(Failure::new(ErrorClass::Refused, error)
        .hint("only the user can do this, in their own terminal"))
}
