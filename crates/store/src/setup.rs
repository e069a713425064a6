//! Stores the steps of `init` in a project's folder, so that they can be reverted.

use convoke_domain::setup::SetupStep;
use jiff::Timestamp;

use crate::error::StoreError;

/// Keeps the steps of setups.
pub trait SetupStore {
    /// Records a step of a project's setup, and replaces an earlier record of the same path.
    fn remember_setup(
        &self,
        project_folder: &str,
        step: &SetupStep,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Returns the steps of a project's setup, in the order in which they were taken.
    fn setup(&self, project_folder: &str) -> Result<Vec<SetupStep>, StoreError>;

    /// Forgets one step.
    fn forget_setup(&self, project_folder: &str, path: &str) -> Result<(), StoreError>;
}
