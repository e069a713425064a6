//! A way back to an open store that does not keep it open.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, Weak};

use crate::Store;
use crate::location::StoreLocation;
use crate::sql::SqlStore;
use crate::sql::driver::Connection;

/// Names a store that was opened, and does not keep it open.
#[derive(Debug)]
pub struct StoreHandle {
    location: StoreLocation,
    file: Option<FileNumber>,
    connection: Weak<Mutex<Connection>>,
}

impl StoreHandle {
    pub(crate) fn new(location: &StoreLocation, connection: &Arc<Mutex<Connection>>) -> Self {
        Self {
            location: location.clone(),
            file: FileNumber::at(location),
            connection: Arc::downgrade(connection),
        }
    }

    /// Returns the store at a location, if it is this one, another holder still has it open, and its
    /// file was neither removed nor replaced meanwhile. It acts for the person at the keyboard.
    pub fn store_at(&self, location: &StoreLocation) -> Option<Arc<dyn Store>> {
        let connection = self.connection.upgrade()?;
        let is_same = self.location == *location && self.file == FileNumber::at(location);
        is_same.then(|| Arc::new(SqlStore::sharing(connection)) as Arc<dyn Store>)
    }
}

/// The device and the number of a file: another file under the same name has others.
#[derive(Debug, PartialEq, Eq)]
struct FileNumber(u64, u64);

impl FileNumber {
    fn at(location: &StoreLocation) -> Option<Self> {
        let found = fs::metadata(location.as_file()?).ok()?;
        Some(Self(found.dev(), found.ino()))
    }
}
