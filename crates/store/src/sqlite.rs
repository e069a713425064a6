//! The store of one user: a SQLite file that many processes share.
//!
//! Writers wait for each other instead of failing. Readers never wait.

mod agent;
mod claim;
mod deed;
mod delivery;
mod dispatch;
mod failure;
pub(crate) mod foreign;
pub(crate) mod foreign_messages;
mod install;
mod journal;
mod lane;
mod message;
mod pin;
mod privacy;
mod project;
mod review_loop;
mod row;
mod schema;
mod setup;
mod skill;
mod talk_moves;
mod task;
mod task_edit;
mod task_history;
mod transaction;
mod transfer;
mod wake_up;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_domain::scope::AgentName;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, ToSql};

use self::failure::{failed, not_opened};
use self::transaction::WriteTransaction;
use crate::Store;
use crate::error::StoreError;

/// How long a writer waits for its turn. Every transaction is short, so only a program that hangs
/// while it holds the store can exhaust this.
const PATIENCE: Duration = Duration::from_mins(1);

/// An open store. Threads that share it take turns.
#[derive(Debug)]
pub(crate) struct SqliteStore {
    connection: Arc<Mutex<Connection>>,
    /// The actor of changes to tasks.
    actor: AgentName,
}

impl SqliteStore {
    /// Opens a store, making it and its folder if they are missing.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self::new(connect(path, PATIENCE)?))
    }

    /// Opens a store for a caller that waits for others no longer than it says, and that leaves it to
    /// them to fold the log into the file when it closes.
    pub(crate) fn open_in_a_hurry(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        let connection = connect(path, patience)?;
        let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        connection.set_db_config(no_checkpoint, true).map_err(not_opened(path))?;
        Ok(Self::new(connection))
    }

    /// Opens a store for a caller that reads alone: no file of the store is made or changed.
    pub(crate) fn open_to_look(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(not_opened(path))?;
        connection.busy_timeout(patience).map_err(not_opened(path))?;
        let plan_once = DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
        connection.set_db_config(plan_once, true).map_err(not_opened(path))?;
        schema::check_present(&connection, path)?;
        Ok(Self::new(connection))
    }

    fn new(connection: Connection) -> Self {
        Self { connection: Arc::new(Mutex::new(connection)), actor: AgentName::human() }
    }

    /// Takes the connection. Locking it twice would wait forever, so no function that holds it
    /// calls another method of the store.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A thread that panicked has rolled its change back while it unwound.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a change of more than one statement.
    fn begin(&self) -> rusqlite::Result<WriteTransaction<'_>> {
        WriteTransaction::begin(self.connection())
    }

    /// Makes a change of one statement, and returns how many rows it touched.
    fn change(
        &self,
        doing: &'static str,
        sql: &str,
        values: &[&dyn ToSql],
    ) -> Result<usize, StoreError> {
        self.connection().execute(sql, values).map_err(failed(doing))
    }

    /// Reads every row of an answer.
    fn read_all<T>(
        &self,
        doing: &'static str,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        rows(&self.connection(), sql, values, read).map_err(failed(doing))
    }

    /// Reads the first row of an answer, if it has one.
    fn read_first<T>(
        &self,
        doing: &'static str,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        first_row(&self.connection(), sql, values, read).map_err(failed(doing))
    }
}

impl Store for SqliteStore {
    fn acting_for(&self, actor: AgentName) -> Arc<dyn Store> {
        Arc::new(Self { connection: Arc::clone(&self.connection), actor })
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

/// Reads every row of an answer.
fn rows<T>(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_map(values, read)?.collect()
}

/// Reads the first row of an answer, if it has one.
fn first_row<T>(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Option<T>> {
    connection.prepare_cached(sql)?.query_row(values, read).optional()
}
