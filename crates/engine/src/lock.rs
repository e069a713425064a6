//! A lock that a process holds as long as it lives, and that says whose it is.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::file;

/// The longest word about a holder.
const MAX_BYTES: u64 = 64 * 1024;

/// A lock that is held. The system lets go of it, however the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// A lock that could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum NotLocked {
    /// Somebody else holds it.
    #[error("{holder} does so already")]
    Held {
        /// Who, in its own words.
        holder: String,
    },
    /// The file cannot be used.
    #[error("cannot use `{}`", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Lock {
    /// Takes a lock without waiting. `holder` is what others are told.
    pub fn take(path: &Path, holder: &str) -> Result<Self, NotLocked> {
        let refused = |source| NotLocked::File { path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        let mut file = options.create(true).append(true).open(path).map_err(refused)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = file::text(path, MAX_BYTES).unwrap_or_default();
                let holder = holder.trim();
                let holder = if holder.is_empty() { "another process" } else { holder };
                return Err(NotLocked::Held { holder: holder.to_owned() });
            }
            Err(TryLockError::Error(source)) => return Err(refused(source)),
        }
        file.set_len(0).and_then(|()| writeln!(file, "{holder}")).map_err(refused)?;
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_and_says_by_whom() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x-lock");
        let first = Lock::take(&path, "the first, who came before").unwrap();
        let error = Lock::take(&path, "the second").unwrap_err();
        assert_eq!(error.to_string(), "the first, who came before does so already");
        drop(first);
        let _third = Lock::take(&path, "c").unwrap();
        let error = Lock::take(&path, "d").unwrap_err();
        assert_eq!(error.to_string(), "c does so already");
        let nowhere = Lock::take(&dir.path().join("no/x"), "e").unwrap_err();
        assert!(matches!(nowhere, NotLocked::File { .. }));
    }
}
