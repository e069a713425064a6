//! A lock that a process holds as long as it lives, and that says whose it is.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use convoke_domain::owner::Owner;

use crate::{file, owner};

/// The longest word about a holder.
const MAX_BYTES: u64 = 64 * 1024;

/// The time between two attempts to take a lock.
const STEP: Duration = Duration::from_millis(10);

/// How long Convoke waits for a lock, unless its caller is in more of a hurry.
const PATIENCE: Duration = Duration::from_secs(10);

/// A held lock. The system releases it at any end of the process.
#[derive(Debug)]
pub struct Lock {
    file: File,
}

/// A lock that could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process holds it.
    #[error("{holder} already does this")]
    Held {
        /// The holder, in its own words.
        holder: String,
    },
    /// The file cannot be used.
    #[error("cannot use `{}`", path.display())]
    File {
        /// The lock file's path.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
}

impl Lock {
    /// Takes a lock without waiting. `holder` describes the holder to others.
    pub fn take(path: &Path, holder: &str) -> Result<Self, LockError> {
        let refused = |source| LockError::File { path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        let mut file = options.create(true).append(true).open(path).map_err(refused)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let said = file::text(path, MAX_BYTES).unwrap_or_default();
                let holder = said.lines().next().filter(|holder| !holder.is_empty());
                let holder = holder.unwrap_or("another process").to_owned();
                return Err(LockError::Held { holder });
            }
            Err(TryLockError::Error(source)) => return Err(refused(source)),
        }
        let Owner { pid, mark } = owner::myself();
        let said = format!("{holder}\n{pid} {mark}\n");
        file.set_len(0).and_then(|()| file.write_all(said.as_bytes())).map_err(refused)?;
        Ok(Self { file })
    }

    /// Takes a lock as [`Lock::take`] does, after waiting some seconds for its holder.
    pub fn wait(path: &Path, holder: &str) -> Result<Self, LockError> {
        Self::wait_for(path, holder, PATIENCE)
    }

    /// Takes a lock as [`Lock::take`] does, after waiting at most so long for its holder.
    pub fn wait_for(path: &Path, holder: &str, patience: Duration) -> Result<Self, LockError> {
        let tries = patience.as_millis() / STEP.as_millis();
        for _ in 1..tries {
            match Self::take(path, holder) {
                Err(LockError::Held { .. }) => thread::sleep(STEP),
                taken => return taken,
            }
        }
        Self::take(path, holder)
    }

    /// Returns the description and the process of a lock's holder, as far as visible from here;
    /// `None` if its last holder is gone. It does not try to take the lock, because that would keep
    /// others from it.
    pub fn holder(path: &Path) -> Option<(String, Owner)> {
        let said = file::text(path, MAX_BYTES)?;
        let mut lines = said.lines();
        let holder = lines.next()?.to_owned();
        let (pid, mark) = lines.next()?.split_once(' ')?;
        let owner = Owner { pid: pid.parse().ok()?, mark: mark.to_owned() };
        (!owner::is_gone(&owner)).then_some((holder, owner))
    }
}

impl Drop for Lock {
    /// Releasing a lock clears its holder; a killed holder is recognized by its missing process.
    fn drop(&mut self) {
        self.file.set_len(0).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_once_and_names_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x-lock");
        let first = Lock::take(&path, "the first, who came before").unwrap();
        let error = Lock::take(&path, "the second").unwrap_err();
        assert_eq!(error.to_string(), "the first, who came before already does this");
        drop(first);
        let _third = Lock::take(&path, "c").unwrap();
        let error = Lock::take(&path, "d").unwrap_err();
        assert_eq!(error.to_string(), "c already does this");
        let nowhere = Lock::take(&dir.path().join("no/x"), "e").unwrap_err();
        assert!(matches!(nowhere, LockError::File { .. }));
    }

    #[test]
    fn a_holder_that_is_gone_holds_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x-lock");
        let holder = || Lock::holder(&path).map(|(holder, _)| holder);
        assert_eq!(holder(), None);
        let lock = Lock::take(&path, "me").unwrap();
        assert_eq!(holder(), Some("me".to_owned()));
        let said = std::fs::read_to_string(&path).unwrap();
        let mut words: Vec<_> = said.trim_end().split(' ').collect();
        // The start of the process follows its namespace.
        let start = words.iter().position(|word| word.starts_with("pid:")).map_or(2, |at| at + 1);
        words[start] = "1";
        std::fs::write(&path, words.join(" ") + "\n").unwrap();
        assert_eq!(holder(), None, "another process has its number");
        std::fs::write(&path, "me\n").unwrap();
        assert_eq!(holder(), None);
        std::fs::write(&path, &said).unwrap();
        assert_eq!(holder(), Some("me".to_owned()));
        drop(lock);
        assert_eq!(holder(), None);
    }
}
