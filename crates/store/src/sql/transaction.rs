//! Changes that succeed completely or not at all.

use std::ops::Deref;
use std::sync::MutexGuard;

use super::driver::{Connection, Result};

/// A change under way. It holds the connection, so no other thread's statement becomes part of it;
/// the holder of one must use it instead of the store. It is undone unless it is committed.
pub(crate) struct WriteTransaction<'a> {
    connection: MutexGuard<'a, Connection>,
}

impl<'a> WriteTransaction<'a> {
    /// Begins a change. It locks the store immediately, so that nothing read here can be outdated when it
    /// is written.
    pub(crate) fn begin(connection: MutexGuard<'a, Connection>) -> Result<Self> {
        connection.begin_write()?;
        Ok(Self { connection })
    }

    /// Begins a change of the file beside the store, by its first statement. The store itself is only read.
    pub(crate) fn begin_beside(
        connection: MutexGuard<'a, Connection>,
        first: &str,
    ) -> Result<Self> {
        let change = Self { connection };
        change.connection.begin_write_beside(first)?;
        Ok(change)
    }

    /// Keeps the change.
    pub(crate) fn commit(self) -> Result<()> {
        self.connection.commit()
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
        self.connection.rollback();
    }
}

/// A look at one state of the store. It holds the connection.
pub(crate) struct ReadTransaction<'a>(MutexGuard<'a, Connection>);

impl<'a> ReadTransaction<'a> {
    pub(crate) fn begin(connection: MutexGuard<'a, Connection>) -> Result<Self> {
        connection.begin_read()?;
        Ok(Self(connection))
    }
}

impl Deref for ReadTransaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.0
    }
}

impl Drop for ReadTransaction<'_> {
    fn drop(&mut self) {
        self.0.rollback();
    }
}
