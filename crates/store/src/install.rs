//! Keeping what settings files were before hooks were written into them.

use convoke_domain::client::Client;
use jiff::Timestamp;

use crate::error::StoreError;

/// One settings file that hooks were written into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Install {
    /// The file's text before; `None` if there was no file.
    pub original: Option<String>,
    /// The file's text afterwards.
    pub installed: String,
    /// When.
    pub installed_at: Timestamp,
}

/// Keeps installs.
pub trait InstallStore {
    /// Records an install, and replaces an earlier record of the file.
    fn remember_install(
        &self,
        path: &str,
        client: Client,
        install: &Install,
    ) -> Result<(), StoreError>;

    /// Returns the record of a file, if there is one.
    fn install(&self, path: &str) -> Result<Option<Install>, StoreError>;

    /// Forgets a file.
    fn forget_install(&self, path: &str) -> Result<(), StoreError>;
}
