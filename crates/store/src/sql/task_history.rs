//! The history of tasks in SQL.

use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::task::TaskStatus;
use convoke_domain::task::history::{TaskChange, TaskImage, joined};
use convoke_domain::task::id::TaskId;
use convoke_domain::task::priority::TaskPriority;
use jiff::Timestamp;
use serde_json::Value;

use super::row::{Time, Word, stored};
use super::talk_moves::bring_talk_back;
use super::task::dependency::parse_ids;
use super::task::{no_task, read_task};
use super::task_edit::{bring_records_back, bring_rules_back};
use super::{SqlStore, failed, rows};
use crate::error::StoreError;
use crate::sql::driver::{self, Connection, FromSqlError, OptionalExtension, Row, params};
use crate::task_history::{RemovedTask, TaskHistoryStore, Undoer};

/// A change with its step.
const CHANGES: &str = "SELECT task_changes.*, actor, at, undoes, undone_by \
     FROM task_changes JOIN task_steps ON step = task_steps.id";

impl TaskHistoryStore for SqlStore {
    fn undo_task_step(
        &self,
        scope: &Scope,
        undoer: Undoer,
        now: Timestamp,
    ) -> Result<Vec<TaskChange>, StoreError> {
        let failed = failed("undo the last step");
        let step = self.begin_step(scope, now).map_err(&failed)?;
        let Some(last) = last_step(&step.transaction, scope).map_err(&failed)? else {
            return Ok(Vec::new());
        };
        if undoer == Undoer::Agent && is_of_user(&step.transaction, last).map_err(&failed)? {
            return Err(StoreError::OfUser { what: "the last step" });
        }
        let sql = format!("{CHANGES} WHERE step = ?1 ORDER BY task_changes.id");
        let changes = rows(&step.transaction, &sql, params![last], read_change).map_err(&failed)?;
        let sql = "SELECT before, after FROM task_changes WHERE step = ?1 ORDER BY id DESC";
        let images = rows(&step.transaction, sql, params![last], |row| {
            Ok((row.get::<_, Option<String>>(0)?, row.get::<_, String>(1)?))
        });
        for (before, after) in images.map_err(&failed)? {
            let found = put_back(&step.transaction, scope, before.as_deref(), &after, now);
            if !found.map_err(&failed)? {
                let id = changes.first().map(|change| change.task.clone());
                return Err(id.map_or_else(
                    || failed(driver::Error::no_row()),
                    |id| StoreError::CannotUndo { id },
                ));
            }
        }
        bring_rules_back(&step.transaction, last, now).map_err(&failed)?;
        bring_talk_back(&step.transaction, scope, last).map_err(&failed)?;
        step.mark_undo_of(last).map_err(&failed)?;
        step.commit().map_err(failed)?;
        Ok(joined(changes))
    }

    fn task_log(
        &self,
        scope: &Scope,
        id: Option<&TaskId>,
        most: usize,
    ) -> Result<Vec<TaskChange>, StoreError> {
        let of_task = "task = ?3 AND ?2 IS NOT NULL";
        let of_scope = "branch = ?2 AND ?3 IS NULL";
        let which = if id.is_some() { of_task } else { of_scope };
        let sql = format!(
            "SELECT * FROM ({CHANGES} WHERE project = ?1 AND {which} \
             ORDER BY task_changes.id DESC LIMIT ?4) AS changes ORDER BY id"
        );
        let task = id.map(TaskId::as_str);
        let values = params![scope.project, scope.branch, task, stored(most)];
        self.read_all("read the log of tasks", &sql, values, read_change).map(joined)
    }

    fn removed_tasks(&self, scope: &Scope) -> Result<Vec<RemovedTask>, StoreError> {
        let sql = "SELECT * FROM tasks WHERE project = ?1 AND branch = ?2 \
                   AND deleted_at IS NOT NULL AND NOT EXISTS ( \
                     SELECT 1 FROM tasks AS above WHERE above.project = tasks.project \
                     AND above.branch = tasks.branch AND above.id = tasks.parent_id \
                     AND above.deleted_at = tasks.deleted_at) \
                   ORDER BY deleted_at DESC, sort_index, id";
        let connection = self.connection();
        let read = |row: &Row<'_>| {
            let Time(removed_at) = row.get("deleted_at")?;
            Ok(RemovedTask { task: read_task(&connection, row)?, removed_at })
        };
        let values = params![scope.project, scope.branch];
        rows(&connection, sql, values, read).map_err(failed("read removed tasks"))
    }

    fn restore_task(
        &self,
        scope: &Scope,
        id: &TaskId,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let failed = failed("restore the task");
        let step = self.begin_step(scope, now).map_err(&failed)?;
        refuse_unless_removed(&step.transaction, scope, id)?;
        let sql = "WITH RECURSIVE removed (id, at) AS ( \
                     SELECT id, deleted_at FROM tasks \
                       WHERE project = ?1 AND branch = ?2 AND id = ?3 UNION \
                     SELECT tasks.id, at FROM tasks JOIN removed ON tasks.parent_id = removed.id \
                       WHERE project = ?1 AND branch = ?2 AND deleted_at = at) \
                   UPDATE tasks SET deleted_at = NULL, updated_at = ?4 \
                   WHERE project = ?1 AND branch = ?2 AND id IN (SELECT id FROM removed)";
        let values = params![scope.project, scope.branch, id.as_str(), Time(now)];
        let restored = step.transaction.execute(sql, values).map_err(&failed)?;
        super::task::dependency::refuse_waiting_circle(&step.transaction, scope)?;
        step.commit().map_err(failed)?;
        Ok(restored)
    }
}

/// Returns the last step that is neither undone nor an undo. The step in progress does not count.
pub(super) fn last_step(connection: &Connection, scope: &Scope) -> driver::Result<Option<i64>> {
    let sql = "SELECT id FROM task_steps WHERE project = ?1 AND branch = ?2 \
               AND undoes IS NULL AND undone_by IS NULL AND is_final = 0 \
               AND id IS DISTINCT FROM (SELECT step FROM task_step_now) ORDER BY id DESC LIMIT 1";
    connection.query_row(sql, params![scope.project, scope.branch], |row| row.get(0)).optional()
}

fn is_of_user(connection: &Connection, step: i64) -> driver::Result<bool> {
    let sql = "SELECT actor FROM task_steps WHERE id = ?1";
    let actor = connection.query_row(sql, [step], |row| row.get(0).map(|Word(name)| name))?;
    Ok(AgentName::is_human(&actor))
}

/// Makes a task what it was, or removes it if it was not; tells whether it was found.
fn put_back(
    connection: &Connection,
    scope: &Scope,
    before: Option<&str>,
    after: &str,
    now: Timestamp,
) -> driver::Result<bool> {
    let which = "WHERE project = ?2 AND branch = json_extract(?3, '$.branch') \
                 AND id = json_extract(?3, '$.id')";
    let changed = match before {
        None => {
            let sql = format!("UPDATE tasks SET deleted_at = ?1 {which}");
            connection.execute(&sql, params![Time(now), scope.project, after])?
        }
        Some(before) => {
            let columns = [
                "id",
                "branch",
                "parent_id",
                "plan_file",
                "content",
                "body",
                "sort_index",
                "assigned_agent",
                "status",
                "skill",
                "skill_version",
                "notes",
                "priority",
                "after_ids",
                "completed_at",
                "deleted_at",
            ];
            let set = columns.map(|name| match name {
                // A server reads every value as a text.
                "sort_index" => format!("{name} = CAST(json_extract(?4, '$.{name}') AS BIGINT)"),
                _ => format!("{name} = json_extract(?4, '$.{name}')"),
            });
            bring_records_back(connection, scope, before, after)?;
            let sql = format!("UPDATE tasks SET updated_at = ?1, {} {which}", set.join(", "));
            connection.prepare_cached(&sql)?.execute(params![
                Time(now),
                scope.project,
                after,
                before
            ])?
        }
    };
    Ok(changed > 0)
}

/// Returns the error if a task cannot be restored.
fn refuse_unless_removed(
    connection: &Connection,
    scope: &Scope,
    id: &TaskId,
) -> Result<(), StoreError> {
    let sql = "SELECT parent_id, deleted_at IS NOT NULL FROM tasks \
               WHERE project = ?1 AND branch = ?2 AND id = ?3";
    let find = |id: &str| {
        let read = |row: &Row<'_>| Ok((row.get::<_, Option<Word<TaskId>>>(0)?, row.get(1)?));
        let values = params![scope.project, scope.branch, id];
        let found: Option<(Option<Word<TaskId>>, bool)> = connection
            .query_row(sql, values, read)
            .optional()
            .map_err(failed("find the removed task"))?;
        Ok::<_, StoreError>(found)
    };
    let (parent, is_removed) = find(id.as_str())?.ok_or_else(|| no_task(id))?;
    if !is_removed {
        return Err(StoreError::NotRemoved { id: id.clone() });
    }
    let Some(Word(parent)) = parent else { return Ok(()) };
    match find(parent.as_str())? {
        Some((_, true)) => Err(StoreError::RemovedParent { id: id.clone(), parent }),
        Some((_, false)) | None => Ok(()),
    }
}

fn read_change(row: &Row<'_>) -> driver::Result<TaskChange> {
    let before: Option<String> = row.get("before")?;
    let undoes: Option<i64> = row.get("undoes")?;
    let undone_by: Option<i64> = row.get("undone_by")?;
    Ok(TaskChange {
        step: row.get("step")?,
        at: row.get("at").map(|Time(at)| at)?,
        actor: row.get("actor").map(|Word(name): Word<AgentName>| name)?,
        task: row.get("task").map(|Word(id): Word<TaskId>| id)?,
        before: before.as_deref().map(image).transpose()?,
        after: image(row.get_ref("after")?.as_str()?)?,
        is_undo: undoes.is_some(),
        is_undone: undone_by.is_some(),
    })
}

/// Reads a task as a step left it.
fn image(text: &str) -> driver::Result<TaskImage> {
    let strange = |_: &str| FromSqlError::InvalidType;
    let row: Value = serde_json::from_str(text).map_err(FromSqlError::other)?;
    let get = |name: &str| row.get(name).and_then(Value::as_str).map(str::to_owned);
    let word = |name: &'static str| get(name).ok_or_else(|| strange(name));
    Ok(TaskImage {
        branch: word("branch")?,
        parent: get("parent_id").and_then(|id| TaskId::parse(&id).ok()),
        plan_file: get("plan_file"),
        content: word("content")?,
        body: get("body"),
        order: row.get("sort_index").and_then(Value::as_i64).ok_or_else(|| strange("place"))?,
        agent: get("assigned_agent").map(|name| AgentName::known(&name)),
        status: TaskStatus::parse(&word("status")?).ok_or_else(|| strange("status"))?,
        priority: TaskPriority::parse(&word("priority")?).ok_or_else(|| strange("priority"))?,
        after: parse_ids(&get("after_ids").unwrap_or_default())?,
        notes: get("notes"),
        is_removed: get("deleted_at").is_some(),
    })
}
