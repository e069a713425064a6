//! Cursor's CLI, with `--output-format stream-json`.

mod hooks;
mod launch;
mod listener;
mod transcript;
mod versions;

use super::listener::DialectListener;
use super::{ClientAdapter, ClientHome, TranscriptFormat, UsageScope, is_not_said};

const VARIABLES: &[&str] = &["CURSOR_API_KEY"];

pub(super) static ADAPTER: ClientAdapter = ClientAdapter {
    // The later name is a word that other programs may have too.
    programs: &["cursor-agent", "agent"],
    variables: VARIABLES,
    quiet: &[],
    read_only_by: "ask mode",
    tested: versions::TESTED,
    no_prompt: launch::NO_PROMPT,
    resumed_by: "by id",
    usage_scope: UsageScope::RUN,
    session_variable: None,
    // Cursor sets it for the shells of its agent: <https://cursor.com/docs/agent/terminal>. A person's
    // own terminal in the editor has `CURSOR_TRACE_ID` too, so that one says nothing.
    shell_variable: Some("CURSOR_AGENT"),
    home: Some(ClientHome { variables: &["CURSOR_CONFIG_DIR"], below: "", folder: ".cursor" }),
    transcript: Some(TranscriptFormat::printed(transcript::line)),
    usage_records: None,
    hooks: Some(hooks::WIRING),
    server: None,
    resumed_with: launch::RESUME,
    launch: launch::launch,
    listen: || Box::new(DialectListener::<listener::Cursor>::default()),
    is_reader_tool: is_not_said,
    is_reader_mode: is_not_said,
};
