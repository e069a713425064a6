//! Changes one task, and records the actor.

use convoke_domain::scope::AgentName;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::{Task, TaskState, TaskStatus};
use convoke_domain::text::counted;
use convoke_store::task::Change;
use serde::Serialize;

use super::progress::task_in_progress;
use super::{TaskDesk, known_task, parent};
use crate::failure::Failure;
use crate::message::note_stranger;
use crate::workspace::{Workspace, refused};

/// A change of a task.
#[derive(Debug, Clone)]
pub enum TaskStep {
    /// It is completed; open tasks below it are skipped.
    Done,
    /// It is skipped, with the open tasks below it.
    Skip,
    /// It gets a remark, on one line, in the place of earlier ones.
    Note(String),
    /// It gets one more remark, on one line; the same one only once.
    AddNote(String),
    /// It is assigned to an agent, or to none.
    Assign(Option<AgentName>),
}

/// How many tasks were removed.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemovedCount {
    /// The task and everything below it.
    pub removed: usize,
}

/// Changes one task, and returns it as it is then.
pub fn change_task(desk: &TaskDesk<'_>, id: &TaskId, step: &TaskStep) -> Result<Task, Failure> {
    let change = match step {
        TaskStep::Done => Change::Status(TaskStatus::Completed),
        TaskStep::Skip => Change::Status(TaskStatus::Skipped),
        TaskStep::Note(text) => Change::Note(text),
        TaskStep::AddNote(text) => Change::AddNote(text),
        TaskStep::Assign(agent) => Change::Agent(agent.as_ref()),
    };
    if let Change::Agent(Some(agent)) = &change {
        note_stranger(desk.session, &desk.workspace, &desk.workspace.scope, agent)?;
    }
    apply(desk, id, &change)
}

/// Changes the named task, or without a name the one that is in progress, and returns it as it is then.
pub fn change_current_task(
    desk: &TaskDesk<'_>,
    named: Option<&TaskId>,
    step: &TaskStep,
) -> Result<Task, Failure> {
    match named {
        Some(id) => change_task(desk, id, step),
        None => change_task(desk, &task_in_progress(desk)?, step),
    }
}

/// Applies a change and records it for the others.
pub(super) fn apply(
    desk: &TaskDesk<'_>,
    id: &TaskId,
    change: &Change<'_>,
) -> Result<Task, Failure> {
    let TaskDesk { session, workspace: Workspace { store, scope }, actor, .. } = desk;
    let reporter = session.reporter();
    let before = store.task(scope, id).map_err(refused)?.map(|task| task.status);
    let closed = store.change_task(scope, id, change, session.now()).map_err(refused)?;
    if closed > 0 {
        reporter.remark(format!("skipped its {}", counted(closed, "open subtask")));
    }
    let task = known_task(&desk.workspace, id)?;
    let is_repeated = before == Some(task.status);
    if let (Some(_), Some(status), true) = (verb(change), before, is_repeated) {
        let state = TaskState::Stored(status).words();
        reporter.remark(format!("{id} is {state} already"));
    }
    if let (Some(verb), false) = (verb(change), is_repeated) {
        let deed = format!("{verb} {}", task.content);
        store.record_event(scope, actor, &deed, session.now()).map_err(refused)?;
    }
    parent::close(desk, &task)?;
    Ok(task)
}

/// Only what moves the work on is worth telling others.
fn verb(change: &Change<'_>) -> Option<&'static str> {
    match change {
        Change::Status(TaskStatus::InProgress) | Change::Start(_) | Change::StartChosen(..) => {
            Some("started")
        }
        Change::Status(TaskStatus::Completed) => Some("completed"),
        Change::Status(TaskStatus::Skipped) => Some("skipped"),
        Change::Status(TaskStatus::Pending)
        | Change::Note(_)
        | Change::AddNote(_)
        | Change::Skill(_)
        | Change::Agent(_)
        | Change::Parent(_) => None,
    }
}

/// Removes a task with everything below it.
pub fn remove_task(desk: &TaskDesk<'_>, id: &TaskId) -> Result<RemovedCount, Failure> {
    let TaskDesk { session, workspace: Workspace { store, scope }, actor, .. } = desk;
    let content = store.task(scope, id).map_err(refused)?.map(|task| task.content);
    let removed = store.remove_task(scope, id, session.now()).map_err(refused)?;
    let deed = format!("removed {}", content.unwrap_or_default());
    store.record_event(scope, actor, &deed, session.now()).map_err(refused)?;
    Ok(RemovedCount { removed })
}
