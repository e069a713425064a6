//! How Codex is started: `codex exec`.

use crate::client::command::one_line;
use crate::client::{ClientCommand, ClientRequest, Rights};

/// What it says to a command without a prompt.
pub(super) const NO_PROMPT: Option<&str> = Some("no prompt provided via stdin");

/// How a person resumes a session.
pub(super) const RESUME: &[&str] = &["exec", "--json", "resume", "{session}", "-"];

pub(super) fn launch(request: &ClientRequest<'_>, command: &mut ClientCommand) {
    // Without plugins, because it would wait for a list of them at its end.
    command.arguments(&["exec", "--json", "--skip-git-repo-check", "--disable", "plugins"]);
    command.arguments(match request.rights {
        // Held by the operating system, for every command that the agent runs.
        Rights::ReadOnly => &["--sandbox=read-only"],
        Rights::Write => &["--sandbox=workspace-write"],
    });
    command.option("--model", request.model);
    if let Some(effort) = request.effort.filter(|effort| is_word(effort)) {
        command.option("--config", Some(&format!("model_reasoning_effort=\"{effort}\"")));
    }
    if let Some(session) = request.resume.map(one_line).filter(|session| !session.is_empty()) {
        command.arguments(&["resume", "--", &session]);
    }
    // The prompt is on stdin.
    command.arguments(&["-"]);
}

/// Tells whether a text fits into a TOML string without ending it.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}
