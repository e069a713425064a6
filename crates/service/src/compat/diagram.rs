//! Diagrams, checked for a script.

use std::path::Path;

use convoke_domain::compat::diagram::{Misuse, Request};
use convoke_domain::design::mermaid::{check, unchecked_log_entry};

use super::ScriptReply;
use crate::diagram::{add_to_log, read_diagrams};
use crate::session::Session;

/// The exit code if a check could not run.
const UNCHECKED: u8 = 2;

/// Checks diagrams of a file, or else what the front end reads from standard input.
pub fn check_diagram(
    session: &Session,
    words: &[String],
    standard_input: impl FnOnce() -> Option<String>,
) -> ScriptReply {
    let request = match Request::parse(words) {
        Ok(request) => request,
        Err(misuse) => {
            let Misuse { request, .. } = &misuse;
            return unchecked(session, request, &misuse.to_string());
        }
    };
    let text = match &request.input {
        Some(path) => read_diagrams(Path::new(path)),
        None => standard_input(),
    };
    let Some(text) = text else { return unchecked(session, &request, "unreadable input") };
    let report = check(&text, request.form);
    if let (Some(path), Some(entry)) = (&request.log, report.log_entry(&request.step)) {
        add_to_log(session, Path::new(path), &entry);
    }
    ScriptReply::lines(&report.lines(), u8::from(!report.is_safe()))
}

fn unchecked(session: &Session, request: &Request, error: &str) -> ScriptReply {
    if let Some(path) = &request.log {
        add_to_log(session, Path::new(path), &unchecked_log_entry(&request.step));
    }
    ScriptReply::text(format!("STATUS=internal-error\nERROR={error}\n"), UNCHECKED)
}
