//! The chores' door to processes.

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::process::{Command, Stdio};

use crate::{Error, root, say};

/// What `cargo run` says about the chores' package. A build script that looks at these would run again,
/// and all that depends on its crate, whenever Cargo is called by a chore and not by a person.
const OWN_PACKAGE: [&str; 7] = [
    "CARGO_MANIFEST_DIR",
    "CARGO_MANIFEST_LINKS",
    "CARGO_PKG_NAME",
    "CARGO_PKG_VERSION_MAJOR",
    "CARGO_PKG_VERSION_MINOR",
    "CARGO_PKG_VERSION_PATCH",
    "CARGO_PKG_VERSION_PRE",
];

/// The variable that says how many tests run in parallel.
const TEST_THREADS: &str = "RUST_TEST_THREADS";

/// Prepares a program to run in the repository's root.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    for variable in OWN_PACKAGE {
        command.env_remove(variable);
    }
    // As the alias `cargo xtask` has it, so that both share what they compile.
    command.env("CARGO_INCREMENTAL", "0");
    // Most tests wait for programs that they start.
    if std::env::var_os(TEST_THREADS).is_none() {
        let cores = std::thread::available_parallelism().map_or(2, NonZeroUsize::get);
        command.env(TEST_THREADS, (2 * cores).to_string());
    }
    command
}

/// Tells whether a machine runs the chores for the whole team: it sets `CI`, to anything but `false`.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub fn is_ci() -> bool {
    std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false")
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
