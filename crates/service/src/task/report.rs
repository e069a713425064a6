//! Tasks for programs.

use convoke_domain::task::id::TaskId;
use convoke_domain::task::tree::TaskNode;
use convoke_domain::task::{Task, TaskState};
use serde::Serialize;

/// Tasks that were added.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddedTasksReport {
    /// The id of the first one; nothing if no task is new.
    pub id: Option<String>,
    /// The ids of all of them, in their order.
    pub ids: Vec<String>,
    /// The titles of imported tasks, in the same order.
    #[serde(skip)]
    pub titles: Vec<String>,
}

impl AddedTasksReport {
    pub(super) fn new(ids: &[TaskId]) -> Self {
        let ids: Vec<_> = ids.iter().map(ToString::to_string).collect();
        Self { id: ids.first().cloned(), ids, titles: Vec::new() }
    }
}

/// A task for programs, with its parts.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskReport {
    /// Its id, such as `t-00012`.
    pub id: String,
    /// The task that it is part of.
    pub parent: Option<String>,
    /// The task's title.
    pub content: String,
    /// A longer description.
    pub body: Option<String>,
    /// The task's status, such as `in_progress`.
    pub status: &'static str,
    /// Whether it is open and belongs to a cancelled plan.
    pub cancelled: bool,
    /// Its urgency among its siblings.
    pub priority: &'static str,
    /// The tasks that must be closed before it.
    pub after: Vec<String>,
    /// Those of them that are open.
    pub waits_for: Vec<String>,
    /// The assigned agent.
    pub agent: Option<String>,
    /// The plan that it comes from, relative to the project.
    pub plan_file: Option<String>,
    /// The skill that its agent works by.
    pub skill: Option<String>,
    /// The remark on it.
    pub notes: Option<String>,
    /// When it was added.
    pub created_at: String,
    /// When it was last changed.
    pub updated_at: String,
    /// When it was completed.
    pub completed_at: Option<String>,
    /// Whether it is the current task; only a tree reports it.
    pub current: bool,
    /// The task's parts.
    pub children: Vec<TaskReport>,
}

impl TaskReport {
    /// Reports one task without its parts.
    pub fn alone(task: &Task) -> Self {
        Self::new(task, None, Vec::new())
    }

    /// Reports a node with everything below it; the current task is marked.
    pub fn of_node(node: &TaskNode, current: Option<&TaskId>) -> Self {
        let children = node.children.iter().map(|child| Self::of_node(child, current));
        let report = Self::new(&node.task, current, children.collect());
        Self { cancelled: node.state == TaskState::Cancelled, ..report }
    }

    /// Reports a node without its parts.
    pub fn of_node_alone(node: &TaskNode) -> Self {
        Self { cancelled: node.state == TaskState::Cancelled, ..Self::alone(&node.task) }
    }

    pub(super) fn new(task: &Task, current: Option<&TaskId>, children: Vec<Self>) -> Self {
        let names = |ids: &[TaskId]| ids.iter().map(ToString::to_string).collect();
        Self {
            id: task.id.to_string(),
            parent: task.parent.as_ref().map(ToString::to_string),
            content: task.content.clone(),
            body: task.body.clone(),
            status: task.status.name(),
            cancelled: false,
            priority: task.priority.name(),
            after: names(&task.after),
            waits_for: names(&task.waits_for),
            agent: task.agent.as_ref().map(ToString::to_string),
            plan_file: task.plan_file.clone(),
            skill: task.skill.clone(),
            notes: task.notes.clone(),
            created_at: task.created_at.to_string(),
            updated_at: task.updated_at.to_string(),
            completed_at: task.completed_at.map(|at| at.to_string()),
            current: current == Some(&task.id),
            children,
        }
    }
}
