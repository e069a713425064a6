//! An entry in a workflow's log of what went wrong.

use std::path::Path;

use convoke_domain::compat::execution_log::order::{EntrySource, LogOrder, LogOrderError};
use convoke_engine::compat::execution_log::{append, make_folder};
use convoke_engine::file;

use super::ScriptReply;

/// No entry is longer.
const MAX_BYTES: u64 = 1024 * 1024;

/// Adds an entry to a log.
pub fn log_issue(words: &[String]) -> ScriptReply {
    let read = LogOrder::parse(words).and_then(|order| {
        let entry = match &order.entry {
            EntrySource::Text(text) => text.clone(),
            EntrySource::File(path) => file::text(Path::new(path), MAX_BYTES)
                .ok_or_else(|| LogOrderError::Unreadable(path.clone()))?,
        };
        Ok((order, entry))
    });
    let (order, entry) = match read {
        Ok(read) => read,
        Err(error) => return failed(&format!("usage: {error}"), 1),
    };
    let log = Path::new(&order.log);
    match make_folder(log).and_then(|()| append(log, order.category, &entry)) {
        Ok(()) => ScriptReply::text(format!("APPENDED=true\nLOG={}\n", order.log), 0),
        Err(error) => failed(&error.to_string(), 2),
    }
}

fn failed(error: &str, code: u8) -> ScriptReply {
    ScriptReply::text(format!("FAILED=true\nERROR={error}\n"), code)
}
