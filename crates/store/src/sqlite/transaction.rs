//! Changes that succeed completely or not at all.

use std::ops::Deref;
use std::sync::MutexGuard;

use rusqlite::Connection;

/// A change under way. It holds the connection, so no other thread's statement becomes part of it;
/// the holder of one must use it instead of the store. It is undone unless it is committed.
pub(super) struct WriteTransaction<'a> {
    connection: MutexGuard<'a, Connection>,
}

impl<'a> WriteTransaction<'a> {
    /// Begins a change. It locks the store immediately, so that nothing read here can be outdated when it
    /// is written.
    pub(super) fn begin(connection: MutexGuard<'a, Connection>) -> rusqlite::Result<Self> {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        Ok(Self { connection })
    }

    /// Keeps the change.
    pub(super) fn commit(self) -> rusqlite::Result<()> {
        self.connection.execute_batch("COMMIT")
    }
}

impl Deref for WriteTransaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Drop for WriteTransaction<'_> {
    fn drop(&mut self) {
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK").ok();
        }
    }
}
