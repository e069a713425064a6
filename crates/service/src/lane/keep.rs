//! Keeps a client's output in a folder of the user's.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::LaneError;
use crate::failure::{ErrorClass, Failure};

/// The files that are kept of a lane.
const FILES: [&str; 3] = ["stdout", "stderr", "stdin"];

/// Prepares the folder before any cost: it creates the folder, and removes files of an earlier
/// lane.
pub(super) fn make_ready(folder: &Path) -> Result<(), Failure> {
    let clear = || {
        fs::create_dir_all(folder)?;
        FILES.iter().try_for_each(|name| match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        })?;
        // Find out now that the folder is not writable.
        tempfile::tempfile_in(folder).map(drop)
    };
    clear().map_err(|source| failed(folder, source))
}

/// Copies the client's output into the folder.
pub(super) fn keep(scratch: &Path, folder: &Path) -> Result<(), Failure> {
    let copy = || {
        for name in FILES {
            if scratch.join(name).exists() {
                fs::copy(scratch.join(name), folder.join(name))?;
            }
        }
        Ok(())
    };
    copy().map_err(|source| failed(folder, source))
}

fn failed(folder: &Path, source: io::Error) -> Failure {
    let error = LaneError::Keep { path: folder.to_owned(), source };
    Failure::new(ErrorClass::Prerequisite, error)
}
