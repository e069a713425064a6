//! How opencode is started: `opencode run`.

use crate::client::{ClientCommand, ClientRequest, Rights};

/// What it says to a command without a prompt.
pub(super) const NO_PROMPT: Option<&str> = Some("you must provide a message or a command");

/// The name of the agent below.
pub(in crate::client) const READER_NAME: &str = "convoke-reader";

/// A separate agent, because a project's file overrules permissions that are set for all agents.
/// Tools are denied by name as well as all together: opencode merges a project's settings for an
/// agent of this name with these, key by key.
pub(in crate::client) const READER: &str = concat!(
    r#"{"agent":{"convoke-reader":{"mode":"primary","description":"Reads and answers","#,
    r#""permission":{"*":"deny","bash":"deny","edit":"deny","write":"deny","patch":"deny","#,
    r#""task":"deny","webfetch":"deny","external_directory":"deny","#,
    r#""read":"allow","grep":"allow","glob":"allow","list":"allow"}}}}"#
);

/// How a person resumes a session.
pub(super) const RESUME: &[&str] = &["run", "--session={session}"];

pub(super) fn launch(request: &ClientRequest<'_>, command: &mut ClientCommand) {
    command.arguments(&["run", "--format=json"]);
    if request.rights == Rights::ReadOnly {
        command.arguments(&["--agent=convoke-reader"]);
        // Stronger than every file.
        command.variables.push(("OPENCODE_CONFIG_CONTENT".to_owned(), READER.to_owned()));
    }
    command.option("--model", request.model);
    command.option("--session", request.resume);
}
