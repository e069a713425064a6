//! Whether clients that are to start Convoke's MCP server can.

use convoke_engine::hooks::HooksLevel;

use super::DoctorCheck;
use crate::mcp_entry::{FoundMcpEntry, McpEntryFault, mcp_entries};
use crate::session::Session;

/// The subject of the check.
const NAME: &str = "mcp";

/// Checks the entries of the project's settings and of the user's; there need be none.
pub(super) fn mcp(session: &Session) -> Vec<DoctorCheck> {
    let levels = [HooksLevel::Project, HooksLevel::User];
    let entries = levels.into_iter().flat_map(|level| mcp_entries(session, level));
    entries.map(|entry| check(session, &entry)).collect()
}

fn check(session: &Session, entry: &FoundMcpEntry) -> DoctorCheck {
    let shown = entry.path.display();
    let again = entry.target.command("install");
    match entry.fault(session) {
        None => DoctorCheck::ok(NAME, format!("{shown} starts this convoke")),
        Some(fault @ McpEntryFault::Other(_)) => {
            let fix = format!("run `{again}`, or leave it as it is");
            DoctorCheck::warn(NAME, format!("{shown} {fault}"), fix)
        }
        Some(fault @ McpEntryFault::Gone(_)) => {
            let fix = format!("run `{again}`, or `{}`", entry.target.command("uninstall"));
            DoctorCheck::fail(NAME, format!("{shown} {fault}"), fix)
        }
    }
}
