//! How Claude Code is started: `claude -p`.

use crate::client::{ClientCommand, ClientRequest, Rights};

/// What it says to a command without a prompt.
pub(super) const NO_PROMPT: Option<&str> =
    Some("input must be provided either through stdin or as a prompt argument");

/// The same tools for a session of the Agent Client Protocol, without the user's servers.
pub(in crate::client) const READER_META: &str = concat!(
    r#"{"claudeCode":{"options":{"tools":["Read","Grep","Glob"],"#,
    r#""extraArgs":{"strict-mcp-config":null}}}}"#
);

/// How a person resumes a session.
pub(super) const RESUME: &[&str] = &["--resume", "{session}", "-p"];

pub(super) fn launch(request: &ClientRequest<'_>, command: &mut ClientCommand) {
    // Without its pieces, an answer that takes minutes to write looks like a stall.
    let pieces = "--include-partial-messages";
    command.arguments(&["-p", "--output-format=stream-json", "--verbose", pieces]);
    match request.rights {
        // A tool that is not listed is unavailable, even if the settings permit it; so the settings
        // can stay, and with them the hooks that deliver wake-ups. Tools of servers are not in that
        // list, so there must be no servers.
        Rights::ReadOnly => command.arguments(&[
            "--tools=Read,Grep,Glob",
            "--permission-mode=dontAsk",
            "--strict-mcp-config",
        ]),
        Rights::Write => command.arguments(&["--permission-mode=acceptEdits"]),
    }
    command.option("--model", request.model);
    command.option("--effort", request.effort);
    command.option("--resume", request.resume);
}

/// Tells whether a tool is one of a read-only agent's.
pub(super) fn is_reader_tool(tool: &str) -> bool {
    ["Read", "Grep", "Glob"].contains(&tool)
}

/// Tells whether nothing is permitted in a mode that the settings do not permit.
pub(super) fn is_reader_mode(mode: &str) -> bool {
    ["dontAsk", "default", "plan"].contains(&mode)
}
