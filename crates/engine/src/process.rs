//! The engine's door to other programs.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// Prepares a program that runs in a folder, with nothing on its stdin.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(crate) fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    command
}
