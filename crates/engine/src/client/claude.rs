//! Claude Code: `claude -p` with `--output-format stream-json`.

mod approval;
mod hooks;
mod injected;
mod launch;
mod listener;
pub mod plugin;
pub mod spent;
mod transcript;
mod usage;
mod versions;

use std::path::{Path, PathBuf};

pub(super) use self::launch::READER_META;
pub(super) use self::transcript::file_result;
use super::listener::DialectListener;
use super::{
    ClientAdapter, ClientHome, CounterScope, PrintedEvents, ServerWiring, TranscriptFormat,
    UsageScope, UserFile,
};
use crate::transcript::own::newest;
use crate::transcript::usage::UsageRecords;

const VARIABLES: &[&str] = &[
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CONFIG_DIR",
];

const QUIET: &[(&str, &str)] = &[
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    // It would try a refused key for minutes.
    ("CLAUDE_CODE_MAX_RETRIES", "2"),
];

pub(super) static ADAPTER: ClientAdapter = ClientAdapter {
    programs: &["claude"],
    variables: VARIABLES,
    quiet: QUIET,
    read_only_by: "no tools",
    tested: Some(versions::TESTED),
    no_prompt: launch::NO_PROMPT,
    resumed_by: "by id",
    usage_scope: UsageScope { tokens: CounterScope::Run, money: CounterScope::Session },
    session_variable: Some("CLAUDE_CODE_SESSION_ID"),
    shell_variable: Some("CLAUDECODE"),
    home: Some(ClientHome { variables: &["CLAUDE_CONFIG_DIR"], below: "", folder: ".claude" }),
    transcript: Some(TranscriptFormat {
        line: transcript::line,
        injected: Some(injected::injected),
        printed: PrintedEvents::AsGiven,
        own_record: Some(own_record),
    }),
    usage_records: Some(UsageRecords { read: usage::read }),
    hooks: Some(hooks::WIRING),
    server: Some(ServerWiring::servers_in(
        ".mcp.json",
        UserFile::moved_by(".claude.json", "CLAUDE_CONFIG_DIR", ".claude.json"),
        approval::approval,
    )),
    resumed_with: launch::RESUME,
    launch: launch::launch,
    listen: || Box::new(DialectListener::<listener::Claude>::default()),
    is_reader_tool: launch::is_reader_tool,
    is_reader_mode: launch::is_reader_mode,
};

/// Finds the record of a session: `projects/<project>/<session>.jsonl`.
fn own_record(home: &Path, session: &str) -> Option<PathBuf> {
    let record = format!("{session}.jsonl");
    newest(&home.join("projects"), &|name| name == record, 1)
}
