//! The history of tasks, and undo.

use convoke_domain::scope::Scope;
use convoke_domain::task::Task;
use convoke_domain::task::history::TaskChange;
use convoke_domain::task::id::TaskId;
use jiff::Timestamp;

use crate::error::StoreError;

/// A task that was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedTask {
    /// The task before its removal.
    pub task: Task,
    /// When it was removed.
    pub removed_at: Timestamp,
}

/// The one who takes a step back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undoer {
    /// The user, who takes back every step.
    User,
    /// An agent, which takes back only what agents did.
    Agent,
}

/// Stores the history of tasks. The transaction that changes a task also records its state before
/// and after; the log only grows.
pub trait TaskHistoryStore {
    /// Undoes the last step of the scope that is not undone yet, and returns its changes; empty if
    /// no step is left. `CannotUndo` if a task of the step no longer exists, `OfUser` if the user took
    /// the step and an agent undoes it.
    fn undo_task_step(
        &self,
        scope: &Scope,
        undoer: Undoer,
        now: Timestamp,
    ) -> Result<Vec<TaskChange>, StoreError>;

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

    /// Restores a removed task with the parts that were removed with it, and returns their number.
    /// `NotRemoved` if it was not removed, `RemovedParent` if its parent is removed.
    fn restore_task(&self, scope: &Scope, id: &TaskId, now: Timestamp)
    -> Result<usize, StoreError>;
}
