//! Starting a program that goes on when we end: in a session of its own, as the child of no process
//! that a client could end with us.
//!
//! It takes two steps. We start a helper and wait for it: it leaves our session, starts the program
//! and ends. So the program gets no signal of our terminal or process group, and is not found among
//! our children.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::Path;

use crate::process::command;

/// The helper, and what it leaves behind for the program.
pub struct DetachedStart<'a> {
    /// The helper's program.
    pub program: &'a Path,
    /// The helper's arguments, without its program.
    pub arguments: &'a [OsString],
    /// The only variables that it gets.
    pub variables: Vec<(OsString, OsString)>,
    /// Where it runs.
    pub folder: &'a Path,
    /// What the program prints goes here.
    pub output: File,
    /// What it says on stderr goes here.
    pub messages: File,
}

/// Starts the helper, and waits until it has started the program.
pub fn start_detached(start: DetachedStart<'_>) -> io::Result<()> {
    let status = command(start.program, start.folder)
        .args(start.arguments)
        .env_clear()
        .envs(start.variables)
        .stdout(start.output)
        .stderr(start.messages)
        .status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("it ended with {status}"))) }
}

/// As the helper: leaves the session that we were started in, and starts the program with our output
/// and messages.
pub fn start_outside(program: &Path, arguments: &[OsString], folder: &Path) -> io::Result<()> {
    rustix::process::setsid()?;
    command(program, folder).args(arguments).spawn().map(drop)
}
