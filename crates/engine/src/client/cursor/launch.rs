//! How Cursor's CLI is started, as its documentation describes it.

use crate::client::{ClientCommand, ClientRequest, Rights};

/// What it says to a command without a prompt is not known.
pub(super) const NO_PROMPT: Option<&str> = None;

/// How a person resumes a session.
pub(super) const RESUME: &[&str] = &["-p", "--resume={session}"];

pub(super) fn launch(request: &ClientRequest<'_>, command: &mut ClientCommand) {
    command.arguments(&["-p", "--output-format=stream-json", "--trust"]);
    command.arguments(match request.rights {
        // Asking has no tools to write with; planning writes plans.
        Rights::ReadOnly => &["--mode=ask"],
        // Without it, changes are only proposed.
        Rights::Write => &["--force"],
    });
    command.option("--workspace", Some(request.folder));
    command.option("--model", request.model);
    command.option("--resume", request.resume);
}
