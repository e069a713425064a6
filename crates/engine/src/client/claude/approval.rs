//! Claude Code asks its user before it starts a server of a project's `.mcp.json`.

use serde_json::Value;

use crate::client::server_approval::{ApprovalPlaces, ServerApproval, decisions};
use crate::hooks::HooksLevel;

/// What Claude Code calls the server.
const NAME: &str = "convoke";

const NEEDED: &str = "Claude Code asks you first: start `claude` in this project, trust the folder and \
                      approve the server `convoke`";

const REFUSED: &str = "you refused the server in Claude Code: start `claude` in this project, run `/mcp` and enable the \
     server `convoke`";

/// Tells whether the user approved the server. Settings that come with a project, and choices of the
/// project, count only in a folder that the user trusts; the user's own settings count everywhere.
pub(super) fn approval(places: &ApprovalPlaces) -> ServerApproval {
    match places.level {
        HooksLevel::User => ServerApproval::Given,
        HooksLevel::Project => read(places).unwrap_or_else(|unknown| unknown),
    }
}

fn read(places: &ApprovalPlaces) -> Result<ServerApproval, ServerApproval> {
    let ApprovalPlaces { roots, client_home, user_file, .. } = places;
    let own = decisions(&client_home.join("settings.json"))?;
    let state = decisions(user_file)?;
    let choices = roots.iter().find_map(|root| state["projects"].get(root.to_str()?)).cloned();
    let choices = choices.unwrap_or_default();
    let Some(root) = roots.first() else { return Ok(ServerApproval::Needed(NEEDED)) };
    let committed = decisions(&root.join(".claude/settings.json"))?;
    let local = decisions(&root.join(".claude/settings.local.json"))?;
    let everywhere = [&own, &committed, &local, &choices];
    if everywhere.iter().any(|settings| names(&settings["disabledMcpjsonServers"])) {
        return Ok(ServerApproval::Refused(REFUSED));
    }
    let approves = |settings: &Value| {
        settings["enableAllProjectMcpServers"] == true || names(&settings["enabledMcpjsonServers"])
    };
    let is_trusted = choices["hasTrustDialogAccepted"] == true;
    let is_approved = approves(&own)
        || is_trusted && (approves(&committed) || approves(&local) || approves(&choices));
    Ok(if is_approved { ServerApproval::Given } else { ServerApproval::Needed(NEEDED) })
}

fn names(list: &Value) -> bool {
    list.as_array().is_some_and(|names| names.iter().any(|name| name == NAME))
}
