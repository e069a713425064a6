//! The one place that chooses a backend: opening a store by its location.

use std::sync::Arc;
use std::time::Duration;

use crate::Store;
use crate::error::StoreError;
use crate::location::{Place, StoreLocation};
use crate::sqlite::{self, SqliteStore};

/// Opens a store, making it if it is missing, and brings its schema up to date. A store of a later
/// version is refused and left as it is. Changes are those of the person at the keyboard until
/// [`Store::acting_for`] names another actor.
pub fn open(location: &StoreLocation) -> Result<Arc<dyn Store>, StoreError> {
    match &location.0 {
        Place::File(path) => Ok(Arc::new(SqliteStore::open(path)?)),
    }
}

/// Opens a store as [`open`] does, for a caller in a hurry: it waits for other processes no longer than
/// `patience`, and leaves work that can wait to them.
pub fn open_in_a_hurry(
    location: &StoreLocation,
    patience: Duration,
) -> Result<Arc<dyn Store>, StoreError> {
    match &location.0 {
        Place::File(path) => Ok(Arc::new(SqliteStore::open_in_a_hurry(path, patience)?)),
    }
}

/// Opens a store for a caller that only reads: it makes, changes and updates nothing, and waits for other
/// processes no longer than `patience`. `None` if there is no store.
pub fn open_to_look(
    location: &StoreLocation,
    patience: Duration,
) -> Result<Option<Arc<dyn Store>>, StoreError> {
    match &location.0 {
        Place::File(path) if !path.exists() => Ok(None),
        Place::File(path) => Ok(Some(Arc::new(SqliteStore::open_to_look(path, patience)?))),
    }
}

/// The version of a store's schema, and the one that this program writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaVersions {
    /// The store's version.
    pub found: usize,
    /// The newest version that this program knows.
    pub known: usize,
}

/// Returns the version of a store's schema, and changes nothing; `None` if there is no store.
pub fn schema_versions(location: &StoreLocation) -> Result<Option<SchemaVersions>, StoreError> {
    match &location.0 {
        Place::File(path) if !path.exists() => Ok(None),
        Place::File(path) => {
            let (found, known) = sqlite::schema_versions(path)?;
            Ok(Some(SchemaVersions { found, known }))
        }
    }
}
