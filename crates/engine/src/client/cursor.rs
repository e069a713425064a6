//! Cursor's CLI, with `--output-format stream-json`.

mod hooks;
mod launch;
mod listener;
mod transcript;

use super::listener::DialectListener;
use super::{ClientAdapter, PrintedEvents, TranscriptFormat, UsageScope, is_not_said};

const VARIABLES: &[&str] = &["CURSOR_API_KEY"];

pub(super) static ADAPTER: ClientAdapter = ClientAdapter {
    // The later name is a word that other programs may have too.
    programs: &["cursor-agent", "agent"],
    variables: VARIABLES,
    quiet: &[],
    read_only_by: "ask mode",
    oldest: None,
    resumed_by: "by id",
    usage_scope: UsageScope::RUN,
    session_variable: None,
    shell_variable: Some("CURSOR_AGENT"),
    home: None,
    transcript: Some(TranscriptFormat {
        line: transcript::line,
        injected: None,
        printed: PrintedEvents::AsGiven,
        own_record: None,
    }),
    hooks: Some(hooks::WIRING),
    server: None,
    launch: launch::launch,
    listen: || Box::new(DialectListener::<listener::Cursor>::default()),
    is_reader_tool: is_not_said,
    is_reader_mode: is_not_said,
};
