//! The chores' door to processes.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::num::NonZeroUsize;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

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

/// Prints a command and runs it; hands everything that it prints to `read`, too. Returns whether it
/// succeeded.
pub fn run_read(
    program: &str,
    arguments: &[&str],
    mut read: impl FnMut(&[u8]),
) -> Result<bool, Error> {
    say(&format!("$ {program} {}", arguments.join(" ")));
    let (mut reader, writer) = io::pipe()?;
    let mut command = command(program);
    let started = command.args(arguments).stdout(writer.try_clone()?).stderr(writer).spawn();
    let mut child = started.map_err(|error| format!("cannot start `{program}`: {error}"))?;
    // It holds the pipe's other end as well.
    drop(command);
    let (sender, pieces) = mpsc::channel();
    thread::spawn(move || {
        let mut piece = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = reader.read(&mut piece) {
            if sender.send(piece[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    loop {
        match pieces.recv_timeout(Duration::from_millis(200)) {
            Ok(piece) => {
                copy(&piece);
                read(&piece);
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(child.wait()?.success()),
            // A process that a test left behind may keep the pipe open for ever.
            Err(RecvTimeoutError::Timeout) => {
                if let Some(status) = child.try_wait()? {
                    return Ok(status.success());
                }
            }
        }
    }
}

/// Copies a piece of a command's output to the terminal. A terminal that is gone stops no check.
#[expect(clippy::disallowed_methods, reason = "the chores' door to the terminal")]
fn copy(piece: &[u8]) {
    let mut terminal = io::stderr();
    terminal.write_all(piece).and_then(|()| terminal.flush()).ok();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(script: &str) -> (bool, String) {
        let mut printed = Vec::new();
        let read = |piece: &[u8]| printed.extend_from_slice(piece);
        let is_good = run_read("sh", &["-c", script], read).unwrap();
        (is_good, String::from_utf8(printed).unwrap())
    }

    #[test]
    fn both_outputs_are_read_in_their_order() {
        let (is_good, printed) = read("echo one; echo two >&2; echo three; exit 3");
        assert_eq!((is_good, printed.as_str()), (false, "one\ntwo\nthree\n"));
    }

    // Tests of killed programs can leave one behind, which has the pipe.
    #[test]
    fn a_process_that_stays_behind_holds_up_nothing() {
        let (is_good, printed) = read("sleep 600 & echo $!");
        assert!(is_good);
        assert!(succeeds("kill", &[printed.trim()]), "it still runs");
    }
}
