//! Changing one task, and remembering who did it.

use convoke_domain::scope::AgentName;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::{Task, TaskState, TaskStatus};
use convoke_store::task::Change;

use super::list::line;
use super::parent;
use super::report::TaskReport;
use crate::app::{App, Format};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

pub(super) fn apply(
    workspace: &Workspace,
    app: &App,
    actor: &AgentName,
    id: &TaskId,
    change: &Change<'_>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Workspace { store, scope } = workspace;
    let before = store.task(scope, id).map_err(refused)?.map(|task| task.status);
    let closed = store.change_task(scope, id, change, now()).map_err(refused)?;
    if closed > 0 {
        output.say(&format!("note: {closed} open parts were left out with it"));
    }
    let task = store.task(scope, id).map_err(refused)?;
    let is_repeated = before.is_some() && before == task.as_ref().map(|task| task.status);
    if let (Some(_), Some(status), true) = (verb(change), before, is_repeated) {
        let state = TaskState::Stored(status).words();
        output.say(&format!("note: {id} is {state} already"));
    }
    if let (Some(verb), Some(task), false) = (verb(change), &task, is_repeated) {
        let deed = format!("{verb} {}", task.content);
        store.record_event(scope, actor, &deed, now()).map_err(refused)?;
    }
    if let Some(task) = &task {
        parent::close(workspace, app, actor, task, output)?;
    }
    task.map_or(Ok(Exit::Done), |task| print(&task, app, output))
}

/// Only what moves the work on is worth telling others.
fn verb(change: &Change<'_>) -> Option<&'static str> {
    match change {
        Change::Status(TaskStatus::InProgress) | Change::Start(_) => Some("started"),
        Change::Status(TaskStatus::Completed) => Some("completed"),
        Change::Status(TaskStatus::Skipped) => Some("skipped"),
        Change::Status(TaskStatus::Pending)
        | Change::Note(_)
        | Change::Skill(_)
        | Change::Agent(_)
        | Change::Parent(_) => None,
    }
}

pub(super) fn print(task: &Task, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(&TaskReport::new(task, false, Vec::new()))?,
        Format::Text => output.data(&format!("{}\n", line(task)))?,
    }
    Ok(Exit::Done)
}

pub(super) fn remove(
    workspace: &Workspace,
    app: &App,
    actor: &AgentName,
    id: &TaskId,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Workspace { store, scope } = workspace;
    let content = store.task(scope, id).map_err(refused)?.map(|task| task.content);
    let removed = store.remove_task(scope, id, now()).map_err(refused)?;
    let deed = format!("removed {}", content.unwrap_or_default());
    store.record_event(scope, actor, &deed, now()).map_err(refused)?;
    match app.format {
        Format::Json => output.json(&serde_json::json!({ "removed": removed }))?,
        Format::Text => output.data(&format!("removed {removed}\n"))?,
    }
    Ok(Exit::Done)
}
