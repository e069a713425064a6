//! What was done to tasks, and taking it back.

use convoke_domain::scope::Scope;
use convoke_domain::task::Task;
use convoke_domain::task::history::TaskChange;
use convoke_domain::task::id::TaskId;
use jiff::Timestamp;

use crate::error::StoreError;

/// A task that was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedTask {
    /// The task as it was.
    pub task: Task,
    /// When it was removed.
    pub removed_at: Timestamp,
}

/// Keeps what was done to tasks. Every change of a task is written down in the transaction that makes
/// it, with what the task was and what it became; the log only grows.
pub trait TaskHistoryStore {
    /// Takes back the last step of the scope that was not taken back yet, and returns what the step
    /// had done; nothing if no step is left. `CannotUndo` if a task of the step is not there any more.
    fn undo_task_step(&self, scope: &Scope, now: Timestamp) -> Result<Vec<TaskChange>, StoreError>;

    /// Returns the last changes of the scope, oldest first; with an id, those of this task on any
    /// branch of the project.
    fn task_log(
        &self,
        scope: &Scope,
        id: Option<&TaskId>,
        most: usize,
    ) -> Result<Vec<TaskChange>, StoreError>;

    /// Returns the tasks that were removed, but not those that were removed as part of another: the
    /// last removed first.
    fn removed_tasks(&self, scope: &Scope) -> Result<Vec<RemovedTask>, StoreError>;

    /// Brings a removed task back, with what was removed as part of it, and returns how many those
    /// are. `NotRemoved` if it was not removed, `RemovedParent` if it was part of a task that is.
    fn restore_task(&self, scope: &Scope, id: &TaskId, now: Timestamp)
    -> Result<usize, StoreError>;
}
