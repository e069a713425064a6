//! How Gemini CLI is started.

use crate::client::command::one_line;
use crate::client::{ClientCommand, ClientRequest, Rights};

/// What it says to a command without a prompt.
pub(super) const NO_PROMPT: Option<&str> = Some("no input provided via stdin");

/// No setting is stronger than an administrator's policy. The mode alone is not enough: with a tool
/// listed as allowed in a project's settings, an agent in the mode `plan` runs its shell.
pub(in crate::client) const READ_ONLY_POLICY: &str = r#"# A reader has no tools but these.
[[rule]]
toolName = "*"
decision = "deny"
priority = 998

[[rule]]
toolName = ["read_file", "read_many_files", "list_directory", "glob", "grep_search"]
decision = "allow"
priority = 999
"#;

/// The arguments of a reader, beside that policy.
pub(in crate::client) const READER_ARGUMENTS: &[&str] =
    &["--approval-mode=plan", "--allowed-mcp-server-names=none"];

/// How a person resumes a session. Its `-p` takes the prompt as an argument.
pub(super) const RESUME: &[&str] = &["--resume={session}"];

pub(super) fn launch(request: &ClientRequest<'_>, command: &mut ClientCommand) {
    command.arguments(&["--output-format=stream-json"]);
    match request.rights {
        Rights::ReadOnly => {
            let policy = format!("{}/read-only.toml", one_line(request.scratch));
            command.arguments(READER_ARGUMENTS);
            command.option("--admin-policy", Some(&policy));
            command.files.push((policy, READ_ONLY_POLICY.to_owned()));
        }
        Rights::Write => command.arguments(&["--approval-mode=auto_edit"]),
    }
    command.option("--model", request.model);
    command.option("--resume", request.resume);
}
