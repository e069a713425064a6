//! The progress of a branch's work.

use std::collections::BTreeSet;

use convoke_domain::scope::AgentName;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::tree::{TaskNode, current_path};
use convoke_domain::task::{Task, TaskState, TaskStatus};
use serde::Serialize;

use super::TaskDesk;
use super::list::read;
use super::next::in_plan_order;
use crate::failure::{ErrorClass, Failure};

/// No task, or several tasks, match.
#[derive(Debug, thiserror::Error)]
enum NotOneTask {
    #[error("no task is in progress{whose}")]
    Nothing { whose: String },
    #[error("{} tasks are in progress{whose}: {}", ids.len(), ids.join(", "))]
    Several { whose: String, ids: Vec<String> },
}

/// The progress of a branch's work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskProgress {
    /// The task to work on, as in a wake-up; none if no task is open.
    pub current: Option<CurrentTask>,
    /// How many tasks without parts are completed or skipped.
    pub closed: usize,
    /// How many tasks without parts are open and belong to a cancelled plan.
    pub cancelled: usize,
    /// The cancelled plans that have such tasks.
    pub cancelled_plans: Vec<String>,
    /// How many tasks without parts there are.
    pub total: usize,
}

/// The task to work on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurrentTask {
    /// The task's id.
    pub id: String,
    /// The task's title.
    pub title: String,
    /// Whether it is in progress.
    pub is_begun: bool,
    /// The assigned agent.
    pub agent: Option<String>,
}

/// Returns the progress of a branch's work, and its current task.
pub fn task_progress(desk: &TaskDesk<'_>) -> Result<TaskProgress, Failure> {
    let roots = read(desk, &desk.workspace.scope)?;
    let (active, _) = in_plan_order(desk, None)?;
    let leaf = |nodes: &[TaskNode]| current_path(nodes).last().map(|node| CurrentTask::of(node));
    let current = leaf(&active).or_else(|| leaf(&roots));
    let LeafCounts { closed, cancelled, total } = counts(&roots, Above::Open);
    let cancelled_plans = cancelled_plans(&roots).into_iter().collect();
    Ok(TaskProgress { current, closed, cancelled, cancelled_plans, total })
}

/// Returns the plans whose open tasks are cancelled.
fn cancelled_plans(nodes: &[TaskNode]) -> BTreeSet<String> {
    let plans = nodes.iter().flat_map(|node| {
        let own = (node.state == TaskState::Cancelled).then(|| node.task.plan_file.clone());
        cancelled_plans(&node.children).into_iter().chain(own.flatten())
    });
    plans.collect()
}

impl CurrentTask {
    fn of(node: &TaskNode) -> Self {
        Self {
            id: node.task.id.to_string(),
            title: node.task.content.clone(),
            is_begun: node.is_begun(),
            agent: node.task.agent.as_ref().map(ToString::to_string),
        }
    }
}

/// How many tasks without parts there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct LeafCounts {
    closed: usize,
    cancelled: usize,
    total: usize,
}

/// The state of the tasks above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Above {
    Open,
    Closed,
}

/// Counts tasks without parts. Every task below a closed one counts as closed.
fn counts(nodes: &[TaskNode], above: Above) -> LeafCounts {
    nodes.iter().fold(LeafCounts::default(), |sum, node| {
        let is_cancelled = node.state == TaskState::Cancelled;
        let is_closed = above == Above::Closed || (node.is_closed() && !is_cancelled);
        let more = match node.children.as_slice() {
            [] => LeafCounts {
                closed: usize::from(is_closed),
                cancelled: usize::from(is_cancelled && !is_closed),
                total: 1,
            },
            children => counts(children, if is_closed { Above::Closed } else { Above::Open }),
        };
        LeafCounts {
            closed: sum.closed + more.closed,
            cancelled: sum.cancelled + more.cancelled,
            total: sum.total + more.total,
        }
    })
}

/// Returns the one task that is in progress: for an agent, of those that it holds. Where none or several
/// are, the caller has to name one.
pub(super) fn task_in_progress(desk: &TaskDesk<'_>) -> Result<TaskId, Failure> {
    let roots = read(desk, &desk.workspace.scope)?;
    let mut open = Vec::new();
    begun(&roots, &mut open);
    let actor = Some(&desk.actor).filter(|actor| !actor.is_human());
    let is_held = |task: &&&Task| actor.is_none_or(|actor| task.agent.as_ref() == Some(actor));
    let held: Vec<_> = open.iter().filter(is_held).collect();
    if let [task] = held.as_slice() {
        return Ok(task.id.clone());
    }
    let whose = actor.map_or_else(String::new, |actor: &AgentName| format!(" for @{actor}"));
    let refused = |error| Failure::new(ErrorClass::Refused, error);
    Err(match held.as_slice() {
        [] => {
            refused(NotOneTask::Nothing { whose }).hint("`convoke task start` starts the next one")
        }
        several => {
            let ids = several.iter().map(|task| task.id.to_string()).collect();
            refused(NotOneTask::Several { whose, ids }).hint("name one: `convoke task done ID`")
        }
    })
}

/// Collects the tasks that are in progress and have no part in progress.
fn begun<'a>(nodes: &'a [TaskNode], found: &mut Vec<&'a Task>) {
    for node in nodes.iter().filter(|node| node.is_begun()) {
        let before = found.len();
        begun(&node.children, found);
        if found.len() == before && node.task.status == TaskStatus::InProgress {
            found.push(&node.task);
        }
    }
}
