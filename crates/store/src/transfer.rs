//! Exports a store and imports it into another, as one file of JSON lines.
//!
//! The first line names the kind of file and its schema; every other line is one row; the last line
//! counts them, so that a file that was cut off is noticed.

use std::io::{self, BufRead};
use std::path::Path;

use jiff::Timestamp;

use crate::error::StoreError;
use crate::location::StoreLocation;

/// The version of the format. A file of another version is refused.
pub const FORMAT: u64 = 1;

/// The longest line that is read. A message has at most 16 MiB, which JSON may write six times as long.
pub const LONGEST_LINE: u64 = 256 * 1024 * 1024;

/// An export or an import failed. The store is as it was.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file could not be written.
    #[error("cannot write the export")]
    Write(#[source] io::Error),
    /// The file could not be read.
    #[error("cannot read the export")]
    Read(#[source] io::Error),
    /// A line is not what a line of an export is.
    #[error("cannot import line {line}: {why}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// The error in the line.
        why: String,
    },
    /// A row refers to one that is not in the file.
    #[error("cannot import this file: a row of `{table}` refers to a row that is missing")]
    Dangling {
        /// The missing row's table.
        table: String,
    },
    /// Rows do not go together.
    #[error("cannot import this file: {why}")]
    Rows {
        /// The contradiction between rows.
        why: String,
    },
    /// The file is of a later version of Convoke.
    #[error("cannot import this file: it has {what} {found}, but this version knows {known}")]
    Newer {
        /// Which is later: the format or the schema.
        what: &'static str,
        /// The file's version.
        found: u64,
        /// The newest version that this program knows.
        known: u64,
    },
    /// The copy is not what it was copied from.
    #[error("cannot copy the store: the rows of `{table}` differ in the copy")]
    Differs {
        /// The first table with other rows.
        table: String,
    },
    /// The store is not empty.
    #[error("cannot import into this store: it has {rows} rows in `{table}`")]
    NotEmpty {
        /// The first table with rows.
        table: String,
        /// How many rows it has.
        rows: u64,
    },
}

/// What a table holds, to compare it with another store's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDigest {
    /// The table's name.
    pub table: String,
    /// How many rows it has.
    pub rows: u64,
    /// The sum of the SHA-256 of its rows, which does not depend on their order.
    pub sha256: String,
}

/// A copy of a store that has been compared with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopiedStore {
    /// What both stores hold.
    pub tables: Vec<TableDigest>,
    /// The copy had been made before.
    pub was_there: bool,
}

/// Exports, imports and checks a store.
pub trait TransferStore {
    /// Returns the defects of the store; empty if it is sound.
    fn check(&self) -> Result<Vec<String>, StoreError>;

    /// Copies the store as it is at one moment into a file, and checks the copy, which is a store.
    /// Other processes can write meanwhile.
    fn backup(&self, path: &Path) -> Result<(), StoreError>;

    /// Writes every row as it is at one moment, line by line, and returns how many there were. `write`
    /// must not use the store, which waits for it.
    fn export(
        &self,
        now: Timestamp,
        write: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> Result<u64, TransferError>;

    /// Puts every row of an export into an empty store, in one transaction, and returns how many
    /// there were. A store in which there are only names of projects and firings of hooks is empty;
    /// both are replaced. A file of an earlier schema is brought up to date.
    fn import(&self, read: &mut dyn BufRead) -> Result<u64, TransferError>;

    /// Returns what each table holds, at one moment.
    fn digests(&self) -> Result<Vec<TableDigest>, StoreError>;

    /// Puts every row of this store, as it is at one moment, into an empty store, in one transaction, and
    /// keeps it only if both hold the same afterwards. A copy that is there already stays. Repeat it
    /// after an interruption: until it is whole, the other store is as it was.
    fn copy_into(&self, target: &StoreLocation) -> Result<CopiedStore, TransferError>;
}
