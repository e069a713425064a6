//! The store of one user: a SQLite file that many processes share.
//!
//! Writers wait for each other instead of failing. Readers never wait.

mod agent;
mod deed;
mod delivery;
mod dispatch;
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
mod skill;
mod task;
mod task_edit;
mod task_history;
mod transfer;
mod wake_up;

use std::path::Path;
use std::time::Duration;

use convoke_domain::scope::AgentName;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Row, ToSql, Transaction, TransactionBehavior};

use crate::error::StoreError;

/// How long a writer waits for its turn. Every transaction is short, so only a program that hangs
/// while it holds the store can exhaust this.
const PATIENCE: Duration = Duration::from_mins(1);

/// An open store.
#[derive(Debug)]
pub struct SqliteStore {
    connection: Connection,
    /// Whose the changes to tasks are.
    actor: AgentName,
}

impl SqliteStore {
    /// Opens a store, making it and its folder if they are missing, and brings its schema up to
    /// date. A store of a later version is refused and left as it is.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::connect(path, PATIENCE)
    }

    /// Opens a store as [`SqliteStore::open`] does, for a caller in a hurry: it waits for others no
    /// longer than it says, and leaves it to them to fold the log into the file when it closes.
    pub fn open_in_a_hurry(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        let store = Self::connect(path, patience)?;
        let no_checkpoint = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
        let set = store.connection.set_db_config(no_checkpoint, true);
        set.map_err(|source| StoreError::Open { path: path.to_owned(), source })?;
        Ok(store)
    }

    fn connect(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        // A plain path has no special meaning to the database, whatever it is called.
        let absolute = std::path::absolute(path)
            .map_err(|source| StoreError::Folder { path: path.to_owned(), source })?;
        let path = absolute.as_path();
        if let Some(folder) = path.parent() {
            privacy::make_folder(folder)
                .map_err(|source| StoreError::Folder { path: folder.to_owned(), source })?;
        }
        privacy::make_file(path);
        let opened = |source| StoreError::Open { path: path.to_owned(), source };
        let plain = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, plain).map_err(opened)?;
        connection.busy_timeout(patience).map_err(opened)?;
        schema::bring_up_to_date(&connection, path, patience)?;
        privacy::tighten(path);
        let settings = "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;";
        connection.execute_batch(settings).map_err(opened)?;
        Ok(Self { connection, actor: AgentName::human() })
    }

    /// Writes down changes to tasks as this one's; without it, they are the person's at the keyboard.
    pub fn act_for(&mut self, actor: AgentName) {
        self.actor = actor;
    }

    /// Returns what the database finds wrong with itself; nothing if it is sound.
    pub fn check(&self) -> Result<Vec<String>, StoreError> {
        let lines = rows(&self.connection, "PRAGMA integrity_check", &[], |row| row.get(0));
        let lines: Vec<String> = lines.map_err(failed("check the store"))?;
        Ok(lines.into_iter().filter(|line| line != "ok").collect())
    }

    /// Begins a change. The store is taken at once, so that nothing read here can be outdated when
    /// it is written.
    fn begin(&self) -> rusqlite::Result<Transaction<'_>> {
        Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)
    }
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

/// Says what was being done when the database refused.
fn failed(doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
    move |source| StoreError::Failed { doing, source }
}
