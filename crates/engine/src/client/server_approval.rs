//! Whether a client starts Convoke's MCP server without asking its user first, as far as its files tell.

use std::path::{Path, PathBuf};

use convoke_domain::finding::FileFinding;
use serde_json::Value;

use crate::file;
use crate::hooks::HooksLevel;

/// More than any client writes into a file with its user's decisions, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Where a client keeps what its user decided.
#[derive(Debug)]
pub struct ApprovalPlaces {
    /// The settings that have the server's entry.
    pub level: HooksLevel,
    /// The project's folder, under every name that a client may have recorded.
    pub roots: Vec<PathBuf>,
    /// The client's own folder.
    pub client_home: PathBuf,
    /// The file in which the user lists servers.
    pub user_file: PathBuf,
}

/// Whether the client starts the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerApproval {
    /// The client does not ask, or its user approved.
    Given,
    /// The client asks first: what the user does.
    Needed(&'static str),
    /// The user refused: how to change that.
    Refused(&'static str),
    /// The files do not tell: why.
    Unknown(String),
}

impl ServerApproval {
    /// Returns the word for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Needed(_) => "needed",
            Self::Refused(_) => "refused",
            Self::Unknown(_) => "unknown",
        }
    }

    /// Returns what the user has to do, or why that is unknown; `None` if there is nothing to do.
    pub fn words(&self) -> Option<&str> {
        match self {
            Self::Given => None,
            Self::Needed(steps) | Self::Refused(steps) => Some(steps),
            Self::Unknown(why) => Some(why),
        }
    }
}

/// Reads a file of decisions; `Null` without one. A file that cannot be understood leaves them unknown.
pub(crate) fn decisions(path: &Path) -> Result<Value, ServerApproval> {
    let unknown = || ServerApproval::Unknown(format!("Convoke cannot read {}", path.display()));
    match file::read(path, MAX_BYTES) {
        FileFinding::Absent => Ok(Value::Null),
        FileFinding::Unreadable(_) => Err(unknown()),
        FileFinding::Text(text) if text.trim().is_empty() => Ok(Value::Null),
        FileFinding::Text(text) => serde_json::from_str(&text).map_err(|_| unknown()),
    }
}

/// What a client does with a folder if no settings of its user say whether it asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrustDefault {
    /// It asks.
    Asks,
    /// It trusts every folder.
    Trusts,
}

/// The words of a client that starts servers only in folders that its user trusts.
pub(crate) struct FolderTrustRules {
    /// What it does if no settings say so.
    pub(crate) default: TrustDefault,
    /// What the user does who has not decided.
    pub(crate) needed: &'static str,
    /// What the user does who refused.
    pub(crate) refused: &'static str,
}

impl FolderTrustRules {
    /// Reads the client's `trustedFolders.json`: of the rules about the project's folder and those above
    /// it, the one with the longest path counts.
    pub(crate) fn approval(&self, places: &ApprovalPlaces) -> ServerApproval {
        self.read(places).unwrap_or_else(|unknown| unknown)
    }

    fn read(&self, places: &ApprovalPlaces) -> Result<ServerApproval, ServerApproval> {
        // The file that lists servers has the other settings, too.
        let settings = decisions(&places.user_file)?;
        let asks = settings["security"]["folderTrust"]["enabled"].as_bool();
        if !asks.unwrap_or(self.default == TrustDefault::Asks) {
            return Ok(ServerApproval::Given);
        }
        let rules = decisions(&places.user_file.with_file_name("trustedFolders.json"))?;
        let rules = rules.as_object().into_iter().flatten();
        let applies = |path: &str, level: &str| {
            let path = Path::new(path);
            let folder = if level == "TRUST_PARENT" { path.parent() } else { Some(path) };
            folder.is_some_and(|folder| places.roots.iter().any(|root| root.starts_with(folder)))
        };
        let levels = rules.filter_map(|(path, level)| Some((path, level.as_str()?)));
        let about_project = levels.filter(|(path, level)| applies(path, level));
        let level =
            about_project.max_by_key(|(path, _)| path.len()).map(|(_, level)| level.to_owned());
        Ok(match level.as_deref() {
            Some("TRUST_FOLDER" | "TRUST_PARENT") => ServerApproval::Given,
            Some("DO_NOT_TRUST") => ServerApproval::Refused(self.refused),
            Some(_) | None => ServerApproval::Needed(self.needed),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use convoke_domain::client::Client;
    use tempfile::TempDir;

    use super::*;
    use crate::client::adapter;

    /// Returns what a client's files say of the project `/work/app`, below a folder of the test's.
    fn approval(client: Client, level: HooksLevel, files: &[(&str, &str)]) -> ServerApproval {
        let top = TempDir::new().unwrap();
        let root = top.path().join("work/app");
        for (name, text) in files {
            let path = top.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.replace("TOP", &top.path().display().to_string())).unwrap();
        }
        let folder = adapter(client).home.as_ref().unwrap().folder;
        let home = top.path().join("home");
        let client_home = home.join(folder);
        let server = adapter(client).server.as_ref().unwrap();
        let variable = |name: &str| (name == "HOME").then(|| home.clone().into_os_string());
        let user_file = server.user_file.place(&variable).unwrap().path;
        (server.approval)(&ApprovalPlaces { level, roots: vec![root], client_home, user_file })
    }

    /// The words of each state, for a project's entry.
    fn check(client: Client, cases: &[(&str, &[(&str, &str)])]) {
        for (expected, files) in cases {
            let found = approval(client, HooksLevel::Project, files);
            assert_eq!(found.name(), *expected, "{files:?}: {found:?}");
            assert_eq!(found.words().is_none(), *expected == "given", "{found:?}");
        }
    }

    const USER: &str = "home/.claude/settings.json";
    const LOCAL: &str = "work/app/.claude/settings.local.json";
    const STATE: &str = "home/.claude.json";
    const NAMED: &str = r#"{"enabledMcpjsonServers": ["convoke"]}"#;
    const ALL: &str = r#"{"enableAllProjectMcpServers": true}"#;
    const NOT: &str = r#"{"disabledMcpjsonServers": ["convoke"]}"#;
    const TRUSTED: &str = r#"{"projects": {"TOP/work/app": {"hasTrustDialogAccepted": true}}}"#;

    // What `claude mcp list` of Claude Code 2.1.325 says of a server with these files.
    #[test]
    fn claude_code_starts_a_projects_server_that_its_user_approved() {
        let approved = r#"{"projects": {"TOP/work/app": {"hasTrustDialogAccepted": true,
            "enabledMcpjsonServers": ["convoke"]}}}"#;
        let untrusted = r#"{"projects": {"TOP/work/app": {"enabledMcpjsonServers": ["convoke"]}}}"#;
        check(
            Client::Claude,
            &[
                ("needed", &[]),
                ("needed", &[(STATE, TRUSTED)]),
                ("needed", &[(STATE, untrusted)]),
                ("given", &[(STATE, approved)]),
                ("needed", &[(LOCAL, NAMED)]),
                ("needed", &[(LOCAL, ALL)]),
                (
                    "needed",
                    &[
                        (LOCAL, ALL),
                        (STATE, r#"{"projects": {"TOP/work": {"hasTrustDialogAccepted": true}}}"#),
                    ],
                ),
                ("given", &[(LOCAL, NAMED), (STATE, TRUSTED)]),
                ("given", &[("work/app/.claude/settings.json", ALL), (STATE, TRUSTED)]),
                ("given", &[(USER, NAMED)]),
                ("given", &[(USER, ALL)]),
                ("refused", &[(USER, ALL), (LOCAL, NOT)]),
                ("refused", &[(LOCAL, NOT)]),
                ("needed", &[(USER, r#"{"enabledMcpjsonServers": ["other"]}"#)]),
                ("unknown", &[(USER, "{")]),
                ("unknown", &[(STATE, "\u{0}")]),
            ],
        );
        let own = approval(Client::Claude, HooksLevel::User, &[]);
        assert_eq!(own, ServerApproval::Given, "what the user added to their own settings");
    }

    #[test]
    fn codex_gemini_and_qwen_start_servers_in_trusted_folders() {
        let trusted = "[projects.\"TOP/work/app\"]\ntrust_level = \"trusted\"\n";
        check(
            Client::Codex,
            &[("needed", &[]), ("given", &[("home/.codex/config.toml", trusted)])],
        );
        let rules = |folder: &str, level: &str| format!("{{\"TOP/{folder}\": \"{level}\"}}");
        for (client, folder, by_default) in
            [(Client::Gemini, ".gemini", "needed"), (Client::Qwen, ".qwen", "given")]
        {
            let (settings, list) = (
                format!("home/{folder}/settings.json"),
                format!("home/{folder}/trustedFolders.json"),
            );
            let (settings, list) = (settings.as_str(), list.as_str());
            let on = (settings, r#"{"security": {"folderTrust": {"enabled": true}}}"#);
            let off = (settings, r#"{"security": {"folderTrust": {"enabled": false}}}"#);
            let own = rules("work/app", "TRUST_FOLDER");
            let parent = rules("work/other", "TRUST_PARENT");
            let above = rules("work", "TRUST_FOLDER");
            let sibling = rules("work/ap", "TRUST_FOLDER");
            let refused = r#"{"TOP/work": "TRUST_FOLDER", "TOP/work/app": "DO_NOT_TRUST"}"#;
            check(
                client,
                &[
                    (by_default, &[]),
                    ("needed", &[on]),
                    ("given", &[off]),
                    ("given", &[on, (list, &own)]),
                    ("given", &[on, (list, &parent)]),
                    ("given", &[on, (list, &above)]),
                    ("needed", &[on, (list, &sibling)]),
                    ("refused", &[on, (list, refused)]),
                    ("unknown", &[on, (list, "[1")]),
                    ("needed", &[on, (list, "[1]")]),
                    ("unknown", &[(settings, "// a comment\n{}")]),
                ],
            );
        }
        check(Client::Opencode, &[("unknown", &[])]);
    }
}
