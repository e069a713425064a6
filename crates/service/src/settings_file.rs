//! The one door to files of settings that a user or another program edits too: those of clients, of
//! Convoke and of git, and the guidance for agents. A test keeps other ways of writing out of the
//! use cases that change such files.

use std::io;
use std::path::{Path, PathBuf};

use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_engine::file::{self, EditError, EditTerms, FileEdit};
use convoke_engine::lock::LockError;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

/// No settings file that a person writes is larger.
pub(crate) const MAX_BYTES: u64 = 4 * 1024 * 1024;

#[derive(Debug, thiserror::Error)]
enum SettingsFileError {
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot write `{}`: another process of Convoke is changing settings", path.display())]
    Locked { path: PathBuf, source: LockError },
    #[error("cannot write `{}`: another program keeps changing it", path.display())]
    Changing { path: PathBuf },
}

/// Returns a file's text; `None` without a file.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Failure> {
    match file::read(path, MAX_BYTES) {
        FileFinding::Absent => Ok(None),
        FileFinding::Text(text) => Ok(Some(text)),
        FileFinding::Unreadable(reason) => Err(unreadable(path, reason)),
    }
}

/// Edits a file: `decide` gets its text and says what becomes of it. Convoke's processes take turns,
/// and `decide` is called again with the new text if another program saves the file meanwhile. It
/// must not edit another file, and what it records must be right when it is called again.
pub(crate) fn edit(
    session: &Session,
    path: &Path,
    decide: impl FnMut(Option<&str>) -> Result<FileEdit, Failure>,
) -> Result<FileEdit, Failure> {
    let lock = session.environment.settings_lock();
    let terms = EditTerms { lock: lock.as_deref(), max_bytes: MAX_BYTES };
    let write = |error| Failure::new(ErrorClass::Prerequisite, error);
    let again = "nothing was changed; try again when the other program is done";
    let path = path.to_owned();
    file::edit(&path.clone(), terms, decide).map_err(|error| match error {
        EditError::Refused(failure) => failure,
        EditError::Unreadable(reason) => unreadable(&path, reason),
        EditError::Unwritable(source) => write(SettingsFileError::Write { path, source }),
        EditError::Locked(source) => write(SettingsFileError::Locked { path, source }).hint(again),
        EditError::Changing => write(SettingsFileError::Changing { path }).hint(again),
    })
}

/// Returns the edit that leads to a text, or to no file.
pub(crate) fn to(text: Option<String>) -> FileEdit {
    text.map_or(FileEdit::Remove, FileEdit::Write)
}

fn unreadable(path: &Path, reason: Unreadable) -> Failure {
    let error = SettingsFileError::Unreadable { path: path.to_owned(), reason };
    Failure::new(ErrorClass::Prerequisite, error)
}
