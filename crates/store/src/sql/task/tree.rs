//! Tasks above and below a task in SQL.

use convoke_domain::scope::Scope;
use convoke_domain::task::DEEPEST;
use convoke_domain::task::id::TaskId;
use jiff::Timestamp;

use super::{find, no_task};
use crate::error::StoreError;
use crate::sql::deed::supersede_verdicts;
use crate::sql::driver::{self, Connection, params};
use crate::sql::row::{Time, Word};
use crate::sql::rows;

/// Returns a task and everything above it, nearest first. A damaged store may hold a circle, so the
/// walk ends at the greatest depth.
fn upwards(connection: &Connection, scope: &Scope, id: &TaskId) -> Result<Vec<TaskId>, StoreError> {
    let mut way = Vec::new();
    let mut next = Some(id.clone());
    while let Some(id) = next.filter(|_| way.len() <= 2 * DEEPEST) {
        let task = find(connection, scope, &id)?.ok_or_else(|| no_task(&id))?;
        way.push(id);
        next = task.parent;
    }
    Ok(way)
}

/// Meeting the task itself above its new parent would close a circle.
pub(super) fn refuse_circle(
    connection: &Connection,
    scope: &Scope,
    id: &TaskId,
    parent: &TaskId,
) -> Result<(), StoreError> {
    if upwards(connection, scope, parent)?.contains(id) {
        return Err(StoreError::Circle { id: id.clone(), parent: parent.clone() });
    }
    Ok(())
}

/// Refuses to move a subtree of some height below a parent that is too deep for it.
pub(super) fn refuse_depth(
    connection: &Connection,
    scope: &Scope,
    parent: &TaskId,
    height: usize,
) -> Result<(), StoreError> {
    if upwards(connection, scope, parent)?.len() + height > DEEPEST {
        return Err(StoreError::TooDeep { parent: parent.clone() });
    }
    Ok(())
}

/// Selects the tasks below a task, with their distance; it ends even if a damaged store holds a
/// circle.
pub(in crate::sql) const BELOW: &str = "WITH RECURSIVE below (id, depth) AS ( \
      SELECT id, 1 FROM tasks WHERE project = ?1 AND branch = ?2 AND id = ?3 UNION \
      SELECT tasks.id, depth + 1 FROM tasks JOIN below ON tasks.parent_id = below.id \
      WHERE project = ?1 AND branch = ?2 AND deleted_at IS NULL AND depth < 1000)";

/// Returns how many levels a task and its parts take.
pub(super) fn height(connection: &Connection, scope: &Scope, id: &TaskId) -> driver::Result<usize> {
    let sql = format!("{BELOW} SELECT max(depth) FROM below");
    let values = params![scope.project, scope.branch, id.as_str()];
    let height: u32 = connection.query_row(&sql, values, |row| row.get(0))?;
    Ok(height as usize)
}

/// Gives new parts of a task the task's plan.
pub(super) fn take_over_plan(
    connection: &Connection,
    scope: &Scope,
    id: &TaskId,
    parent: &TaskId,
) -> driver::Result<()> {
    let sql = format!(
        "{BELOW} UPDATE tasks SET plan_file = ( \
           SELECT plan_file FROM tasks WHERE project = ?1 AND branch = ?2 AND id = ?4) \
         WHERE project = ?1 AND branch = ?2 AND id IN (SELECT id FROM below)"
    );
    let values = params![scope.project, scope.branch, id.as_str(), parent.as_str()];
    connection.execute(&sql, values).map(drop)
}

/// Skips the open subtasks of a task and returns their number.
pub(super) fn close_below(
    connection: &Connection,
    scope: &Scope,
    id: &TaskId,
    now: Timestamp,
) -> driver::Result<usize> {
    let sql = format!(
        "{BELOW} UPDATE tasks SET status = 'skipped', updated_at = ?4, completed_at = ?4 \
         WHERE project = ?1 AND branch = ?2 AND deleted_at IS NULL AND id <> ?3 \
         AND status IN ('pending', 'in_progress') AND id IN (SELECT id FROM below)"
    );
    connection.execute(&sql, params![scope.project, scope.branch, id.as_str(), Time(now)])
}

/// Opens the closed tasks above a task that is begun, because it is part of them.
pub(super) fn open_above(
    connection: &Connection,
    scope: &Scope,
    id: &TaskId,
    now: Timestamp,
) -> driver::Result<()> {
    let sql = "WITH RECURSIVE above (id, depth) AS ( \
                 SELECT parent_id, 1 FROM tasks \
                   WHERE project = ?1 AND branch = ?2 AND id = ?3 UNION \
                 SELECT tasks.parent_id, depth + 1 FROM tasks JOIN above ON tasks.id = above.id \
                   WHERE project = ?1 AND branch = ?2 AND depth < 1000) \
               SELECT id FROM tasks WHERE project = ?1 AND branch = ?2 AND deleted_at IS NULL \
               AND status IN ('completed', 'skipped') AND id IN (SELECT id FROM above)";
    let values = params![scope.project, scope.branch, id.as_str()];
    let closed = rows(connection, sql, values, |row| row.get(0).map(|Word(id): Word<TaskId>| id))?;
    for id in closed {
        let sql = "UPDATE tasks SET status = 'in_progress', updated_at = ?4, completed_at = NULL \
                   WHERE project = ?1 AND branch = ?2 AND id = ?3";
        let values = params![scope.project, scope.branch, id.as_str(), Time(now)];
        connection.execute(sql, values)?;
        supersede_verdicts(connection, scope, &id, now)?;
    }
    Ok(())
}
