//! The schema of the tables, and its migrations.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::not_opened;
use crate::error::StoreError;
use crate::location::StoreLocation;

/// One script for each version of the schema. A script that was released never changes.
const MIGRATIONS: [&str; 27] = [
    include_str!("0001.sql"),
    include_str!("0002.sql"),
    include_str!("0003.sql"),
    include_str!("0004.sql"),
    include_str!("0005.sql"),
    include_str!("0006.sql"),
    include_str!("0007.sql"),
    include_str!("0008.sql"),
    include_str!("0009.sql"),
    include_str!("0010.sql"),
    include_str!("0011.sql"),
    include_str!("0012.sql"),
    include_str!("0013.sql"),
    include_str!("0014.sql"),
    include_str!("0015.sql"),
    include_str!("0016.sql"),
    include_str!("0017.sql"),
    include_str!("0018.sql"),
    include_str!("0019.sql"),
    include_str!("0020.sql"),
    include_str!("0021.sql"),
    include_str!("0022.sql"),
    include_str!("0023.sql"),
    include_str!("0024.sql"),
    include_str!("0025.sql"),
    include_str!("0026.sql"),
    include_str!("0027.sql"),
];

/// Marks a database as Convoke's: the letters `Conv`.
const APPLICATION: i32 = 0x436f_6e76;

pub(crate) const KNOWN: usize = MIGRATIONS.len();

/// Applies the scripts that a store does not have yet.
pub(super) fn bring_up_to_date(
    connection: &Connection,
    path: &Path,
    patience: Duration,
) -> Result<(), StoreError> {
    let not_opened = not_opened(path);
    let location = || StoreLocation::file(path);
    let found = version(connection).map_err(&not_opened)?;
    if !is_ours(connection).map_err(&not_opened)? {
        return Err(StoreError::Foreign { location: location() });
    }
    if found > KNOWN {
        return Err(StoreError::Newer { location: location(), found, known: KNOWN });
    }
    if found == KNOWN {
        return Ok(());
    }
    // Changing the journal mode fails when two processes try it together, so new stores are created
    // in turn.
    let lock_path = location().lock_file("lock", Path::new(""));
    let folder = |source| StoreError::Folder { path: lock_path.clone(), source };
    let lock = OpenOptions::new().create(true).append(true).open(&lock_path).map_err(folder)?;
    wait_for(&lock, patience).map_err(folder)?;
    migrate(connection, KNOWN).map_err(not_opened)
}

/// Checks that a store can be read as it is.
pub(super) fn check_present(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let not_opened = not_opened(path);
    let location = || StoreLocation::file(path);
    if !is_ours(connection).map_err(&not_opened)? {
        return Err(StoreError::Foreign { location: location() });
    }
    match version(connection).map_err(&not_opened)? {
        KNOWN => Ok(()),
        found if found > KNOWN => {
            Err(StoreError::Newer { location: location(), found, known: KNOWN })
        }
        found => Err(StoreError::Older { location: location(), found, known: KNOWN }),
    }
}

/// Waits for a lock, but not for ever.
pub(crate) fn wait_for(lock: &File, patience: Duration) -> io::Result<()> {
    const STEP: Duration = Duration::from_millis(10);
    let mut left = patience;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if left.is_zero() => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            Err(TryLockError::WouldBlock) => {
                thread::sleep(STEP);
                left = left.saturating_sub(STEP);
            }
        }
    }
}

/// Applies scripts up to a version.
pub(crate) fn migrate(connection: &Connection, target: usize) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "wal")?;
    let transaction =
        rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    let have = version(&transaction)?;
    for script in MIGRATIONS.iter().take(target).skip(have) {
        transaction.execute_batch(script)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", target.max(have).to_string())?;
    transaction.commit()
}

/// A database is Convoke's if it is empty, or has Convoke's mark. Read the tables first: another
/// process may create them, with their mark, between the two queries.
fn is_ours(connection: &Connection) -> rusqlite::Result<bool> {
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
    let application: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    Ok(tables == 0 || application == APPLICATION)
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<usize> {
    let version: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(version as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::SqlStore;
    use crate::sql::driver::params;

    fn shape(connection: &Connection) -> Vec<String> {
        let mut statement = connection
            .prepare("SELECT name || coalesce(sql, '') FROM sqlite_master ORDER BY 1")
            .unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn every_version_becomes_the_present_one() {
        let fresh = Connection::open_in_memory().unwrap();
        migrate(&fresh, KNOWN).unwrap();
        for version in 0..=KNOWN {
            let older = Connection::open_in_memory().unwrap();
            migrate(&older, version).unwrap();
            migrate(&older, KNOWN).unwrap();
            assert_eq!(shape(&older), shape(&fresh), "from schema {version}");
        }
    }

    // The old form of an owner no longer identifies a process, and no other process would release
    // the agent.
    #[test]
    fn an_agent_that_is_taken_when_owners_get_marks_is_let_go() {
        let store = Connection::open_in_memory().unwrap();
        migrate(&store, 10).unwrap();
        let taken = "INSERT INTO agents (project, branch, name, client, status, pid, pid_started) \
                     VALUES ('p', 'main', 'june', 'claude', 'busy', 7, 70), \
                     ('p', 'main', 'max', 'claude', 'blocked', NULL, NULL)";
        store.execute(taken, []).unwrap();
        migrate(&store, KNOWN).unwrap();
        let sql = "SELECT group_concat(name || status || coalesce(pid, '')) FROM agents ORDER BY 1";
        let found: String = store.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(found, "juneidle,maxblocked");
    }

    #[test]
    fn a_store_in_creation_is_not_waited_for_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let lock = File::create(dir.path().join("store.db-lock")).unwrap();
        lock.lock().unwrap();
        let hurried = SqlStore::open_in_a_hurry(&path, Duration::from_millis(50));
        assert!(matches!(hurried, Err(StoreError::Folder { .. })), "{hurried:?}");
        drop(lock);
        SqlStore::open_in_a_hurry(&path, Duration::from_millis(50)).unwrap();
    }

    #[test]
    fn a_later_schema_is_refused_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let later = Connection::open(&path).unwrap();
        later.execute_batch("CREATE TABLE later (x); PRAGMA user_version = 99; PRAGMA application_id = 1131376246;").unwrap();
        drop(later);
        let before = std::fs::read(&path).unwrap();
        let error = SqlStore::open(&path).unwrap_err();
        assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error}");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn a_look_at_a_store_makes_and_updates_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        let look = || SqlStore::open_to_look(&path, Duration::ZERO);
        assert!(look().is_err());
        assert!(!path.exists());
        drop(SqlStore::open(&path).unwrap());
        let store = look().unwrap();
        assert!(
            store.connection().execute("DELETE FROM tasks", params![]).is_err(),
            "a look changes nothing"
        );
        drop(store);
        Connection::open(&path).unwrap().pragma_update(None, "user_version", "3").unwrap();
        let before = std::fs::read(&path).unwrap();
        assert!(matches!(look(), Err(StoreError::Older { found: 3, .. })));
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn another_programs_database_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        let before = std::fs::read(&path).unwrap();
        assert!(matches!(SqlStore::open(&path), Err(StoreError::Foreign { .. })));
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }

    #[test]
    fn nothing_beside_the_store_is_harmed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("Cargo.lock"), "precious").unwrap();
        SqlStore::open(&dir.path().join("Cargo")).unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("Cargo.lock")).unwrap(), "precious");
    }

    #[test]
    fn a_file_that_is_no_store_is_refused_with_a_hint() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("store.db");
        std::fs::write(&path, "not a database, but long enough to look like something").unwrap();
        let error = SqlStore::open(&path).unwrap_err();
        assert!(error.hint().unwrap().contains("convoke store check"), "{error}");
    }
}
