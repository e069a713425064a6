//! The file in which one workflow tells another what it knows.

use std::path::Path;

use convoke_domain::compat::session_env::{KeyOrder, WriteOrder};
use convoke_engine::file;

use super::ScriptReply;
use crate::session::Session;

/// No session file is larger.
pub(super) const MAX_BYTES: u64 = 1024 * 1024;

/// The path that means: no file.
pub(super) const NO_FILE: &str = "/dev/null";

/// Writes a session file for another workflow.
pub fn write_session_env(session: &Session, words: &[String]) -> ScriptReply {
    let order = WriteOrder::parse(words).map_err(|error| error.to_string());
    match order.and_then(|order| write_file(&order)) {
        Ok(()) => ScriptReply::code(0),
        Err(error) => refusal(session, error),
    }
}

/// Writes a session file in one step.
pub(super) fn write_file(order: &WriteOrder) -> Result<(), String> {
    if order.output == NO_FILE {
        return Ok(());
    }
    file::put(Path::new(&order.output), order.text.as_bytes())
        .map_err(|error| format!("ERROR=Cannot write {}: {error}", order.output))
}

/// Prints what a session file says about one key. Nothing of it is evaluated.
pub fn read_session_key(session: &Session, words: &[String]) -> ScriptReply {
    let order = match KeyOrder::parse(words) {
        Ok(order) => order,
        Err(error) => return refusal(session, error.to_string()),
    };
    let text = match order.file.as_str() {
        NO_FILE => Some(String::new()),
        path => file::lossy_text(Path::new(path), MAX_BYTES),
    };
    match order.answer(text.as_deref()) {
        Ok(value) => ScriptReply::text(format!("{value}\n"), 0),
        Err(error) => refusal(session, error.to_string()),
    }
}

fn refusal(session: &Session, error: String) -> ScriptReply {
    session.reporter().say(error);
    ScriptReply::code(1)
}
