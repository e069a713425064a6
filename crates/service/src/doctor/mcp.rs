//! Whether clients that are to start Convoke's MCP server can, and do so without asking first.

use convoke_engine::hooks::HooksLevel;

use super::DoctorCheck;
use crate::mcp_entry::{FoundMcpEntry, McpApprovalReport, McpEntryFault, mcp_entries};
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
        None => match entry.target.approval(session) {
            Some(McpApprovalReport { state: "needed", what: Some(steps) }) => {
                let found = format!("{shown} starts this convoke only after your approval");
                DoctorCheck::warn(NAME, found, steps)
            }
            Some(McpApprovalReport { state: "refused", what: Some(steps) }) => {
                let found = format!("{shown} lists this convoke, but the client does not start it");
                DoctorCheck::warn(NAME, found, steps)
            }
            approval => {
                let unknown = approval.and_then(|approval| approval.sentence());
                let unknown = unknown.map(|words| format!("; {words}")).unwrap_or_default();
                DoctorCheck::ok(NAME, format!("{shown} starts this convoke{unknown}"))
            }
        },
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
