//! Codex CLI: `codex exec --json`.

mod hooks;
mod injected;
mod launch;
mod listener;
mod transcript;
pub mod trust;
mod usage;
mod versions;

use std::path::{Path, PathBuf};

use super::listener::DialectListener;
use super::{
    ApprovalPlaces, ClientAdapter, ClientHome, CounterScope, PrintedEvents, ServerApproval,
    ServerForm, ServerWiring, TranscriptFormat, UsageScope, UserFile, is_not_said,
};
use crate::file;
use crate::hooks::HooksLevel;
use crate::transcript::own::newest;
use crate::transcript::usage::UsageRecords;

/// More than any configuration of Codex has, in bytes.
const MAX_CONFIG_BYTES: u64 = 16 * 1024 * 1024;

const VARIABLES: &[&str] = &["OPENAI_API_KEY", "OPENAI_BASE_URL", "CODEX_API_KEY", "CODEX_HOME"];

/// Codex 0.166.0 waits about a second for a server that is not required, which is longer than ours needs,
/// and does not start without one that is. Headless, it refuses tools that change something unless they
/// are approved beforehand. A server gets few of its variables unless they are named: without those that
/// switch tools off and limit budgets, it would offer what its user has forbidden.
const SERVER: ServerWiring = ServerWiring {
    project_file: ".codex/config.toml",
    user_file: UserFile::moved_by(".codex/config.toml", "CODEX_HOME", "config.toml"),
    form: ServerForm::Toml {
        beside: &[
            "startup_timeout_sec = 20",
            "default_tools_approval_mode = \"approve\"",
            "env_vars = [\"CONVOKE_AGENT\", \"CONVOKE_LANE\", \"CONVOKE_LANE_BUDGET_PER_DAY\", \
             \"CONVOKE_MCP_ALLOW\", \"CONVOKE_MCP_BUDGET\", \"CONVOKE_MCP_IN_LANES\", \
             \"CONVOKE_STORE\", \"CONVOKE_STORE_PASSWORD\", \"CONVOKE_STORE_PASSWORD_COMMAND\", \
             \"CONVOKE_STORE_PASSWORD_FILE\", \"CODEX_HOME\", \"XDG_CACHE_HOME\", \
             \"XDG_CONFIG_HOME\", \"XDG_STATE_HOME\"]",
        ],
        required: "required = true",
    },
    approval,
};

/// Codex reads no settings of a project in a folder that its user has not trusted.
fn approval(places: &ApprovalPlaces) -> ServerApproval {
    let config = file::text(&places.user_file, MAX_CONFIG_BYTES);
    let is_trusted = trust::trusts_folder(&config.unwrap_or_default(), &places.roots);
    if places.level == HooksLevel::User || is_trusted {
        return ServerApproval::Given;
    }
    ServerApproval::Needed(
        "Codex asks you first: start `codex` in this project and trust the folder",
    )
}

pub(super) static ADAPTER: ClientAdapter = ClientAdapter {
    programs: &["codex"],
    variables: VARIABLES,
    quiet: &[],
    read_only_by: "sandbox",
    tested: Some(versions::TESTED),
    no_prompt: launch::NO_PROMPT,
    resumed_by: "by id",
    usage_scope: UsageScope { tokens: CounterScope::Session, money: CounterScope::Session },
    session_variable: Some("CODEX_THREAD_ID"),
    shell_variable: None,
    home: Some(ClientHome { variables: &["CODEX_HOME"], below: "", folder: ".codex" }),
    transcript: Some(TranscriptFormat {
        line: transcript::line,
        injected: Some(injected::injected),
        printed: PrintedEvents::MayTellMore,
        own_record: Some(own_record),
    }),
    usage_records: Some(UsageRecords { read: usage::read }),
    hooks: Some(hooks::WIRING),
    server: Some(SERVER),
    resumed_with: launch::RESUME,
    launch: launch::launch,
    listen: || Box::new(DialectListener::<listener::Codex>::default()),
    is_reader_tool: is_not_said,
    is_reader_mode: is_not_said,
};

/// Years, months and days.
const MOST_FOLDERS_DEEP: usize = 3;

/// Finds the record of a session: a rollout below a folder for each day, or in the archive.
fn own_record(home: &Path, session: &str) -> Option<PathBuf> {
    let ending = format!("-{session}.jsonl");
    let is_record = |name: &str| name.starts_with("rollout-") && name.ends_with(&ending);
    let places = ["sessions", "archived_sessions"];
    places.iter().find_map(|place| newest(&home.join(place), &is_record, MOST_FOLDERS_DEEP))
}
