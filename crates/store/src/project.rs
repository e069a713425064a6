//! Keeping what projects are called.

use crate::error::StoreError;

/// Keeps a name for every project folder.
pub trait ProjectStore {
    /// Returns the name of the project in a folder. A folder that is new gets the wanted name, or,
    /// if another has it, that name with the next free number behind it.
    fn project_name(&self, path: &str, wanted: &str) -> Result<String, StoreError>;
}
