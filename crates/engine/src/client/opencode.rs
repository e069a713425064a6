//! opencode: `opencode run --format json`.

mod hooks;
mod launch;
mod listener;
mod plugin;
mod transcript;
mod usage;
mod versions;

use serde_json::{Value, json};

pub(super) use self::launch::{READER, READER_NAME};
pub(super) use self::transcript::file_result;
use super::listener::DialectListener;
use super::{
    ClientAdapter, ClientHome, ServerApproval, ServerForm, ServerWiring, TranscriptFormat,
    UsageScope, UserFile, is_not_said,
};
use crate::transcript::usage::UsageRecords;

const VARIABLES: &[&str] = &["OPENCODE_API_KEY", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"];

/// Its default plugins stay: people log in by them.
const QUIET: &[(&str, &str)] =
    &[("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")];

const SERVER: ServerWiring = ServerWiring {
    project_file: "opencode.json",
    // opencode reads the files of `OPENCODE_CONFIG` and `OPENCODE_CONFIG_DIR` beside this one.
    user_file: UserFile::moved_by(
        ".config/opencode/opencode.json",
        "XDG_CONFIG_HOME",
        "opencode/opencode.json",
    ),
    form: ServerForm::Json { section: "mcp", entry: server },
    approval: |_| {
        ServerApproval::Unknown("opencode keeps no approval that Convoke knows of".to_owned())
    },
};

fn server(program: &str) -> Value {
    json!({ "type": "local", "command": [program, "mcp"], "enabled": true })
}

pub(super) static ADAPTER: ClientAdapter = ClientAdapter {
    programs: &["opencode"],
    variables: VARIABLES,
    quiet: QUIET,
    read_only_by: "no tools",
    tested: Some(versions::TESTED),
    no_prompt: launch::NO_PROMPT,
    resumed_by: "by id",
    usage_scope: UsageScope::RUN,
    session_variable: None,
    shell_variable: Some("OPENCODE"),
    home: Some(ClientHome {
        variables: &["XDG_DATA_HOME"],
        below: "opencode",
        folder: ".local/share/opencode",
    }),
    transcript: Some(TranscriptFormat::printed(transcript::line)),
    usage_records: Some(UsageRecords { read: usage::read }),
    hooks: Some(hooks::WIRING),
    server: Some(SERVER),
    resumed_with: launch::RESUME,
    launch: launch::launch,
    listen: || Box::new(DialectListener::<listener::Opencode>::default()),
    is_reader_tool: is_not_said,
    is_reader_mode: is_not_said,
};
