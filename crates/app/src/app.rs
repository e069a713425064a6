//! What every command is given.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use convoke_engine::project::root_above;

use crate::env::Environment;
use crate::exit::Exit;
use crate::failure::Failure;

/// Whether remarks that are not part of a command's contract are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Only what was asked for.
    Normal,
    /// Everything there is to know.
    Verbose,
}

/// How a result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people and agents.
    Text,
    /// One JSON document.
    Json,
}

/// The surroundings of one command.
#[derive(Debug, Clone)]
pub struct App {
    /// The project's root.
    pub project: PathBuf,
    /// The environment.
    pub environment: Environment,
    /// How the result is shown.
    pub format: Format,
    /// How much is said besides.
    pub verbosity: Verbosity,
}

/// A folder that cannot be worked in.
#[derive(Debug, thiserror::Error)]
#[error("cannot use project `{}`", path.display())]
struct ProjectError {
    path: PathBuf,
    source: io::Error,
}

/// Returns the project named on the command line, or the one around the current folder.
pub fn project(named: Option<&Path>, environment: Environment) -> Result<PathBuf, Failure> {
    let start = match named {
        Some(path) => path.to_owned(),
        None => environment.current_dir().map_err(|source| {
            Failure::new(Exit::Surroundings, ProjectError { path: PathBuf::from("."), source })
        })?,
    };
    let is_dir = fs::metadata(&start).and_then(|found| {
        if found.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
    });
    is_dir.map_err(|source| {
        let error = ProjectError { path: start.clone(), source };
        Failure::new(Exit::Usage, error).hint("name the project's root folder with `--project`")
    })?;
    Ok(if named.is_some() { start } else { root_above(&start, environment.home().as_deref()) })
}
