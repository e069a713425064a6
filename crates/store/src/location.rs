//! Where a store is kept.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// Where a store is kept. Nothing outside this crate depends on what kind of place that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreLocation(pub(crate) Place);

/// The kinds of places, one for each backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file of this machine.
    File(PathBuf),
}

impl StoreLocation {
    /// Reads what a user names a store by: today always the path of a file.
    pub fn parse(name: impl Into<OsString>) -> Self {
        Self::file(name.into())
    }

    /// The location of a store that is one file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Place::File(path.into()))
    }

    /// Returns the file that the store is, if it is one.
    pub fn as_file(&self) -> Option<&Path> {
        match &self.0 {
            Place::File(path) => Some(path),
        }
    }

    /// Tells whether the location is another one in another working folder.
    pub fn is_relative(&self) -> bool {
        self.as_file().is_some_and(Path::is_relative)
    }

    /// Returns the file by which the processes of this machine agree which one does `what` with
    /// this store.
    pub fn lock_file(&self, what: &str) -> PathBuf {
        match &self.0 {
            Place::File(path) => {
                let mut name = path.clone().into_os_string();
                name.push(format!("-{what}"));
                name.into()
            }
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::File(path) => path.display().fmt(formatter),
        }
    }
}
