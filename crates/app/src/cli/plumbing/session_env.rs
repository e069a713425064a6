//! `convoke plumbing write-session-env` and `read-session-key`.

use std::path::Path;

use convoke_domain::design::session_env::{KeyOrder, WriteOrder};
use convoke_engine::file;

use super::print;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// No session file is larger.
pub(super) const MAX_BYTES: u64 = 1024 * 1024;

/// A file that stands for none.
pub(super) const NO_FILE: &str = "/dev/null";

pub(super) fn write(words: &[String], output: &Output) -> Exit {
    let written = match WriteOrder::parse(words) {
        Ok(order) => written(&order),
        Err(error) => Err(error.to_string()),
    };
    match written {
        Ok(()) => Exit::Done,
        Err(error) => {
            output.say(&error);
            Exit::Script(1)
        }
    }
}

/// Writes a session file in one step.
pub(super) fn written(order: &WriteOrder) -> Result<(), String> {
    if order.output == NO_FILE {
        return Ok(());
    }
    file::put(Path::new(&order.output), order.text.as_bytes())
        .map_err(|error| format!("ERROR=Cannot write {}: {error}", order.output))
}

pub(super) fn read(words: &[String], output: &mut Output) -> Result<Exit, Failure> {
    let order = match KeyOrder::parse(words) {
        Ok(order) => order,
        Err(error) => {
            output.say(&error.to_string());
            return Ok(Exit::Script(1));
        }
    };
    let text = match order.file.as_str() {
        NO_FILE => Some(String::new()),
        path => file::lossy_text(Path::new(path), MAX_BYTES),
    };
    match order.answer(text.as_deref()) {
        Ok(value) => print(&[value.to_owned()], output),
        Err(error) => {
            output.say(&error.to_string());
            Ok(Exit::Script(1))
        }
    }
}
