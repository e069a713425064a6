//! Prerequisites of tasks in SQL.

use convoke_domain::scope::Scope;
use convoke_domain::task::Task;
use convoke_domain::task::dependency::circle;
use convoke_domain::task::id::TaskId;

use super::{find, no_task, tasks_of};
use crate::error::StoreError;
use crate::sql::driver::{self, Connection, FromSqlError, params};
use crate::task::Change;

/// Writes ids with blanks between them, each once.
pub(in crate::sql) fn joined(ids: &[TaskId]) -> String {
    let mut words: Vec<&str> = Vec::new();
    for id in ids {
        if !words.contains(&id.as_str()) {
            words.push(id.as_str());
        }
    }
    words.join(" ")
}

/// Reads ids with blanks between them.
pub(in crate::sql) fn parse_ids(text: &str) -> driver::Result<Vec<TaskId>> {
    let parsed = text.split_whitespace().map(TaskId::parse);
    parsed.collect::<Result<_, _>>().map_err(|error| FromSqlError::other(error).into())
}

/// Returns the prerequisites that are open, of a task whose project and branch `place` reads.
pub(super) fn open_among(
    connection: &Connection,
    place: impl FnOnce() -> driver::Result<(String, String)>,
    after: &[TaskId],
) -> driver::Result<Vec<TaskId>> {
    if after.is_empty() {
        return Ok(Vec::new());
    }
    let (project, branch) = place()?;
    let sql = "SELECT 1 FROM tasks WHERE project = ?1 AND branch = ?2 AND id = ?3 \
               AND deleted_at IS NULL AND status IN ('pending', 'in_progress')";
    let mut statement = connection.prepare_cached(sql)?;
    let mut open = Vec::new();
    for id in after {
        if statement.exists(params![project, branch, id.as_str()])? {
            open.push(id.clone());
        }
    }
    Ok(open)
}

/// Refuses prerequisites that are not there.
pub(in crate::sql) fn refuse_missing(
    connection: &Connection,
    scope: &Scope,
    after: &[TaskId],
) -> Result<(), StoreError> {
    for id in after {
        find(connection, scope, id)?.ok_or_else(|| no_task(id))?;
    }
    Ok(())
}

/// Refuses tasks that wait for each other.
pub(in crate::sql) fn refuse_waiting_circle(
    connection: &Connection,
    scope: &Scope,
) -> Result<(), StoreError> {
    let sql = "SELECT 1 FROM tasks WHERE project = ?1 AND branch = ?2 AND after_ids <> '' \
               AND deleted_at IS NULL LIMIT 1";
    let any = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.exists(params![scope.project, scope.branch]))
        .map_err(crate::sql::failed("check the prerequisites"))?;
    if !any {
        return Ok(());
    }
    match circle(&tasks_of(connection, scope)?) {
        Some(circle) => Err(StoreError::Waits { circle }),
        None => Ok(()),
    }
}

/// Refuses to start a task that another process took after it was chosen.
pub(super) fn refuse_taken(task: &Task, change: &Change<'_>) -> Result<(), StoreError> {
    if let Change::StartChosen(_, chosen) = change
        && (task.status, &task.agent) != (chosen.status, &chosen.agent)
    {
        return Err(StoreError::Taken { id: task.id.clone() });
    }
    Ok(())
}
