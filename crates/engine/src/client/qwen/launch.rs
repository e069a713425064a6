//! How Qwen Code is started.

use crate::client::{ClientCommand, ClientRequest, Rights};

/// What it says to a command without a prompt.
pub(super) const NO_PROMPT: Option<&str> = Some("no input provided via stdin");

/// The arguments of a reader. The mode alone refuses to write, but leaves tools that make worktrees
/// and timers.
pub(in crate::client) const READER_ARGUMENTS: &[&str] = &[
    "--approval-mode=plan",
    "--core-tools=read_file,grep_search,glob,list_directory",
    "--exclude-tools=run_shell_command,edit,write_file",
    "--allowed-mcp-server-names=none",
];

/// How a person resumes a session. Its `-p` takes the prompt as an argument.
pub(super) const RESUME: &[&str] = &["--resume={session}"];

pub(super) fn launch(request: &ClientRequest<'_>, command: &mut ClientCommand) {
    // Without its pieces, an answer that takes minutes to write looks like a stall.
    command.arguments(&["--output-format=stream-json", "--include-partial-messages"]);
    match request.rights {
        Rights::ReadOnly => command.arguments(READER_ARGUMENTS),
        Rights::Write => command.arguments(&["--approval-mode=auto-edit"]),
    }
    command.option("--model", request.model);
    command.option("--resume", request.resume);
}

/// Tells whether a tool cannot write. A reader keeps many that have other names in every version, so
/// the ones that write are known instead.
pub(super) fn is_reader_tool(tool: &str) -> bool {
    !["run_shell_command", "edit", "write_file"].contains(&tool)
}

/// Tells whether nothing is written in a mode.
pub(super) fn is_reader_mode(mode: &str) -> bool {
    mode == "plan"
}
