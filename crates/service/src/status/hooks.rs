//! Where clients have Convoke's hooks, and when a wake-up last arrived.

use convoke_domain::client::Client;
use convoke_engine::client::adapter;
use convoke_engine::hooks::HooksLevel;
use serde::Serialize;

use crate::failure::with_causes;
use crate::hooks::{HooksReport, HooksTarget, WakeArrival, hooks_status};
use crate::session::Session;

/// The state of a client's hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientHooks {
    /// The client's word, such as `claude` or `codex`.
    pub client: String,
    /// Whether it has hooks, in the project's settings or the user's.
    pub installed: bool,
    /// When a wake-up was last delivered.
    pub delivered_at: Option<String>,
    /// When one was last seen in the client's own record.
    pub arrived_at: Option<String>,
    /// Whether the last delivered wake-up arrived; `None` if none was delivered.
    pub arrival: Option<WakeArrival>,
    /// Why nothing can be delivered at present, and what to do about it.
    pub problem: Option<String>,
}

/// Returns the hooks' state for every client that is on the PATH or has hooks.
pub fn hooks_of_clients(session: &Session) -> Vec<ClientHooks> {
    let found = Client::WITH_HOOKS.into_iter().map(|client| hooks_of(session, client));
    let is_there = |hooks: &ClientHooks| {
        let client = Client::parse(&hooks.client);
        let programs = client.map(|client| adapter(client).programs).unwrap_or_default();
        session.environment.find_program(programs, &session.project).is_some()
    };
    found.filter(|hooks| hooks.installed || is_there(hooks)).collect()
}

fn hooks_of(session: &Session, client: Client) -> ClientHooks {
    let at = |level| hooks_status(session, &HooksTarget { client, level });
    let project = at(HooksLevel::Project);
    let user = match &project {
        Ok(report) if report.installed => None,
        Ok(_) | Err(_) => at(HooksLevel::User).ok().filter(|report| report.installed),
    };
    match (user, project) {
        (Some(report), _) | (None, Ok(report)) => ClientHooks::of(client, report),
        (None, Err(failure)) => ClientHooks {
            client: client.name().to_owned(),
            installed: false,
            delivered_at: None,
            arrived_at: None,
            arrival: None,
            problem: Some(with_causes(failure.error.as_ref())),
        },
    }
}

impl ClientHooks {
    fn of(client: Client, report: HooksReport) -> Self {
        let problem = report.not_delivered.filter(|_| report.installed);
        Self {
            client: client.name().to_owned(),
            installed: report.installed,
            delivered_at: report.delivered_at,
            arrived_at: report.arrived_at,
            arrival: report.arrival,
            problem: problem.map(|found| format!("{}; {}", found.why, found.fix)),
        }
    }
}
