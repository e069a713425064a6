//! The log of what went wrong in a workflow, written by several processes in parallel.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use convoke_domain::compat::execution_log::{Category, append as appended};
use convoke_domain::finding::FileFinding;

use crate::file;

/// How often, and at which interval, the lock is tried.
const TRIES: u32 = 100;
const STEP: Duration = Duration::from_millis(50);

/// The longest log, in bytes.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// An entry that could not be added.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Others hold the lock, or left it behind.
    #[error("cannot lock `{}`", path.display())]
    Locked {
        /// The lock's path.
        path: PathBuf,
    },
    /// The log is there and cannot be read.
    #[error("cannot read `{}`: {reason}", path.display())]
    Unreadable {
        /// The log's path.
        path: PathBuf,
        /// Why it gives no text.
        reason: convoke_domain::finding::Unreadable,
    },
    /// The log cannot be written.
    #[error("cannot write `{}`", path.display())]
    Unwritable {
        /// The log's path.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
}

/// Adds an entry to a log, which is replaced in one step.
pub fn append(log: &Path, category: Category, entry: &str) -> Result<(), LogError> {
    add(log, category, entry, |_| false)
}

/// Adds an entry of one line, unless the log already has it: a retry must not repeat it.
pub fn append_once(log: &Path, category: Category, entry: &str) -> Result<(), LogError> {
    add(log, category, entry, |before| before.lines().any(|line| line == entry.trim_end()))
}

/// Creates the folder of a log.
pub fn make_folder(log: &Path) -> Result<(), LogError> {
    let Some(folder) = log.parent() else { return Ok(()) };
    let refused = |source| LogError::Unwritable { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(refused)
}

fn add(
    log: &Path,
    category: Category,
    entry: &str,
    is_there: impl Fn(&str) -> bool,
) -> Result<(), LogError> {
    let _lock = LockFolder::take(log)?;
    let before = match file::read(log, MAX_BYTES) {
        FileFinding::Text(text) => text,
        FileFinding::Absent => String::new(),
        FileFinding::Unreadable(reason) => {
            return Err(LogError::Unreadable { path: log.to_owned(), reason });
        }
    };
    if is_there(&before) {
        return Ok(());
    }
    let refused = |source| LogError::Unwritable { path: log.to_owned(), source };
    file::put(log, appended(&before, category, entry).as_bytes()).map_err(refused)
}

/// A folder that only one process can make. Scripts make the same one, so it is no lock of a file.
struct LockFolder(PathBuf);

impl LockFolder {
    fn take(log: &Path) -> Result<Self, LogError> {
        let mut name = log.as_os_str().to_owned();
        name.push(".lock.d");
        let path = PathBuf::from(name);
        for attempt in 1..=TRIES {
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(LogError::Unwritable { path: log.to_owned(), source }),
            }
            if attempt < TRIES {
                thread::sleep(STEP);
            }
        }
        Err(LogError::Locked { path })
    }
}

impl Drop for LockFolder {
    fn drop(&mut self) {
        // A lock that cannot be removed is stale for the next process, and an error here would
        // reach no caller.
        fs::remove_dir(&self.0).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // P-312
    #[test]
    fn many_writers_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("execution-issues.md");
        fs::write(&log, "### Q/A\n\n- asked\n").unwrap();
        thread::scope(|scope| {
            for number in 0..8 {
                let log = &log;
                let write = move || append(log, Category::Warnings, &format!("- entry {number}"));
                scope.spawn(move || write().unwrap());
            }
        });
        let text = fs::read_to_string(&log).unwrap();
        assert!(text.starts_with("### Q/A\n\n- asked\n\n### Warnings\n\n- entry "), "{text}");
        assert!((0..8).all(|number| text.contains(&format!("\n- entry {number}\n"))), "{text}");
        let left: Vec<_> = fs::read_dir(dir.path()).unwrap().collect();
        assert_eq!(left.len(), 1, "no lock and no half-written file is left");
    }

    // P-312: what holds the lock is not pushed aside.
    #[test]
    fn a_lock_that_is_held_is_respected() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log.md");
        fs::create_dir(dir.path().join("log.md.lock.d")).unwrap();
        let error = append(&log, Category::Warnings, "- x").unwrap_err();
        assert!(matches!(error, LogError::Locked { .. }), "{error}");
        assert!(!log.exists());
    }

    #[test]
    fn an_existing_entry_is_not_added_again() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("deep/log.md");
        make_folder(&log).unwrap();
        for _ in 0..2 {
            append_once(&log, Category::Warnings, "- same\n").unwrap();
        }
        assert_eq!(fs::read_to_string(&log).unwrap(), "### Warnings\n\n- same\n");
        append(&log, Category::Warnings, "- same").unwrap();
        assert_eq!(fs::read_to_string(&log).unwrap().matches("- same").count(), 2);
    }

    #[test]
    fn a_path_that_is_not_a_log_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log.md");
        fs::write(&log, b"\xff").unwrap();
        let error = append(&log, Category::Warnings, "- x").unwrap_err();
        assert!(matches!(error, LogError::Unreadable { .. }), "{error}");
        assert_eq!(fs::read(&log).unwrap(), b"\xff");
        let nowhere = append(&dir.path().join("no/log.md"), Category::Warnings, "- x").unwrap_err();
        assert!(matches!(nowhere, LogError::Unwritable { .. }), "{nowhere}");
    }
}
