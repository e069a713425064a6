//! The store's rules in the SQL that every backend understands.
//!
//! A change of several statements is one transaction, and writers take turns. What a database must do
//! for that, and how it is opened, is in the module of that database.

mod agent;
pub(crate) mod catalog;
mod claim;
mod deed;
mod delivery;
mod dispatch;
pub(crate) mod driver;
pub(crate) mod failure;
mod fleet;
mod fleet_attempt;
mod fleet_worker;
mod install;
mod journal;
mod lane;
mod lease;
mod letters;
mod message;
mod pin;
mod project;
mod replica;
mod review_loop;
pub(crate) mod row;
mod search;
mod setup;
mod skill;
mod talk_moves;
mod task;
mod task_edit;
mod task_history;
mod task_page;
mod team;
mod transaction;
mod transfer;
mod wake_up;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use convoke_domain::scope::AgentName;

use self::driver::{Connection, OptionalExtension, Row, ToSql};
use self::failure::failed;
use self::transaction::WriteTransaction;
use crate::Store;
use crate::error::StoreError;
use crate::handle::StoreHandle;
use crate::location::StoreLocation;

/// An open store. Threads that share it take turns.
#[derive(Debug)]
pub(crate) struct SqlStore {
    connection: Arc<Mutex<Connection>>,
    /// The actor of changes to tasks.
    actor: AgentName,
}

impl SqlStore {
    pub(crate) fn new(connection: Connection) -> Self {
        Self::sharing(Arc::new(Mutex::new(connection)))
    }

    /// Returns a store that shares the connection of another.
    pub(crate) fn sharing(connection: Arc<Mutex<Connection>>) -> Self {
        Self { connection, actor: AgentName::human() }
    }

    /// Takes the connection. Locking it twice would wait forever, so no function that holds it
    /// calls another method of the store.
    pub(crate) fn connection(&self) -> MutexGuard<'_, Connection> {
        // A thread that panicked has rolled its change back while it unwound.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a change of more than one statement.
    fn begin(&self) -> driver::Result<WriteTransaction<'_>> {
        WriteTransaction::begin(self.connection())
    }

    /// Makes a change of one statement, and returns how many rows it touched.
    fn change(
        &self,
        doing: &'static str,
        sql: &str,
        values: &[&dyn ToSql],
    ) -> Result<usize, StoreError> {
        let connection = self.connection();
        // A server would not let a statement alone wait for a change of several that is under way.
        #[cfg(feature = "postgres")]
        if matches!(&*connection, Connection::Server(_)) {
            let change = || {
                let transaction = WriteTransaction::begin(connection)?;
                let changed = transaction.execute(sql, values)?;
                transaction.commit()?;
                Ok(changed)
            };
            return change().map_err(failed(doing));
        }
        connection.execute(sql, values).map_err(failed(doing))
    }

    /// Reads every row of an answer.
    fn read_all<T>(
        &self,
        doing: &'static str,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl FnMut(&Row<'_>) -> driver::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        rows(&self.connection(), sql, values, read).map_err(failed(doing))
    }

    /// Reads the first row of an answer, if it has one.
    fn read_first<T>(
        &self,
        doing: &'static str,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl FnOnce(&Row<'_>) -> driver::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        first_row(&self.connection(), sql, values, read).map_err(failed(doing))
    }
}

impl Store for SqlStore {
    fn acting_for(&self, actor: AgentName) -> Arc<dyn Store> {
        Arc::new(Self { connection: Arc::clone(&self.connection), actor })
    }

    fn handle_at(&self, location: &StoreLocation) -> StoreHandle {
        StoreHandle::new(location, &self.connection)
    }
}

/// Reads every row of an answer.
pub(crate) fn rows<T>(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    read: impl FnMut(&Row<'_>) -> driver::Result<T>,
) -> driver::Result<Vec<T>> {
    connection.prepare_cached(sql)?.query_all(values, read)
}

/// Reads the first row of an answer, if it has one.
fn first_row<T>(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
    read: impl FnOnce(&Row<'_>) -> driver::Result<T>,
) -> driver::Result<Option<T>> {
    connection.prepare_cached(sql)?.query_row(values, read).optional()
}
