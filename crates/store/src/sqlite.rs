//! The store of one user: a SQLite file that many processes share.
//!
//! Writers wait for each other instead of failing. Readers never wait.

pub(crate) mod foreign;
pub(crate) mod foreign_messages;
mod privacy;
pub(crate) mod schema;

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

pub(crate) use self::privacy::make_file;
use crate::error::StoreError;
use crate::location::StoreLocation;
use crate::sql::{SqlStore, driver, failure};

/// How long a writer waits for its turn. Every transaction is short, so only a program that hangs
/// while it holds the store can exhaust this.
const PATIENCE: Duration = Duration::from_mins(1);

impl SqlStore {
    /// Opens a store, making it and its folder if they are missing.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self::of_file(connect(path, PATIENCE)?))
    }

    /// Opens a store for a caller that waits for others no longer than it says, and that leaves it to
    /// them to fold the log into the file when it closes.
    pub(crate) fn open_in_a_hurry(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        let connection = connect(path, patience)?;
        let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        connection.set_db_config(no_checkpoint, true).map_err(not_opened(path))?;
        Ok(Self::of_file(connection))
    }

    /// Opens a store for a caller that reads alone: no file of the store is made or changed.
    pub(crate) fn open_to_look(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(not_opened(path))?;
        connection.busy_timeout(patience).map_err(not_opened(path))?;
        let plan_once = DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
        connection.set_db_config(plan_once, true).map_err(not_opened(path))?;
        schema::check_present(&connection, path)?;
        Ok(Self::of_file(connection))
    }

    fn of_file(connection: Connection) -> Self {
        Self::new(driver::Connection::Sqlite(connection))
    }
}

fn connect(path: &Path, patience: Duration) -> Result<Connection, StoreError> {
    // An absolute path has no special meaning to the database, with any name.
    let absolute = std::path::absolute(path)
        .map_err(|source| StoreError::Folder { path: path.to_owned(), source })?;
    let path = absolute.as_path();
    if let Some(folder) = path.parent() {
        privacy::make_folder(folder)
            .map_err(|source| StoreError::Folder { path: folder.to_owned(), source })?;
    }
    privacy::make_file(path);
    privacy::make_log_writable(path);
    let plain = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, plain).map_err(not_opened(path))?;
    connection.busy_timeout(patience).map_err(not_opened(path))?;
    // Without it, SQLite plans a statement a second time when its first values arrive: a sixth of
    // all that a hook computes.
    let plan_once = DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
    connection.set_db_config(plan_once, true).map_err(not_opened(path))?;
    schema::bring_up_to_date(&connection, path, patience)?;
    privacy::tighten(path);
    let settings = "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;";
    connection.execute_batch(settings).map_err(not_opened(path))?;
    Ok(connection)
}

/// Returns the version of a store's schema and the one that is written here. The store stays as it is.
pub(crate) fn schema_versions(path: &Path) -> Result<(usize, usize), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(not_opened(path))?;
    Ok((schema::version(&connection).map_err(not_opened(path))?, schema::KNOWN))
}

/// Returns the error for a store that could not be opened.
fn not_opened(path: &Path) -> impl Fn(rusqlite::Error) -> StoreError {
    move |source| failure::not_opened(StoreLocation::file(path), source.into())
}
