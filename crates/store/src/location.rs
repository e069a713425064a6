//! Where a store is kept.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::address::{AddressError, Password, ServerAddress, is_server};

/// Where a store is kept. Nothing outside this crate depends on what kind of place that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreLocation(pub(crate) Place);

/// The kinds of places, one for each backend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file of this machine.
    File(PathBuf),
    /// A PostgreSQL server, or the error in its address.
    Server(Box<Result<ServerAddress, AddressError>>),
}

impl StoreLocation {
    /// Reads what a user names a store by: the path of a file, or the URL of a server.
    pub fn parse(name: impl Into<OsString>) -> Self {
        let name = name.into();
        match name.to_str().filter(|name| is_server(name)) {
            Some(url) => Self(Place::Server(Box::new(ServerAddress::parse(url)))),
            None => Self::file(name),
        }
    }

    /// The location of a store that is one file.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self(Place::File(path.into()))
    }

    /// Returns the file that the store is, if it is one.
    pub fn as_file(&self) -> Option<&Path> {
        match &self.0 {
            Place::File(path) => Some(path),
            Place::Server(_) => None,
        }
    }

    /// Tells whether the location is another one in another working folder.
    pub fn is_relative(&self) -> bool {
        self.as_file().is_some_and(Path::is_relative)
    }

    /// Tells whether a password may be needed to open the store, and the location has none.
    pub fn wants_password(&self) -> bool {
        match &self.0 {
            Place::Server(address) => {
                address.as_ref().as_ref().is_ok_and(|address| address.password.is_none())
            }
            Place::File(_) => false,
        }
    }

    /// Tells whether the address of a server is one; a file's name always is.
    pub fn is_readable(&self) -> bool {
        !matches!(&self.0, Place::Server(address) if address.is_err())
    }

    /// Returns the location with a password for its server.
    #[must_use]
    pub fn with_password(mut self, password: Password) -> Self {
        if let Place::Server(address) = &mut self.0
            && let Ok(address) = address.as_mut()
        {
            address.password = Some(password);
        }
        self
    }

    /// Returns the location as another user of its server names it, without a password.
    #[must_use]
    pub fn for_user(mut self, user: &str) -> Self {
        if let Place::Server(address) = &mut self.0
            && let Ok(address) = address.as_mut()
        {
            user.clone_into(&mut address.user);
            address.password = None;
        }
        self
    }

    /// Returns the file by which the processes of this machine agree which one does `what` with
    /// this store. That of a server is in `folder`.
    pub fn lock_file(&self, what: &str, folder: &Path) -> PathBuf {
        match &self.0 {
            Place::File(path) => {
                let mut name = path.clone().into_os_string();
                name.push(format!("-{what}"));
                name.into()
            }
            Place::Server(_) => {
                let hash = Sha256::digest(self.to_string());
                let name: Vec<_> = hash.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
                folder.join(format!("server-{}-{what}", name.concat()))
            }
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::File(path) => path.display().fmt(formatter),
            Place::Server(address) => match address.as_ref() {
                Ok(address) => address.fmt(formatter),
                Err(_) => formatter.write_str("postgres://…"),
            },
        }
    }
}
