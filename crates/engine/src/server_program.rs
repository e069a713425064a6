//! The servers' programs, which lie beside Convoke's own.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::process::command;
use crate::program::is_program;

/// A server of its own program, which Convoke looks for beside its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerProgram {
    /// Tools for agents.
    Mcp,
    /// The dashboard.
    Web,
}

impl ServerProgram {
    /// Returns the program's file name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mcp => "convoke-mcp",
            Self::Web => "convoke-web",
        }
    }
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerProgramError {
    /// There is no such program.
    #[error("cannot start the server: the program `{}` is missing", .0.display())]
    Missing(PathBuf),
    /// It is there and does not run.
    #[error("cannot start the server: the program `{}` does not start", .0.display())]
    NotStarted(PathBuf, #[source] io::Error),
}

/// Becomes the server beside `convoke`, with our stdin and stdout. Returns only if that fails.
pub fn become_server(
    server: ServerProgram,
    convoke: &Path,
    arguments: &[OsString],
    variables: Vec<(OsString, OsString)>,
    folder: &Path,
) -> ServerProgramError {
    let program = convoke.with_file_name(server.name());
    if !is_program(&program) {
        return ServerProgramError::Missing(program);
    }
    let mut server = command(&program, folder);
    let error = server.args(arguments).env_clear().envs(variables).stdin(Stdio::inherit()).exec();
    ServerProgramError::NotStarted(program, error)
}
