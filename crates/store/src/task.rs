//! Keeping tasks.

use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::task::id::TaskId;
use convoke_domain::task::outline::TaskCounts;
use convoke_domain::task::priority::TaskPriority;
use convoke_domain::task::{Task, TaskStatus};
use jiff::Timestamp;

use crate::error::StoreError;

/// The values of a new task.
#[derive(Debug, Clone, Copy)]
pub struct NewTask<'a> {
    /// The task it is part of.
    pub parent: Option<&'a TaskId>,
    /// The plan it comes from; without one, the parent's.
    pub plan_file: Option<&'a str>,
    /// The task's title.
    pub content: &'a str,
    /// A longer description.
    pub body: Option<&'a str>,
    /// Its urgency among its siblings.
    pub priority: TaskPriority,
    /// The tasks that must be closed before it.
    pub after: &'a [TaskId],
    /// The assigned agent.
    pub agent: Option<&'a AgentName>,
    /// The skill that its agent works by.
    pub skill: Option<&'a str>,
    /// The version of that skill.
    pub skill_version: Option<&'a str>,
}

impl<'a> NewTask<'a> {
    /// A task of which only the words are known.
    pub const fn titled(content: &'a str) -> Self {
        Self {
            parent: None,
            plan_file: None,
            content,
            body: None,
            priority: TaskPriority::Normal,
            after: &[],
            agent: None,
            skill: None,
            skill_version: None,
        }
    }
}

/// A change to one task.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// It is now this far.
    Status(TaskStatus),
    /// This one begins it, and holds it unless it is a person or another agent does. The closed tasks
    /// that it is part of are in progress again.
    Start(&'a AgentName),
    /// The same, as long as the task has the status and the agent that it was chosen by; `Taken`
    /// otherwise.
    StartChosen(&'a AgentName, &'a Task),
    /// This is remarked on it, and nothing else.
    Note(&'a str),
    /// This is remarked on it, too, unless it was the last time.
    AddNote(&'a str),
    /// It is worked on by these skills, separated by commas, or by none.
    Skill(Option<&'a str>),
    /// This agent does it.
    Agent(Option<&'a AgentName>),
    /// It is part of this task, at the end.
    Parent(Option<&'a TaskId>),
}

/// The plan that is being worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActivePlan {
    /// There is no open task.
    Nothing,
    /// The open tasks come from no plan.
    WithoutFile,
    /// The open tasks come from this file.
    File(String),
}

/// A plan's tasks, as far as a wake-up needs them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surroundings {
    /// The tasks, in no order.
    pub tasks: Vec<Task>,
    /// How many more there are.
    pub elsewhere: TaskCounts,
}

/// Keeps the work tree. Removed tasks are as if they had never been. Every change is written down with
/// the transaction that makes it; see [`crate::task_history`].
pub trait TaskStore {
    /// Adds tasks behind their siblings and returns their new ids: all of them, or none. `NoTask` if
    /// a parent or a prerequisite is missing, `TooDeep` if the tree would not be one any more.
    fn add_tasks(
        &self,
        scope: &Scope,
        tasks: &[NewTask<'_>],
        now: Timestamp,
    ) -> Result<Vec<TaskId>, StoreError>;

    /// Adds the tasks of a plan that are not there yet, by their number or their words, and returns
    /// their ids. Several processes can import a plan in parallel: each task exists once. Those among `done` that
    /// are new are completed.
    fn import_tasks(
        &self,
        scope: &Scope,
        plan: &str,
        titles: &[&str],
        done: &[&str],
        now: Timestamp,
    ) -> Result<Vec<TaskId>, StoreError>;

    /// Takes over tasks of another program with their ids, their order and their state. Those whose
    /// id is taken here are left out; the ids of the others are returned.
    fn adopt_tasks(&self, scope: &Scope, tasks: Vec<Task>) -> Result<Vec<TaskId>, StoreError>;

    /// Returns a task; `None` if the branch has none with this id.
    fn task(&self, scope: &Scope, id: &TaskId) -> Result<Option<Task>, StoreError>;

    /// Returns the parts of a task, in no order.
    fn children(&self, scope: &Scope, id: &TaskId) -> Result<Vec<Task>, StoreError>;

    /// Returns every task, in no order.
    fn tasks(&self, scope: &Scope) -> Result<Vec<Task>, StoreError>;

    /// Returns every task of one plan, or of none, in no order.
    fn tasks_of_plan(&self, scope: &Scope, plan: Option<&str>) -> Result<Vec<Task>, StoreError>;

    /// Returns the tasks of one plan, or those without a plan: all of them if there are at most
    /// `most`, otherwise the current task of the plan, or of an agent, with those above, near and
    /// below it. The time does not depend on the plan's size.
    fn surroundings(
        &self,
        scope: &Scope,
        plan: Option<&str>,
        agent: Option<&AgentName>,
        most: usize,
    ) -> Result<Surroundings, StoreError>;

    /// Returns the number of a task among the parts of its parent, from one, and how many those are.
    fn place(&self, scope: &Scope, task: &Task) -> Result<(usize, usize), StoreError>;

    /// Returns the plan of the task in progress that changed last; without one, the plan that was
    /// changed last, among those with an open task. With an agent, only tasks that it holds count.
    /// A cancelled plan is never active.
    fn active_plan(
        &self,
        scope: &Scope,
        agent: Option<&AgentName>,
    ) -> Result<ActivePlan, StoreError>;

    /// Returns at most so many open tasks of high priority that belong to another plan, or that an agent
    /// holds there, without those of cancelled plans and those that wait for another task.
    fn urgent_elsewhere(
        &self,
        scope: &Scope,
        plan: Option<&str>,
        agent: Option<&AgentName>,
        most: usize,
    ) -> Result<Vec<Task>, StoreError>;

    /// Tells whether another plan that is not cancelled has an open task.
    fn is_open_elsewhere(&self, scope: &Scope, plan: Option<&str>) -> Result<bool, StoreError>;

    /// Changes a task. `NoTask` if it, or its new parent, is missing; `Circle` if it would become
    /// part of itself, `Waits` if tasks would wait for each other, `Taken` if another process was
    /// faster. Closing a task skips the open tasks below it; the function returns their number. Closing the last task of a plan releases
    /// its skills' versions.
    fn change_task(
        &self,
        scope: &Scope,
        id: &TaskId,
        change: &Change<'_>,
        now: Timestamp,
    ) -> Result<usize, StoreError>;

    /// Removes a task with everything below it and returns how many that were.
    fn remove_task(&self, scope: &Scope, id: &TaskId, now: Timestamp) -> Result<usize, StoreError>;

    /// Returns the project's branches that have tasks, with how many, most first.
    fn branches(&self, project: &str) -> Result<Vec<(String, u32)>, StoreError>;
}
