//! Binds a client's session to an agent.

use convoke_domain::client::Client;
use convoke_domain::scope::{Address, AgentName};
use convoke_store::delivery::{BoundSession, Session as ClientSession};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::HumanAgent;
use crate::failure::{ErrorClass, Failure};
use crate::message::nearest_agent;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// A session that began or was compacted within this time may still be open.
const RECENT: SignedDuration = SignedDuration::from_hours(12);

#[derive(Debug, thiserror::Error)]
enum UnknownSession {
    #[error("cannot find the session: no session of this project has called a hook")]
    None,
    #[error("cannot choose a session: {} began lately: {}", .0.len(), .0.join(", "))]
    Several(Vec<String>),
    #[error("cannot choose a session: this runs inside {}", .0.join(" and "))]
    Nested(Vec<String>),
    #[error("there is no session `{0}` in this project")]
    NoSuch(String),
}

/// A session that belongs to an agent.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundSessionReport {
    /// The client that the session belongs to.
    pub client: &'static str,
    /// The session, by its client's own name for it.
    pub session_id: String,
    /// The agent that the session belongs to.
    pub agent: String,
    /// Whether Convoke added that agent, because there was none of this name.
    pub added: bool,
    /// The agent that it belonged to.
    pub before: Option<String>,
}

/// Binds a client's session to an agent, which is added if it is new. Without an id, the session is
/// the one that this process runs in, else the only one of the project that may still be open.
pub fn bind_session(
    session: &Session,
    name: &AgentName,
    id: Option<&str>,
) -> Result<BoundSessionReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    if name.is_human() {
        return Err(Failure::new(ErrorClass::Usage, HumanAgent("bind a session to")));
    }
    let Workspace { store, scope } = &workspace;
    let known = store.sessions(&scope.project).map_err(refused)?;
    let (client, id) = meant(session, id, &known).map_err(|error| {
        Failure::new(ErrorClass::Refused, error)
            .hint("name one with `--session ID`, the client's id of the session")
            .hint(format!("or start a client with `CONVOKE_AGENT={name}` set"))
    })?;
    let bound = ClientSession { client, id: &id };
    let before = store.bound(bound).map_err(refused)?;
    let is_new = store.agent(scope, name).map_err(refused)?.is_none();
    if is_new {
        store.add_agent(scope, name, client.name()).map_err(refused)?;
        let nearest = nearest_agent(&workspace, scope, name)?;
        let nearest = nearest.map_or_else(String::new, |words| format!("; {words}"));
        session.reporter().remark(format!(
            "there was no agent `{name}` on {}, so Convoke added it{nearest}",
            scope.branch
        ));
    }
    let address = Address { scope: scope.clone(), agent: name.clone() };
    store.bind(bound, &address).map_err(refused)?;
    if let Some(Ok(other)) = session.environment.named_agent()
        && other != *name
    {
        let words = format!("CONVOKE_AGENT is set, so its hooks still wake @{other}");
        session.reporter().warn(words);
    }
    Ok(BoundSessionReport {
        client: client.name(),
        session_id: id,
        agent: name.to_string(),
        added: is_new,
        before: before.map(|address| address.agent.to_string()),
    })
}

/// Returns the session that the caller refers to, or the only one.
fn meant(
    session: &Session,
    id: Option<&str>,
    known: &[BoundSession],
) -> Result<(Client, String), UnknownSession> {
    let whole = |session: &BoundSession| (session.client, session.id.clone());
    if let Some(id) = id {
        let found = known.iter().find(|session| session.id == id).map(whole);
        return found.ok_or_else(|| UnknownSession::NoSuch(id.to_owned()));
    }
    let mut inside = session.environment.client_sessions();
    match (inside.len(), inside.pop()) {
        (1, Some(session)) => return Ok(session),
        (0, _) | (_, None) => {}
        (_, Some(last)) => {
            inside.push(last);
            let name = |(client, id): &(Client, String)| format!("{} {id}", client.name());
            return Err(UnknownSession::Nested(inside.iter().map(name).collect()));
        }
    }
    let recent = recent(known, session.now());
    match recent.as_slice() {
        [one] => Ok(whole(one)),
        [] => known.first().map(whole).ok_or(UnknownSession::None),
        several => {
            let name =
                |session: &&BoundSession| format!("{} {}", session.client.name(), session.id);
            Err(UnknownSession::Several(several.iter().map(name).collect()))
        }
    }
}

/// Returns the sessions that may still be open.
fn recent(known: &[BoundSession], now: Timestamp) -> Vec<&BoundSession> {
    let is_recent = |session: &&BoundSession| {
        session.noticed_at.is_some_and(|at| now.duration_since(at) < RECENT)
    };
    known.iter().filter(is_recent).collect()
}
