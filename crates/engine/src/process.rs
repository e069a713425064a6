//! The engine's door to other programs.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs a program to its end in a folder, with nothing on its stdin.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(crate) fn output<S: AsRef<OsStr>>(
    program: &str,
    arguments: impl IntoIterator<Item = S>,
    folder: &Path,
) -> io::Result<Output> {
    Command::new(program).args(arguments).current_dir(folder).stdin(Stdio::null()).output()
}
