//! The history of tasks, and undo.

use convoke_domain::task::history::TaskChange;
use convoke_domain::task::id::TaskId;
use convoke_store::task_history::{RemovedTask, Undoer};
use serde::Serialize;

use super::{DeedReport, JudgedTask, TaskDesk, TaskReport, known_task};
use crate::failure::Failure;
use crate::workspace::{Workspace, refused};

/// A removed task for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemovedTaskReport {
    /// When it was removed.
    pub removed_at: String,
    /// The fields of the task, as it was when it was removed.
    #[serde(flatten)]
    pub task: TaskReport,
}

impl RemovedTaskReport {
    /// Reports a removed task.
    pub fn new(removed: &RemovedTask) -> Self {
        Self { removed_at: removed.removed_at.to_string(), task: TaskReport::alone(&removed.task) }
    }
}

/// A change to a task for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskChangeReport {
    /// The step that it is part of; a step is undone as a whole. A verdict is no part of one.
    pub step: Option<i64>,
    /// When it was made.
    pub at: String,
    /// The agent that made the change, or `human` for the user.
    pub actor: String,
    /// The task's id.
    pub task: String,
    /// The task's title afterwards.
    pub title: String,
    /// The change, in words.
    pub what: String,
    /// Whether it undid an earlier step.
    pub undo: bool,
    /// Whether it was undone.
    pub undone: bool,
}

impl TaskChangeReport {
    /// Reports a change.
    pub fn new(change: &TaskChange) -> Self {
        Self {
            step: Some(change.step),
            at: change.at.to_string(),
            actor: change.actor.to_string(),
            task: change.task.to_string(),
            title: change.after.content.clone(),
            what: change.words(),
            undo: change.is_undo,
            undone: change.is_undone,
        }
    }

    /// Reports a verdict that was undone.
    pub fn of_verdict(JudgedTask { task, deed }: &JudgedTask) -> Self {
        Self {
            step: None,
            at: deed.at.clone(),
            actor: deed.recorded_by.clone(),
            task: deed.task.clone(),
            title: task.content.clone(),
            what: deed.words(),
            undo: false,
            undone: true,
        }
    }
}

/// What was undone.
#[derive(Debug, Clone)]
pub enum UndoneStep {
    /// The changes of a step; none where no step was left.
    Changes(Vec<TaskChange>),
    /// A verdict, which no longer counts.
    Verdict(Box<JudgedTask>),
}

/// How many tasks were restored.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RestoredCount {
    /// The task and everything that was removed with it.
    pub restored: usize,
}

/// Lists the last changes, oldest first: of one task, or of the whole branch.
pub fn task_log(
    desk: &TaskDesk<'_>,
    id: Option<&TaskId>,
    limit: usize,
) -> Result<Vec<TaskChange>, Failure> {
    let Workspace { store, scope } = &desk.workspace;
    let more = store.task_log(scope, id, limit.saturating_add(1)).map_err(refused)?;
    let changes = store.task_log(scope, id, limit).map_err(refused)?;
    if more.len() > changes.len() {
        desk.session
            .reporter()
            .remark(format!("listed the last {} changes; `--limit N` lists more", changes.len()));
    }
    Ok(changes)
}

/// Undoes the last step or verdict, and returns it; its changes are marked as undone. An agent undoes only what agents did, also under
/// another name.
pub fn undo_task_step(desk: &TaskDesk<'_>) -> Result<UndoneStep, Failure> {
    let TaskDesk { session, workspace, actor, .. } = desk;
    let Workspace { store, scope } = workspace;
    let is_agents = session.environment.is_agents();
    let undoer = if is_agents { Undoer::Agent } else { Undoer::User };
    if let Some(deed) = store.undo_verdict(scope, undoer, session.now()).map_err(refused)? {
        let task = known_task(workspace, &deed.task)?;
        let what = format!("undid: {} by {} on {}", deed.kind.name(), deed.role, task.content);
        store.record_event(scope, actor, &what, session.now()).map_err(refused)?;
        let judged = JudgedTask { task, deed: DeedReport::new(&deed) };
        return Ok(UndoneStep::Verdict(Box::new(judged)));
    }
    let mut changes = store.undo_task_step(scope, undoer, session.now()).map_err(refused)?;
    // The store returns them as they were before.
    for change in &mut changes {
        change.is_undone = true;
    }
    if let Some(first) = changes.first() {
        let more = changes.len() - 1;
        let others = if more > 0 { format!(" and {more} more") } else { String::new() };
        let what = format!("undid: {} {}{others}", first.words(), first.after.content);
        store.record_event(scope, actor, &what, session.now()).map_err(refused)?;
    }
    Ok(UndoneStep::Changes(changes))
}

/// Lists the removed tasks that can be restored.
pub fn removed_tasks(desk: &TaskDesk<'_>) -> Result<Vec<RemovedTask>, Failure> {
    let Workspace { store, scope } = &desk.workspace;
    store.removed_tasks(scope).map_err(refused)
}

/// Restores a removed task with the parts that were removed with it.
pub fn restore_task(desk: &TaskDesk<'_>, id: &TaskId) -> Result<RestoredCount, Failure> {
    let TaskDesk { session, workspace: Workspace { store, scope }, actor, .. } = desk;
    let removed = removed_tasks(desk)?;
    let restored = store.restore_task(scope, id, session.now()).map_err(refused)?;
    let found = removed.iter().find(|removed| removed.task.id == *id);
    if let Some(RemovedTask { task, .. }) = found {
        let deed = format!("restored {}", task.content);
        store.record_event(scope, actor, &deed, session.now()).map_err(refused)?;
    }
    Ok(RestoredCount { restored })
}
