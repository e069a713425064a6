//! Texts that a user names or writes for a command.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_engine::{editor, file};

use crate::failure::{ErrorClass, Failure};

#[derive(Debug, thiserror::Error)]
enum GivenTextError {
    #[error("cannot read `{}`: there is no such file", path.display())]
    Absent { path: PathBuf },
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
    #[error("cannot read `{}`: it is not a readable file of at most {most_bytes} bytes", path.display())]
    NoBytes { path: PathBuf, most_bytes: u64 },
    #[error("cannot start the editor")]
    NoEditor(#[source] io::Error),
}

/// Reads a file that the user named, of at most so many bytes.
pub fn read_text(path: &Path, most_bytes: u64) -> Result<String, Failure> {
    let path = path.to_owned();
    let error = match file::read(&path, most_bytes) {
        FileFinding::Text(text) => return Ok(text),
        FileFinding::Absent => GivenTextError::Absent { path },
        FileFinding::Unreadable(reason) => GivenTextError::Unreadable { path, reason },
    };
    Err(Failure::new(ErrorClass::Prerequisite, error))
}

/// Reads a file that the user named, of any bytes, and of at most so many.
pub fn read_bytes(path: &Path, most_bytes: u64) -> Result<Vec<u8>, Failure> {
    file::bytes(path, most_bytes).ok_or_else(|| {
        let path = path.to_owned();
        let error = if path.exists() {
            GivenTextError::NoBytes { path, most_bytes }
        } else {
            GivenTextError::Absent { path }
        };
        Failure::new(ErrorClass::Prerequisite, error)
    })
}

/// Lets the user change a text in an editor; `None` if the editor fails.
pub fn edit_text(editor: &OsStr, text: &str) -> Result<Option<String>, Failure> {
    editor::edit(editor, text)
        .map_err(|error| Failure::new(ErrorClass::Prerequisite, GivenTextError::NoEditor(error)))
}
