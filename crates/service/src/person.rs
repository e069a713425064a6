//! What only the person at the keyboard does. A deed of a client, of a lane or of a process that
//! works for an agent is never the person's.

use convoke_domain::scope::AgentName;
use convoke_domain::task::deed::DeedRole;

use crate::environment::Environment;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

/// Why a process does not act for the person.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AgentProcess {
    #[error("this process runs inside a lane")]
    Lane,
    #[error("this process works for @{agent}")]
    Agent { agent: String },
    #[error("this process runs in a session of {client}")]
    Session { client: &'static str },
}

impl AgentProcess {
    /// Returns why this process works for an agent; `None` in the person's own terminal.
    pub(crate) fn of(environment: &Environment) -> Option<Self> {
        if environment.is_in_lane() {
            return Some(Self::Lane);
        }
        if let Some(agent) = environment.agent() {
            return Some(Self::Agent { agent: agent.to_string_lossy().trim().to_owned() });
        }
        Some(Self::Session { client: environment.around()?.name() })
    }

    /// Returns where the person can do it.
    pub(crate) const fn hint(&self) -> &'static str {
        match self {
            Self::Lane => "run it in your own shell, outside of a lane",
            Self::Agent { .. } => "run it in your own shell, without CONVOKE_AGENT",
            Self::Session { .. } => "only the user can do this, in their own terminal",
        }
    }
}

#[derive(Debug, thiserror::Error)]
enum PersonError {
    #[error("cannot act as @human, which is the user: {0}")]
    Actor(AgentProcess),
    #[error("cannot judge as `human`, which is the user: {0}")]
    Judge(AgentProcess),
    #[error("cannot decide for the user: {0}")]
    Decision(AgentProcess),
    #[error("cannot serve the user's dashboard: {0}")]
    Dashboard(AgentProcess),
}

/// Refuses the person as the actor of an agent's process.
pub(crate) fn refuse_actor(session: &Session, actor: &AgentName) -> Result<(), Failure> {
    match AgentProcess::of(&session.environment) {
        Some(process) if actor.is_human() => {
            let hint = "leave out `--as human`, or name the agent that acts: `--as NAME`";
            let failure = Failure::new(ErrorClass::Refused, PersonError::Actor(process));
            Err(failure.hint(hint))
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses the person as the judge of a verdict that an agent's process records.
pub(crate) fn refuse_judge(session: &Session, role: &DeedRole) -> Result<(), Failure> {
    match AgentProcess::of(&session.environment) {
        Some(process) if role.as_str() == AgentName::human().as_str() => {
            let hint = "name the role that judged, such as `--by spec-reviewer`";
            let failure = Failure::new(ErrorClass::Refused, PersonError::Judge(process));
            Err(failure.hint(hint))
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses a decision that is the person's in an agent's process.
pub(crate) fn refuse_decision(session: &Session) -> Result<(), Failure> {
    let Some(process) = AgentProcess::of(&session.environment) else { return Ok(()) };
    let hint = process.hint();
    Err(Failure::new(ErrorClass::Refused, PersonError::Decision(process)).hint(hint))
}

/// Refuses the dashboard in an agent's process: its forms act as the person.
pub(crate) fn refuse_dashboard(session: &Session) -> Result<(), Failure> {
    let Some(process) = AgentProcess::of(&session.environment) else { return Ok(()) };
    let hint = process.hint();
    Err(Failure::new(ErrorClass::Refused, PersonError::Dashboard(process)).hint(hint))
}

/// Returns the agent that `CONVOKE_AGENT` names, if it is set.
pub(crate) fn agent_of_variable(session: &Session) -> Result<Option<AgentName>, Failure> {
    session.environment.named_agent().transpose().map_err(|error| {
        Failure::new(ErrorClass::Usage, error)
            .hint("set CONVOKE_AGENT to an agent's name, or unset it")
    })
}
