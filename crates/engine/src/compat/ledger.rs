//! The files of the original workflow's ledgers. Several programs append to them in parallel, one
//! complete row at a time; an error costs the row and nothing else.

pub mod token_rows;

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use convoke_domain::compat::ledger::bracket::Bracket;
use convoke_domain::compat::ledger::place::NamedPlaces;
use convoke_domain::compat::ledger::tokens::{file_name, session_id};
use convoke_domain::finding::FileFinding;

use crate::file;
use crate::skill::hash;

/// How often, and at which interval, the lock is tried: five seconds in all.
const TRIES: u32 = 100;
const STEP: Duration = Duration::from_millis(50);

/// The longest ledger or document.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// A row that was not written, or a document that did not get its report.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// A link, or another kind of file.
    #[error("`{}` is not a regular file", path.display())]
    NotRegular {
        /// The file's path.
        path: PathBuf,
    },
    /// Others kept the lock.
    #[error("`{}` is locked", path.display())]
    Locked {
        /// The lock's path.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot write `{}`", path.display())]
    Io {
        /// The path of the file or folder.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
}

/// Appends a row, which has its line ending. Only its user can read the file.
pub fn append(path: &Path, row: &str) -> Result<(), LedgerError> {
    // A path that is not a ledger gets no lock beside it either.
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(LedgerError::NotRegular { path: path.to_owned() });
    }
    let _lock = lock(path)?;
    let mut ledger = open(path)?;
    let end = if is_half(&mut ledger).unwrap_or(false) { "\n" } else { "" };
    let refused = |source| LedgerError::Io { path: path.to_owned(), source };
    ledger.write_all(format!("{end}{row}").as_bytes()).map_err(refused)
}

/// Returns a ledger's text; `None` if it is missing or unreadable.
pub fn read(path: &Path) -> Option<String> {
    let is_own = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_own.then(|| file::lossy_text(path, MAX_BYTES)).flatten()
}

/// Returns where a folder really is, if it exists.
pub fn real(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// Returns what the token ledger of a session is called, by the id that is named, the one in the
/// file that a workflow leaves in its folder, or the working folder.
pub fn token_file(named: &NamedPlaces, id: Option<&str>, working: &Path) -> String {
    let file = named.token_folder().map(|folder| folder.join("session-id"));
    let file = file.and_then(|path| file::text(&path, 4096));
    let folder = hash(working.as_os_str().as_encoded_bytes());
    file_name(&hash(session_id(id, file.as_deref(), &folder)))
}

/// Puts a report into a document, which is created if it is missing.
pub fn place(document: &Path, bracket: Bracket, report: &str) -> Result<(), LedgerError> {
    let before = match file::read(document, MAX_BYTES) {
        FileFinding::Text(text) => text,
        FileFinding::Absent => String::new(),
        FileFinding::Unreadable(_) => {
            return Err(LedgerError::NotRegular { path: document.to_owned() });
        }
    };
    let refused = |source| LedgerError::Io { path: document.to_owned(), source };
    file::replace(document, &bracket.place(&before, report)).map_err(refused)
}

/// Waits for the lock beside a ledger. A row is never written without.
fn lock(path: &Path) -> Result<File, LedgerError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let path = PathBuf::from(name);
    let file = open(&path)?;
    for attempt in 1..=TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(source)) => return Err(LedgerError::Io { path, source }),
            Err(TryLockError::WouldBlock) if attempt < TRIES => thread::sleep(STEP),
            Err(TryLockError::WouldBlock) => {}
        }
    }
    Err(LedgerError::Locked { path })
}

fn open(path: &Path) -> Result<File, LedgerError> {
    file::append_private(path).map_err(|source| {
        let path = path.to_owned();
        if source.kind() == ErrorKind::InvalidInput {
            return LedgerError::NotRegular { path };
        }
        LedgerError::Io { path, source }
    })
}

/// Tells whether the last row was left without its end, by a program that was killed.
fn is_half(file: &mut File) -> io::Result<bool> {
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok(last != *b"\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    // P-363: complete rows, with any number of writers.
    #[test]
    fn many_writers_write_whole_rows() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("timing-ledger.tsv");
        let row = |number: usize| format!("{number}\t{}\n", "x".repeat(5000));
        thread::scope(|scope| {
            for number in 0..20 {
                let path = &path;
                scope.spawn(move || append(path, &row(number)).unwrap());
            }
        });
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<_> = text.split_inclusive('\n').collect();
        lines.sort_by_key(|line| line.split('\t').next().unwrap().parse::<usize>().unwrap());
        assert_eq!(lines, (0..20).map(row).collect::<Vec<_>>());
    }

    // P-363
    #[cfg(unix)]
    #[test]
    fn a_ledger_is_its_owners_alone_and_no_link() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, "old\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        append(&path, "new\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old\nnew\n");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);

        let link = dir.path().join("link");
        symlink(&path, &link).unwrap();
        let error = append(&link, "x\n").unwrap_err();
        assert!(matches!(error, LedgerError::NotRegular { .. }), "{error}");
        assert_eq!(read(&link), None);
        // The lock is a file of the same kind.
        symlink(&path, dir.path().join("b.lock")).unwrap();
        assert!(append(&dir.path().join("b"), "x\n").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "old\nnew\n");
        let folder = dir.path().join("folder");
        fs::create_dir(&folder).unwrap();
        assert!(append(&folder, "x\n").is_err());
        assert!(!dir.path().join("folder.lock").exists(), "nothing is left beside it");
    }

    // P-359, P-370
    #[test]
    fn a_row_without_its_end_costs_no_other_row() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, b"half\xff").unwrap();
        append(&path, "new\n").unwrap();
        assert_eq!(read(&path).as_deref(), Some("half\u{fffd}\nnew\n"));
    }

    // P-363
    #[test]
    fn a_lock_that_is_kept_costs_the_row() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        let held = lock(&path).unwrap();
        let error = append(&path, "x\n").unwrap_err();
        assert!(matches!(error, LedgerError::Locked { .. }), "{error}");
        assert!(!path.exists());
        drop(held);
        append(&path, "x\n").unwrap();
    }

    // P-372
    #[test]
    fn only_a_hash_of_the_id_reaches_the_name() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("session-id"), "from-file\n").unwrap();
        let mut named =
            NamedPlaces { implement: Some(dir.path().to_owned()), ..NamedPlaces::default() };
        let name = |named: &NamedPlaces, id| token_file(named, id, Path::new("/project"));
        let expected = format!("larch-tokens-{}.jsonl", hash("../../etc"));
        assert_eq!(name(&named, Some("../../etc")), expected);
        assert_eq!(name(&named, None), format!("larch-tokens-{}.jsonl", hash("from-file")));
        named.implement = None;
        let folder = format!("larch-tokens-{}.jsonl", hash(hash("/project")));
        assert_eq!(name(&named, None), folder);
    }
}
