//! Whether a workflow may go on from the branch it is on.

use convoke_domain::design::setup::entry_gate::{GateError, entry_gate as decide};

use super::ScriptReply;
use crate::session::Session;

/// Decides by the words alone whether a workflow may go on.
pub fn entry_gate(session: &Session, words: &[String]) -> ScriptReply {
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    match decide(&words) {
        Ok(gate) => ScriptReply::lines(&gate.lines(), 0),
        Err(error) => {
            session.reporter().say(error.to_string());
            ScriptReply::code(GateError::CODE)
        }
    }
}
