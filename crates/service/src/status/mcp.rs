//! Which clients start Convoke's MCP server, and which of them wait for their user's approval.

use convoke_engine::hooks::HooksLevel;
use serde::Serialize;

use crate::mcp_entry::{FoundMcpEntry, McpApprovalReport, McpEntryFault, mcp_entries};
use crate::session::Session;

/// An entry of Convoke's MCP server in a client's settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClientMcp {
    /// The client's word, such as `claude` or `codex`.
    pub client: &'static str,
    /// The settings that have the entry: `project` or `user`.
    pub level: &'static str,
    /// Why the client cannot start the server, and what to do about it.
    pub problem: Option<String>,
    /// Whether the client starts the server without asking its user; `None` if it cannot start it.
    pub approval: Option<McpApprovalReport>,
}

/// Returns every entry of Convoke's MCP server, those of the project first.
pub(super) fn mcp_of_clients(session: &Session) -> Vec<ClientMcp> {
    let levels = [HooksLevel::Project, HooksLevel::User];
    let entries = levels.into_iter().flat_map(|level| mcp_entries(session, level));
    entries.map(|entry| ClientMcp::of(session, &entry)).collect()
}

impl ClientMcp {
    fn of(session: &Session, entry: &FoundMcpEntry) -> Self {
        let problem = match entry.fault(session) {
            // The server of another installation serves the same store.
            None | Some(McpEntryFault::Other(_)) => None,
            Some(fault @ McpEntryFault::Gone(_)) => {
                let again = entry.target.command("install");
                Some(format!("{} {fault}; run `{again}`", entry.path.display()))
            }
        };
        let level = match entry.target.level {
            HooksLevel::Project => "project",
            HooksLevel::User => "user",
        };
        let approval = problem.is_none().then(|| entry.target.approval(session)).flatten();
        Self { client: entry.target.client.name(), level, problem, approval }
    }
}
