//! Reading tasks for a page: who works on what, how many a plan has, and one part of a long list.

use convoke_domain::scope::Scope;
use convoke_domain::task::Task;
use convoke_domain::task::id::TaskId;

use crate::error::StoreError;

/// The place of a task in the tree, without what it says.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutlinedTask {
    /// What orders siblings first.
    pub order: i64,
    /// What orders those of the same place: when it was added, as the store keeps it.
    pub created_at: String,
    /// The task's id.
    pub id: TaskId,
    /// The task that it is part of.
    pub parent: Option<TaskId>,
}

/// Reads tasks for pages.
pub trait TaskPageStore {
    /// Returns the plans that have tasks, with how many, most first; `None` is no plan.
    fn plan_counts(&self, scope: &Scope) -> Result<Vec<(Option<String>, u32)>, StoreError>;

    /// Returns the tasks in progress that an agent or a person holds, the last changed first.
    fn held_tasks(&self, scope: &Scope) -> Result<Vec<Task>, StoreError>;

    /// Returns the places of all tasks, or of those of one plan (`Some(None)` is no plan), in no order. It
    /// reads no text of them.
    fn outline(
        &self,
        scope: &Scope,
        plan: Option<Option<&str>>,
    ) -> Result<Vec<OutlinedTask>, StoreError>;

    /// Returns the tasks with these ids that are there, in no order.
    fn tasks_with(&self, scope: &Scope, ids: &[&TaskId]) -> Result<Vec<Task>, StoreError>;
}
