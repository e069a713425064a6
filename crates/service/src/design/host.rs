//! Whether the host can answer, before Convoke records a run: it writes the plan, and takes the
//! seats of agents that cannot.

use convoke_domain::client::Client;
use convoke_domain::design::policy::Policy;
use convoke_domain::lane::health::AgentHealth;
use convoke_engine::client::adapter;
use convoke_engine::lane::agent_ref::AgentRef;

use super::DesignError;
use super::begin::DesignRequest;
use super::front_end::DesignFrontEnd;
use super::seats::Seats;
use crate::agents::{ProbePolicy, healths_of};
use crate::failure::{ErrorClass, Failure};
use crate::lane::remedy;
use crate::session::Session;

/// Refuses a design if each lane of its host would fail until a person does something. A remembered
/// failure does not count, because the person may have logged in since: Convoke probes again.
pub(super) fn check_host(
    session: &Session,
    request: &DesignRequest,
    seats: &Seats,
    front_end: &mut dyn DesignFrontEnd,
) -> Result<(), Failure> {
    let is_called = request.calling_session().is_some();
    if request.course.no_probe || request.policy == Policy::Seed || is_called {
        return Ok(());
    }
    let [_, _, host] = &seats.agents;
    let word = host.agent.as_str();
    let health = |probing| Ok::<_, Failure>(healths_of(&[word], probing, session)?.pop().flatten());
    let probing = match health(ProbePolicy::Never)? {
        Some(AgentHealth::Sick(_)) => ProbePolicy::Afresh,
        // One probe costs less than a failure in every seat.
        Some(AgentHealth::NotAsked) if is_alone(session, seats) => ProbePolicy::Unknown,
        _ => return Ok(()),
    };
    front_end.works(Some(&format!("asking {word} whether it answers")));
    let found = health(probing);
    front_end.works(None);
    let found = found.map_err(|failure| {
        if failure.class == ErrorClass::Interrupted {
            return Failure::new(ErrorClass::Interrupted, DesignError::Stopped);
        }
        failure
    })?;
    let Some(AgentHealth::Sick(Some(cause))) = found else { return Ok(()) };
    let Some(outcome) = cause.outcome.filter(|outcome| outcome.needs_a_person()) else {
        return Ok(());
    };
    let error = DesignError::HostCannotAnswer { host: word.to_owned(), why: cause.words };
    let remedy = AgentRef::parse(word).and_then(|agent| remedy(&agent, outcome));
    let failure =
        remedy.into_iter().fold(Failure::new(ErrorClass::Prerequisite, error), Failure::hint);
    Err(failure.hint("or name another host: `convoke design --seats FIRST,SECOND,HOST …`"))
}

/// Tells whether every seat falls to the host, because the other clients are not installed.
fn is_alone(session: &Session, seats: &Seats) -> bool {
    let [first, second, _] = &seats.agents;
    [first, second].into_iter().all(|other| {
        Client::parse(&other.agent).is_some_and(|client| {
            let programs = adapter(client).programs;
            session.environment.find_program(programs, &session.project).is_none()
        })
    })
}
