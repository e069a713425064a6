//! A store holds messages of agents and people, so only its user can read it.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

/// The endings of a store's file names: the database itself, its log, the log's index, and the lock
/// of the process that creates it.
const FILES: [&str; 4] = ["", "-wal", "-shm", "-lock"];

/// The name of Convoke's own folder.
const OURS: &str = "convoke";

/// Creates a folder that only its owner can read. An existing folder keeps its permissions.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Makes the file that a database begins as, which its log takes after. What cannot be made so is
/// left to the database, which says more about it.
pub(crate) fn make_file(path: &Path) {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).ok();
}

/// Lets the owner write the log of a store again. A store that was read-only for a while may have left
/// an index of its log that is still read-only.
pub(super) fn make_log_writable(path: &Path) {
    let mut index: OsString = path.into();
    index.push("-shm");
    let is_writable =
        |path: &Path| fs::metadata(path).ok().map(|found| found.permissions().mode() & 0o200 != 0);
    if is_writable(Path::new(&index)) != Some(false) || is_writable(path) != Some(true) {
        return;
    }
    for end in ["-wal", "-shm"] {
        let mut name: OsString = path.into();
        name.push(end);
        fs::set_permissions(name, fs::Permissions::from_mode(0o600)).ok();
    }
}

/// Removes the access that an earlier version gave to others: to the files, and to the folder if it
/// has Convoke's name; any other may belong to another program.
pub(super) fn tighten(path: &Path) {
    for end in FILES {
        let mut name: OsString = path.into();
        name.push(end);
        take_from_others(Path::new(&name), fs::Metadata::is_file);
    }
    let is_ours = |folder: &&Path| folder.file_name().is_some_and(|name| name == OURS);
    if let Some(folder) = path.parent().filter(is_ours) {
        take_from_others(folder, fs::Metadata::is_dir);
    }
}

/// Only its owner can; another user's store keeps its permissions.
fn take_from_others(path: &Path, is_meant: fn(&fs::Metadata) -> bool) {
    let Ok(found) = fs::metadata(path) else { return };
    let mode = found.permissions().mode();
    if is_meant(&found) && mode & 0o077 != 0 {
        fs::set_permissions(path, fs::Permissions::from_mode(mode & 0o700)).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::SqlStore;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn with_end(path: &Path, end: &str) -> std::path::PathBuf {
        let mut name: OsString = path.into();
        name.push(end);
        name.into()
    }

    // What a read-only time leaves behind does not keep a store read-only.
    #[test]
    fn a_store_that_was_read_only_is_written_again() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("convoke/store.db");
        let open = SqlStore::open(&path).unwrap();
        let index = with_end(&path, "-shm");
        fs::set_permissions(&index, fs::Permissions::from_mode(0o400)).unwrap();
        make_log_writable(&path);
        assert_eq!(mode(&index), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        fs::set_permissions(&index, fs::Permissions::from_mode(0o400)).unwrap();
        make_log_writable(&path);
        assert_eq!(mode(&index), 0o400, "a store that is meant to be read-only stays so");
        drop(open);
    }

    // Only its user can read a store, from its first moment on.
    #[test]
    fn a_store_is_its_users_alone() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("state/convoke/store.db");
        let _store = SqlStore::open(&path).unwrap();
        assert_eq!(mode(path.parent().unwrap()), 0o700);
        for end in FILES {
            let file = with_end(&path, end);
            assert_eq!(mode(&file) & 0o077, 0, "{}", file.display());
        }
    }

    #[test]
    fn a_store_that_others_could_read_is_taken_from_them() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("convoke");
        let path = folder.join("store.db");
        let store = SqlStore::open(&path).unwrap();
        let there =
            || FILES.map(|end| with_end(&path, end)).into_iter().filter(|path| path.exists());
        assert_eq!(there().count(), 4);
        for file in there() {
            fs::set_permissions(file, fs::Permissions::from_mode(0o644)).unwrap();
        }
        for folder in [top.path(), &folder] {
            fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
        }
        SqlStore::open(&path).unwrap();
        for file in there() {
            assert_eq!(mode(&file), 0o600, "{}", file.display());
        }
        assert_eq!(mode(&folder), 0o700);
        SqlStore::open(&top.path().join("store.db")).unwrap();
        assert_eq!(mode(top.path()), 0o755, "another folder may belong to another program");
        drop(store);
    }

    #[test]
    fn another_programs_database_keeps_its_mode() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("store.db");
        let theirs = rusqlite::Connection::open(&path).unwrap();
        theirs.execute_batch("CREATE TABLE theirs (x)").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        SqlStore::open(&path).unwrap_err();
        assert_eq!(mode(&path), 0o644);
    }
}
