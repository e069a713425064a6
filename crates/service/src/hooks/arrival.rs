//! Whether the last wake-up arrived, by the client's own record of the session.

use convoke_domain::client::Client;
use convoke_domain::hook::Trace;
use convoke_engine::hook::trace_of_session;
use convoke_store::delivery::{Activity, Session as ClientSession};
use jiff::Timestamp;
use serde::Serialize;

use crate::failure::Failure;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// How many sessions of a project are searched for the one that got the last wake-up.
const MOST_SESSIONS: usize = 32;

/// What is known about the arrival of a delivered wake-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WakeArrival {
    /// The client's record of the session has all of it.
    Arrived,
    /// The client's record does not have it, although the agent has answered since.
    Missing,
    /// Convoke found no record of the session, cannot read it, or the agent has not answered yet.
    Unknown,
}

/// Tells whether the last wake-up that a client's hooks delivered in this project arrived; `None` if
/// they delivered none.
pub(super) fn wake_arrival(
    session: &Session,
    workspace: &Workspace,
    client: Client,
    activity: &Activity,
) -> Result<Option<WakeArrival>, Failure> {
    let Some(delivered_at) = activity.delivered_at else { return Ok(None) };
    if activity.arrived_at.is_some() {
        return Ok(Some(WakeArrival::Arrived));
    }
    let Workspace { store, scope } = workspace;
    let sessions = store.sessions(&scope.project).map_err(refused)?;
    let of_client = sessions.iter().filter(|bound| bound.client == client);
    for bound in of_client.take(MOST_SESSIONS) {
        let of = ClientSession { client, id: &bound.id };
        let arrival = arrival_in(session, workspace, of, delivered_at)?;
        if arrival.is_some() {
            return Ok(arrival);
        }
    }
    Ok(Some(WakeArrival::Unknown))
}

/// Tells whether a client's session has what was delivered to it at this time; `None` if something
/// else was delivered to it last.
pub(crate) fn arrival_in(
    session: &Session,
    workspace: &Workspace,
    of: ClientSession<'_>,
    delivered_at: Timestamp,
) -> Result<Option<WakeArrival>, Failure> {
    let last = workspace.store.last_text(of, 1).map_err(refused)?;
    let Some(last) = last.filter(|last| last.at == delivered_at) else { return Ok(None) };
    let homes = session.environment.client_homes();
    Ok(Some(match trace_of_session(of, &last, &homes) {
        Trace::Found | Trace::Forgotten => WakeArrival::Arrived,
        Trace::Missing => WakeArrival::Missing,
        Trace::Unknown => WakeArrival::Unknown,
    }))
}
