//! Completing a task with its last part, where the user wants that.

use convoke_domain::task::deed::TaskVerdict;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::{DEEPEST, Task, TaskStatus};
use convoke_store::task::Change;

use super::TaskDesk;
use crate::failure::Failure;
use crate::settings::task::settings;
use crate::workspace::{Workspace, refused};

/// Completes the tasks above one that was closed, as far up as nothing is open below them.
pub(super) fn close(desk: &TaskDesk<'_>, closed: &Task) -> Result<(), Failure> {
    let TaskDesk { session, workspace, actor, .. } = desk;
    if !closed.status.is_closed() || !settings(session)?.close_parent {
        return Ok(());
    }
    let Workspace { store, scope } = workspace;
    let mut above = closed.parent.clone();
    // A damaged store may hold a circle; no tree is deeper than this.
    for _ in 0..DEEPEST {
        let Some(parent) = above.take().map(|id| ready(workspace, &id)).transpose()?.flatten()
        else {
            break;
        };
        let change = Change::Status(TaskStatus::Completed);
        store.change_task(scope, &parent.id, &change, session.now()).map_err(refused)?;
        let deed = format!("completed {} with its last subtask", parent.content);
        store.record_event(scope, actor, &deed, session.now()).map_err(refused)?;
        session.reporter().remark(format!("completed {} with its last subtask", parent.id));
        above = parent.parent;
    }
    Ok(())
}

/// Returns the closed tasks above one, nearest first.
pub(super) fn closed_above(workspace: &Workspace, id: &TaskId) -> Result<Vec<Task>, Failure> {
    let Workspace { store, scope } = workspace;
    let mut closed = Vec::new();
    let mut next = store.task(scope, id).map_err(refused)?.and_then(|task| task.parent);
    for _ in 0..DEEPEST {
        let Some(id) = next.take() else { break };
        let Some(task) = store.task(scope, &id).map_err(refused)? else { break };
        next.clone_from(&task.parent);
        closed.extend(Some(task).filter(|task| task.status.is_closed()));
    }
    Ok(closed)
}

/// Returns a task that is open, although every part of it is closed and one was completed. Where a
/// verdict is missing or against it, it stays open for a decision.
fn ready(workspace: &Workspace, id: &TaskId) -> Result<Option<Task>, Failure> {
    let Workspace { store, scope } = workspace;
    let Some(task) = store.task(scope, id).map_err(refused)? else { return Ok(None) };
    let parts = store.children(scope, id).map_err(refused)?;
    let deeds = store.deeds_of_task(scope, id).map_err(refused)?;
    let is_undisputed =
        matches!(TaskVerdict::of(&deeds), TaskVerdict::Unjudged | TaskVerdict::Passed(_));
    let is_ready = !task.status.is_closed()
        && is_undisputed
        && parts.iter().all(|part| part.status.is_closed())
        && parts.iter().any(|part| part.status == TaskStatus::Completed);
    Ok(Some(task).filter(|_| is_ready))
}
