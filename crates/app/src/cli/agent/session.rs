//! `convoke agent use`: whose the present session is.

use convoke_domain::client::Client;
use convoke_domain::scope::{Address, AgentName};
use convoke_store::delivery::{BoundSession, Session};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::HumanAgent;
use crate::app::{App, Format};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// A session that began or was compacted within this time may still be open.
const RECENT: SignedDuration = SignedDuration::from_hours(12);

/// Bind the present session to an agent
///
/// From now on the session's wake-ups are this agent's, until it ends. Claude Code and Codex tell
/// the commands that they run which session it is. From elsewhere, the session is the only one of
/// this project that began or was compacted lately, or the one that you name.
#[derive(Debug, clap::Args)]
pub(super) struct UseArgs {
    /// The agent, which is added if it is new
    #[arg(value_parser = AgentName::parse)]
    name: AgentName,

    /// The session, by its client's own name for it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum UnknownSession {
    #[error("cannot tell which session is meant: no session of this project has called a hook")]
    None,
    #[error("cannot tell which session is meant: {} began lately: {}", .0.len(), .0.join(", "))]
    Several(Vec<String>),
    #[error("cannot tell which session is meant: this runs inside {}", .0.join(" and "))]
    Nested(Vec<String>),
    #[error("there is no session `{0}` in this project")]
    NoSuch(String),
}

#[derive(Serialize)]
struct Report<'a> {
    client: &'static str,
    session_id: &'a str,
    agent: &'a str,
    /// Whose it was.
    before: Option<&'a str>,
}

impl UseArgs {
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        if self.name.is_human() {
            return Err(Failure::new(ErrorClass::Usage, HumanAgent));
        }
        let Workspace { store, scope } = workspace;
        let known = store.sessions(&scope.project).map_err(refused)?;
        let (client, id) = self.session(&known, app).map_err(|error| {
            Failure::new(ErrorClass::Refused, error)
                .hint("`--session ID` names one, by its client's own name for it")
                .hint(format!("or begin a client with `CONVOKE_AGENT={}` set", self.name))
        })?;
        let session = Session { client, id: &id };
        let before = store.bound(session).map_err(refused)?;
        if store.agent(scope, &self.name).map_err(refused)?.is_none() {
            store.add_agent(scope, &self.name, client.name()).map_err(refused)?;
        }
        let address = Address { scope: scope.clone(), agent: self.name.clone() };
        store.bind(session, &address).map_err(refused)?;
        let before = before.as_ref().map(|address| address.agent.as_str());
        let (agent, client) = (self.name.as_str(), client.name());
        match app.format {
            Format::Json => output.json(&Report { client, session_id: &id, agent, before })?,
            Format::Text => output.data(&format!("{client} session {id} belongs to @{agent}\n"))?,
        }
        if let Some(other) = app.environment.agent().filter(|other| other != agent) {
            let other = other.to_string_lossy();
            output.say(&format!("warning: CONVOKE_AGENT is set, so its hooks still wake @{other}"));
        }
        Ok(Exit::Done)
    }

    /// Returns the session that is meant.
    fn session(
        &self,
        known: &[BoundSession],
        app: &App,
    ) -> Result<(Client, String), UnknownSession> {
        let whole = |session: &BoundSession| (session.client, session.id.clone());
        if let Some(id) = &self.session {
            let found = known.iter().find(|session| session.id == *id).map(whole);
            return found.ok_or_else(|| UnknownSession::NoSuch(id.clone()));
        }
        let mut inside = app.environment.client_sessions();
        match (inside.len(), inside.pop()) {
            (1, Some(session)) => return Ok(session),
            (0, _) | (_, None) => {}
            (_, Some(last)) => {
                inside.push(last);
                let name = |(client, id): &(Client, String)| format!("{} {id}", client.name());
                return Err(UnknownSession::Nested(inside.iter().map(name).collect()));
            }
        }
        let recent = recent(known, now());
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
}

/// Returns the sessions that may still be open.
fn recent(known: &[BoundSession], now: Timestamp) -> Vec<&BoundSession> {
    let is_recent = |session: &&BoundSession| {
        session.noticed_at.is_some_and(|at| now.duration_since(at) < RECENT)
    };
    known.iter().filter(is_recent).collect()
}
