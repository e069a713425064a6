//! Changing what a task says, and its place.

use convoke_domain::task::Task;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::order::SiblingPlace;
use convoke_domain::task::priority::TaskPriority;
use convoke_store::task_edit::TaskEdit;

use super::{TaskDesk, filled_line, known_task};
use crate::failure::{ErrorClass, Failure};
use crate::workspace::{Workspace, refused};

/// Changes to a task. Without any, a person writes them in an editor.
#[derive(Debug, Clone)]
pub struct EditRequest {
    /// The task.
    pub id: TaskId,
    /// Its new title, on one line.
    pub title: Option<String>,
    /// Its new body; an empty one removes it.
    pub body: Option<String>,
    /// Its urgency among its siblings.
    pub priority: Option<TaskPriority>,
    /// All tasks that come before it.
    pub after: Option<Vec<TaskId>>,
}

#[derive(Debug, thiserror::Error)]
enum EditError {
    #[error("cannot move `{id}` next to itself")]
    BesideItself { id: TaskId },
    #[error("cannot edit `{id}`: {why}")]
    NoTitle { id: TaskId, why: &'static str },
    #[error("cannot use this body: it has control characters")]
    Control,
}

fn misused(error: EditError) -> Failure {
    Failure::new(ErrorClass::Usage, error)
}

/// Reads a body: any number of lines, without what a terminal would obey.
pub fn task_body(text: &str) -> Result<String, Failure> {
    let body = text.replace("\r\n", "\n");
    let is_strange = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    if body.contains(is_strange) {
        return Err(
            misused(EditError::Control).hint("use plain text; tabs and line breaks are allowed")
        );
    }
    Ok(body.trim_end().trim_start_matches('\n').to_owned())
}

/// Reads the task as it is stored.
pub type ReadTask<'a> = dyn Fn() -> Result<Task, Failure> + 'a;

/// Lets a person write the title of a task and, below it, the body.
pub type WriteTask<'a> = dyn FnMut(&ReadTask<'_>) -> Result<String, Failure> + 'a;

/// Changes what a task says, and returns it as it is then. If the request names no change, `write`
/// lets a person write the title and, below it, the body.
pub fn edit_task(
    desk: &TaskDesk<'_>,
    request: &EditRequest,
    write: &mut WriteTask<'_>,
) -> Result<Task, Failure> {
    let Workspace { store, scope } = &desk.workspace;
    let EditRequest { id, title, body, priority, after } = request;
    let body = body.as_deref().map(task_body).transpose()?;
    let is_named = title.is_some() || body.is_some() || priority.is_some() || after.is_some();
    let (title, body) = if is_named {
        (title.clone(), body)
    } else {
        let written = write(&|| known_task(&desk.workspace, id))?;
        let (title, rest) = written.trim_start().split_once('\n').unwrap_or((written.trim(), ""));
        let title = filled_line(title)
            .map_err(|why| misused(EditError::NoTitle { id: id.clone(), why }))?;
        (Some(title), Some(task_body(rest)?))
    };
    let edit = TaskEdit {
        title: title.as_deref(),
        body: body.as_deref(),
        priority: *priority,
        after: after.as_deref(),
    };
    store.edit_task(scope, id, &edit, desk.session.now()).map_err(refused)?;
    known_task(&desk.workspace, id)
}

/// Gives a task another place among its siblings, and returns it.
pub fn reorder_task(
    desk: &TaskDesk<'_>,
    id: &TaskId,
    place: SiblingPlace<'_>,
) -> Result<Task, Failure> {
    if matches!(place, SiblingPlace::Before(sibling) | SiblingPlace::After(sibling) if sibling == id)
    {
        return Err(misused(EditError::BesideItself { id: id.clone() })
            .hint("name another task: `convoke task tree` shows them"));
    }
    let Workspace { store, scope } = &desk.workspace;
    store.reorder_task(scope, id, place, desk.session.now()).map_err(refused)?;
    known_task(&desk.workspace, id)
}
