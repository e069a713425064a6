//! The engine's door to other programs.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

use convoke_guard::GuardCommand;

/// Prepares a program that runs in a folder, with nothing on its stdin.
#[expect(clippy::disallowed_methods, reason = "this is the door")]
pub(crate) fn command(program: impl AsRef<OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Prepares the guardian of a client, in the client's folder. `convoke` is Convoke's own program.
pub(crate) fn guardian(convoke: &Path, guarded: &GuardCommand, folder: &Path) -> Command {
    let (program, arguments) = convoke_guard::guardian(convoke, guarded);
    let mut guardian = command(program, folder);
    guardian.args(arguments);
    guardian
}

/// The system's default without a PATH.
const USUAL_PATH: &str = "/usr/bin:/bin";

/// Returns the PATH on which programs are searched.
#[expect(clippy::disallowed_methods, reason = "where a program lies decides which one is started")]
pub(crate) fn search_path() -> OsString {
    std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into())
}
