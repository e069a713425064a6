//! The one place that chooses a backend: opening a store by its location.

use std::sync::Arc;
use std::time::Duration;

use crate::Store;
use crate::address::{AddressError, ServerAddress};
use crate::error::StoreError;
use crate::location::{Place, StoreLocation};
#[cfg(feature = "postgres")]
use crate::postgres;
use crate::sql::SqlStore;
use crate::sqlite;

/// Opens a store, making it if it is missing, and brings its schema up to date. A store of a later
/// version is refused and left as it is. Changes are those of the person at the keyboard until
/// [`Store::acting_for`] names another actor.
pub fn open(location: &StoreLocation) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(open_sql(location)?))
}

/// Opens a store as [`open`] does, as what every backend is inside of this crate.
pub(crate) fn open_sql(location: &StoreLocation) -> Result<SqlStore, StoreError> {
    match &location.0 {
        Place::File(path) => SqlStore::open(path),
        Place::Server(address) => on_server(address, Opening::Whole),
    }
}

/// Opens a store as [`open`] does, for a caller in a hurry: it waits for other processes no longer than
/// `patience`, and leaves work that can wait to them.
pub fn open_in_a_hurry(
    location: &StoreLocation,
    patience: Duration,
) -> Result<Arc<dyn Store>, StoreError> {
    match &location.0 {
        Place::File(path) => Ok(Arc::new(SqlStore::open_in_a_hurry(path, patience)?)),
        Place::Server(address) => Ok(Arc::new(on_server(address, Opening::Hurried(patience))?)),
    }
}

/// Opens a store as [`open_in_a_hurry`] does, for a caller that has something else if a server does not
/// connect and answer within `limit`, all answers together. [`crate::replica::ReplicaStore::limit_answers`]
/// ends the limit. A file is here, so no limit holds for it.
pub fn open_within(
    location: &StoreLocation,
    limit: Duration,
    patience: Duration,
) -> Result<Arc<dyn Store>, StoreError> {
    match &location.0 {
        Place::File(_) => open_in_a_hurry(location, patience),
        Place::Server(address) => {
            Ok(Arc::new(on_server(address, Opening::Within { limit, patience })?))
        }
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
        Place::File(path) => Ok(Some(Arc::new(SqlStore::open_to_look(path, patience)?))),
        Place::Server(address) => {
            Ok(Some(Arc::new(on_server(address, Opening::ToLook(patience))?)))
        }
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
        Place::Server(address) => versions_on_server(address),
    }
}

/// How a store on a server is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// To work with it; it is made and brought up to date.
    Whole,
    /// In the same way, but without waiting for longer.
    Hurried(Duration),
    /// In the same way, with a limit for connecting and all answers together until the caller ends it.
    Within {
        /// The time for connecting and all answers together.
        limit: Duration,
        /// How long the caller waits after that.
        patience: Duration,
    },
    /// To read, for a caller that waits no longer.
    ToLook(Duration),
}

type Address = Result<ServerAddress, AddressError>;

#[cfg(feature = "postgres")]
fn on_server(address: &Address, opening: Opening) -> Result<SqlStore, StoreError> {
    postgres::open(usable(address)?, opening)
}

#[cfg(feature = "postgres")]
fn versions_on_server(address: &Address) -> Result<Option<SchemaVersions>, StoreError> {
    let found = postgres::schema_version(usable(address)?)?;
    Ok(found.map(|found| SchemaVersions { found, known: postgres::KNOWN }))
}

#[cfg(feature = "postgres")]
fn usable(address: &Address) -> Result<&ServerAddress, StoreError> {
    address.as_ref().map_err(|source| StoreError::Address { source: source.clone() })
}

#[cfg(not(feature = "postgres"))]
fn on_server(_: &Address, _: Opening) -> Result<SqlStore, StoreError> {
    Err(StoreError::NoServers)
}

#[cfg(not(feature = "postgres"))]
fn versions_on_server(_: &Address) -> Result<Option<SchemaVersions>, StoreError> {
    Err(StoreError::NoServers)
}

#[cfg(all(test, not(feature = "postgres")))]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_the_backend_says_so_however_it_opens_a_server() {
        let location = StoreLocation::parse("postgres://ana@db.example/team");
        let patience = Duration::ZERO;
        let answers = [
            open(&location).err(),
            open_in_a_hurry(&location, patience).err(),
            open_to_look(&location, patience).err(),
            schema_versions(&location).err(),
        ];
        for error in answers.map(Option::unwrap) {
            assert!(matches!(error, StoreError::NoServers), "{error:?}");
            assert!(error.hint().unwrap().contains("--features postgres"));
        }
    }
}
