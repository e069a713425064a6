//! A store holds what agents and people said to each other, and is its user's alone.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// What the names of a store's files end in: the database itself, its log, the log's index, and the
/// lock of whoever makes it.
const FILES: [&str; 4] = ["", "-wal", "-shm", "-lock"];

/// Makes a folder that nobody else can look into. One that is there stays as it is: it may be
/// somebody else's.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Makes the file that a database begins as, which its log takes after. What cannot be made so is
/// left to the database, which says more about it.
pub(super) fn make_file(path: &Path) {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).ok();
}

/// Takes from everybody else what an earlier version gave them. Only its owner can; that somebody
/// else's store stays as it is costs nothing.
pub(super) fn tighten(path: &Path) {
    for end in FILES {
        let mut name: OsString = path.into();
        name.push(end);
        let Ok(found) = fs::metadata(&name) else { continue };
        let mode = found.permissions().mode();
        if found.is_file() && mode & 0o077 != 0 {
            fs::set_permissions(&name, fs::Permissions::from_mode(mode & 0o700)).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::SqliteStore;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn with_end(path: &Path, end: &str) -> std::path::PathBuf {
        let mut name: OsString = path.into();
        name.push(end);
        name.into()
    }

    // What is in a store is nobody else's business, from its first moment on.
    #[test]
    fn a_store_is_its_users_alone() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("state/convoke/store.db");
        let _store = SqliteStore::open(&path).unwrap();
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        for end in FILES {
            let file = with_end(&path, end);
            assert_eq!(mode(&file) & 0o077, 0, "{}", file.display());
        }
    }

    #[test]
    fn a_store_that_others_could_read_is_taken_from_them() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("store.db");
        let store = SqliteStore::open(&path).unwrap();
        let there = || FILES.map(|end| with_end(&path, end)).into_iter().filter(|it| it.exists());
        assert_eq!(there().count(), 4);
        for file in there() {
            fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
        }
        fs::set_permissions(top.path(), fs::Permissions::from_mode(0o755)).unwrap();
        SqliteStore::open(&path).unwrap();
        for file in there() {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
        assert_eq!(mode(top.path()), 0o755, "a folder may be somebody else's");
        drop(store);
    }

    #[test]
    fn another_programs_database_keeps_its_mode() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("store.db");
        let theirs = rusqlite::Connection::open(&path).unwrap();
        theirs.execute_batch("CREATE TABLE theirs (x)").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        SqliteStore::open(&path).unwrap_err();
        assert_eq!(mode(&path), 0o644);
    }
}
