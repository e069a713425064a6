//! The chores' door to processes.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use crate::{Error, root, say};

/// Prepares a program to run in the repository's root.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// Prints a command, runs it, and fails if it fails.
pub fn run(program: &str, arguments: &[&str]) -> Result<(), Error> {
    say(&format!("$ {program} {}", arguments.join(" ")));
    let status = command(program).args(arguments).status();
    let status = status.map_err(|error| format!("cannot start `{program}`: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{program}` failed: {status}").into()) }
}

/// Runs quietly, and tells whether it succeeded.
pub fn succeeds(program: &str, arguments: &[&str]) -> bool {
    let quiet =
        command(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    quiet.is_ok_and(|status| status.success())
}

/// Runs quietly, and returns what it prints; fails with what it says if it fails.
pub fn output(program: &str, arguments: &[&str]) -> Result<String, Error> {
    let done = command(program).args(arguments).output();
    let done = done.map_err(|error| format!("cannot start `{program}`: {error}"))?;
    if done.status.success() {
        return Ok(String::from_utf8(done.stdout)?);
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let words = arguments.join(" ");
    Err(format!("`{program} {words}` failed: {}\n{}", done.status, said.trim_end()).into())
}
