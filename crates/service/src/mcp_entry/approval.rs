//! Whether a client starts the server without asking its user.

use convoke_engine::client::{ApprovalPlaces, ServerApproval, adapter};
use convoke_engine::hooks::HooksLevel;
use serde::Serialize;

use super::McpEntryTarget;
use crate::hooks::project_roots;
use crate::session::Session;

/// Whether a client starts the server without asking its user, as far as the client's files tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpApprovalReport {
    /// `given`, `needed`, `refused` or `unknown`.
    pub state: &'static str,
    /// What the user has to do, or why that is unknown; nothing if it is given.
    pub what: Option<String>,
}

impl McpApprovalReport {
    /// Returns what the user has to do in a sentence, or that this is unknown; `None` if there is
    /// nothing to do.
    pub fn sentence(&self) -> Option<String> {
        let what = self.what.as_ref()?;
        Some(match self.state {
            "unknown" => format!("approval: unknown, {what}"),
            _ => what.clone(),
        })
    }
}

impl McpEntryTarget {
    /// Tells whether the client starts the server without asking its user; `None` for a client without
    /// servers.
    pub(crate) fn approval(self, session: &Session) -> Option<McpApprovalReport> {
        let wiring = adapter(self.client).server.as_ref()?;
        let user = Self { level: HooksLevel::User, ..self };
        let client_home = session.environment.client_home(self.client);
        let approval = match (user.path(session), client_home) {
            (Ok(user_file), Some(client_home)) => (wiring.approval)(&ApprovalPlaces {
                level: self.level,
                roots: project_roots(session),
                client_home,
                user_file,
            }),
            (Err(_), _) | (_, None) => ServerApproval::Unknown("HOME is not set".to_owned()),
        };
        let what = approval.words().map(str::to_owned);
        Some(McpApprovalReport { state: approval.name(), what })
    }
}
