//! Changing what tasks say, their place and their branch.

use convoke_domain::scope::Scope;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::order::SiblingPlace;
use convoke_domain::task::priority::TaskPriority;
use jiff::Timestamp;

use crate::error::StoreError;

/// The changed fields of a task; the rest stays.
#[derive(Debug, Clone, Copy, Default)]
pub struct TaskEdit<'a> {
    /// The task's new title.
    pub title: Option<&'a str>,
    /// A longer description; an empty text removes it.
    pub body: Option<&'a str>,
    /// How urgent it is.
    pub priority: Option<TaskPriority>,
    /// All tasks that come before it.
    pub after: Option<&'a [TaskId]>,
}

/// Which tasks move to another branch. A task's parts move with it.
#[derive(Debug, Clone, Copy)]
pub enum TasksToMove<'a> {
    /// These tasks.
    Tasks(&'a [TaskId]),
    /// Every task of the branch.
    All,
    /// Every task of the branch, while the user's rules for the branch stay there.
    AllButRules,
}

/// The moved records.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MovedTasks {
    /// The tasks, by the ids that they have now, parents first.
    pub ids: Vec<TaskId>,
    /// The ids that were taken there, each with the one that its task has now.
    pub renamed: Vec<(TaskId, TaskId)>,
    /// How many messages came with all tasks of a branch.
    pub messages: usize,
    /// How many agents came with them.
    pub agents: usize,
}

/// Changes tasks, each call as one step that can be undone.
pub trait TaskEditStore {
    /// Edits a task. `NoTask` if it or a prerequisite is missing, `Waits` if tasks would wait for
    /// each other.
    fn edit_task(
        &self,
        scope: &Scope,
        id: &TaskId,
        edit: &TaskEdit<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Gives a task another place among its siblings. `NotSiblings` if the place names a task that is
    /// part of another one.
    fn reorder_task(
        &self,
        scope: &Scope,
        id: &TaskId,
        place: SiblingPlace<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError>;

    /// Moves tasks from another branch of the project to the scope's, behind the tasks there: all of
    /// them, or none. Prerequisites that stay behind are dropped. With every task of a branch, its
    /// rules, messages, agents and sessions come, too.
    fn move_tasks(
        &self,
        scope: &Scope,
        from_branch: &str,
        moving: TasksToMove<'_>,
        now: Timestamp,
    ) -> Result<MovedTasks, StoreError>;

    /// Returns the plans that tasks of a branch come from, by name.
    fn plans(&self, scope: &Scope) -> Result<Vec<String>, StoreError>;

    /// Lets the tasks of a plan belong to the file that it is in now. A cancelled plan is cancelled
    /// there, too.
    fn rename_plan(
        &self,
        scope: &Scope,
        from: &str,
        to: &str,
        now: Timestamp,
    ) -> Result<(), StoreError>;
}
