//! Deeds of tasks in SQL.

use convoke_domain::scope::Scope;
use convoke_domain::task::deed::{DeedKind, DeedRole, TaskDeed};
use convoke_domain::task::id::TaskId;
use jiff::Timestamp;

use super::message::{insert_event, member_name};
use super::row::{Time, Word, one_of};
use super::task::{find, no_task};
use super::task_history::last_step;
use super::{SqlStore, failed};
use crate::deed::{DeedStore, NewDeed};
use crate::error::StoreError;
use crate::sql::driver::{self, Connection, OptionalExtension, Row, params};
use crate::task_history::Undoer;

impl DeedStore for SqlStore {
    fn record_deed(
        &self,
        scope: &Scope,
        deed: &NewDeed<'_>,
        now: Timestamp,
    ) -> Result<TaskDeed, StoreError> {
        let failed = failed("record the deed");
        let transaction = self.begin().map_err(&failed)?;
        let task = find(&transaction, scope, deed.task)?.ok_or_else(|| no_task(deed.task))?;
        let phrase = deed.kind.phrase(deed.role, &task.content);
        let record = || {
            let sql = "INSERT INTO task_deeds (project, branch, task_id, kind, role, actor, \
                       reason, message_id, run, created_at) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) RETURNING *";
            let values = params![
                scope.project,
                scope.branch,
                deed.task.as_str(),
                deed.kind.name(),
                deed.role.as_str(),
                deed.actor.as_str(),
                deed.reason,
                deed.message_id,
                deed.run,
                Time(now),
            ];
            let recorded = transaction.query_row(sql, values, read_deed)?;
            insert_event(&transaction, scope, deed.actor, &phrase, now)?;
            Ok(recorded)
        };
        let recorded = record().map_err(&failed)?;
        transaction.commit().map_err(failed)?;
        Ok(recorded)
    }

    fn undo_verdict(
        &self,
        scope: &Scope,
        undoer: Undoer,
        now: Timestamp,
    ) -> Result<Option<TaskDeed>, StoreError> {
        let failed = failed("undo the last verdict");
        let transaction = self.begin().map_err(&failed)?;
        let step = last_step(&transaction, scope).map_err(&failed)?;
        let Some(deed) = last_verdict(&transaction, scope, step).map_err(&failed)? else {
            return Ok(None);
        };
        if deed.run.is_some() || deed.message_id.is_some() {
            let sql = "SELECT EXISTS (SELECT 1 FROM task_changes WHERE step = ?1 AND task = ?2)";
            let values = params![step, deed.task.as_str()];
            let is_of_step = transaction.query_row(sql, values, |row| row.get(0));
            return if is_of_step.map_err(&failed)? {
                Err(StoreError::JudgedSince { id: deed.task, role: deed.role })
            } else {
                Ok(None)
            };
        }
        if undoer == Undoer::Agent && deed.actor.is_human() {
            return Err(StoreError::OfUser { what: "the last verdict" });
        }
        let sql = "UPDATE task_deeds SET superseded_at = ?2 WHERE id = ?1";
        transaction.execute(sql, params![deed.id, Time(now)]).map_err(&failed)?;
        transaction.commit().map_err(failed)?;
        Ok(Some(deed))
    }

    fn deeds_of_task(&self, scope: &Scope, task: &TaskId) -> Result<Vec<TaskDeed>, StoreError> {
        let sql = "SELECT * FROM task_deeds WHERE project = ?1 AND branch = ?2 AND task_id = ?3 \
                   AND superseded_at IS NULL ORDER BY id";
        let values = params![scope.project, scope.branch, task.as_str()];
        self.read_all("read the deeds", sql, values, read_deed)
    }

    fn deeds_of_message(&self, scope: &Scope, message: i64) -> Result<Vec<TaskDeed>, StoreError> {
        let sql = "SELECT * FROM task_deeds WHERE message_id = ?3 \
                   AND project = ?1 AND branch = ?2 ORDER BY id";
        let values = params![scope.project, scope.branch, message];
        self.read_all("read the deeds", sql, values, read_deed)
    }
}

/// Takes the verdicts on a task out of account: it is begun anew.
pub(super) fn supersede_verdicts(
    connection: &Connection,
    scope: &Scope,
    task: &TaskId,
    now: Timestamp,
) -> driver::Result<()> {
    let sql = "UPDATE task_deeds SET superseded_at = ?4 WHERE project = ?1 AND branch = ?2 \
               AND task_id = ?3 AND kind NOT IN ('work', 'dispatched') AND superseded_at IS NULL";
    let values = params![scope.project, scope.branch, task.as_str(), Time(now)];
    connection.execute(sql, values).map(drop)
}

/// Returns the last verdict that counts, if it came after a step.
fn last_verdict(
    connection: &Connection,
    scope: &Scope,
    step: Option<i64>,
) -> driver::Result<Option<TaskDeed>> {
    let sql = "SELECT * FROM task_deeds WHERE project = ?1 AND branch = ?2 \
               AND kind NOT IN ('work', 'dispatched') AND superseded_at IS NULL \
               AND created_at > coalesce((SELECT at FROM task_steps WHERE id = ?3), '') \
               ORDER BY id DESC LIMIT 1";
    let values = params![scope.project, scope.branch, step];
    connection.query_row(sql, values, read_deed).optional()
}

pub(super) fn read_deed(row: &Row<'_>) -> driver::Result<TaskDeed> {
    Ok(TaskDeed {
        id: row.get("id")?,
        task: row.get("task_id").map(|Word(id): Word<TaskId>| id)?,
        kind: one_of(row, "kind", DeedKind::parse)?,
        role: one_of(row, "role", |role| DeedRole::parse(role).ok())?,
        actor: row.get("actor").map(|Word(name)| name)?,
        reason: row.get("reason")?,
        message_id: row.get("message_id")?,
        run: row.get("run")?,
        at: row.get("created_at").map(|Time(at)| at)?,
        member: row.get("member").map(member_name)?,
    })
}
