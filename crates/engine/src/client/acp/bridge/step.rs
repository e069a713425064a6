//! What the bridge does next, and the lines that it prints.
//!
//! Every line of the agent that is JSON is printed inside a line of the bridge's own, so that no
//! agent can speak in the bridge's name.

use serde_json::json;

use crate::client::failure::readable;

/// Of an unreadable line, the bridge prints this many characters.
const MOST_UNREADABLE: usize = 2_000;

/// The word of the line that tells that an agent would take a prompt now.
pub(in super::super) const READY: &str = "ready";

/// The word of the line that tells why a conversation failed.
pub(in super::super) const FAILED: &str = "failed";

/// What the bridge does next.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Send this line to the agent.
    Send(String),
    /// Print this line for the supervisor.
    Tell(String),
    /// End the conversation.
    End,
}

/// Puts a line of the agent, which is JSON, into a line of the bridge's own.
pub(super) fn tell(word: &str, line: &str) -> Step {
    Step::Tell(format!(r#"{{"acp":"{word}","message":{}}}"#, line.trim()))
}

pub(super) fn told_answer(to: &str, line: &str) -> Step {
    Step::Tell(format!(r#"{{"acp":"answer","to":"{to}","message":{}}}"#, line.trim()))
}

pub(super) fn told_request(method: &str, answer: &str, title: &str, line: &str) -> Step {
    let (method, title) = (json!(method), json!(readable(title)));
    let line = line.trim();
    Step::Tell(format!(
        r#"{{"acp":"request","method":{method},"answer":"{answer}","title":{title},"message":{line}}}"#
    ))
}

pub(super) fn unreadable(line: &str) -> Step {
    let text: String = line.chars().take(MOST_UNREADABLE).collect();
    Step::Tell(json!({ "acp": "unreadable", "bytes": line.len(), "text": text }).to_string())
}
