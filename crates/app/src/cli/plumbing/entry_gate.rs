//! `convoke plumbing entry-gate`.

use convoke_domain::design::setup::entry_gate::{GateError, entry_gate};

use super::print;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

pub(super) fn run(words: &[String], output: &mut Output) -> Result<Exit, Failure> {
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    match entry_gate(&words) {
        Ok(gate) => print(&gate.lines(), output),
        Err(error) => {
            output.say(&error.to_string());
            Ok(Exit::Script(GateError::CODE))
        }
    }
}
