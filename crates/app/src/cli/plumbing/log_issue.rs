//! `convoke plumbing log-issue`.

use std::path::Path;

use convoke_domain::execution_log::order::{EntrySource, LogOrder, LogOrderError};
use convoke_engine::execution_log::{append, make_folder};
use convoke_engine::file;

use super::print;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// No entry is longer.
const MAX_BYTES: u64 = 1024 * 1024;

pub(super) fn run(words: &[String], output: &mut Output) -> Result<Exit, Failure> {
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
        Err(error) => return failed(&format!("usage: {error}"), 1, output),
    };
    let log = Path::new(&order.log);
    match make_folder(log).and_then(|()| append(log, order.category, &entry)) {
        Ok(()) => print(&["APPENDED=true".to_owned(), format!("LOG={}", order.log)], output),
        Err(error) => failed(&error.to_string(), 2, output),
    }
}

fn failed(error: &str, code: u8, output: &mut Output) -> Result<Exit, Failure> {
    print(&["FAILED=true".to_owned(), format!("ERROR={error}")], output)?;
    Ok(Exit::Script(code))
}
