//! Steps: which changes of tasks belong together, and whose they are.
//!
//! Triggers write down every change of a task (see the schema), so that no statement can forget to.

use convoke_domain::scope::Scope;
use jiff::Timestamp;

use crate::sql::SqlStore;
use crate::sql::driver::{self, params};
use crate::sql::row::Time;
use crate::sql::transaction::WriteTransaction;

/// A transaction whose changes to tasks are one step.
pub(in crate::sql) struct Step<'a> {
    pub(in crate::sql) transaction: WriteTransaction<'a>,
    id: i64,
}

impl SqlStore {
    /// Begins a step of the one that this store acts for.
    pub(in crate::sql) fn begin_step(
        &self,
        scope: &Scope,
        now: Timestamp,
    ) -> driver::Result<Step<'_>> {
        let transaction = self.begin()?;
        let sql = "INSERT INTO task_steps (project, branch, actor, at) VALUES (?1, ?2, ?3, ?4) \
                   RETURNING id";
        let values = params![scope.project, scope.branch, self.actor.as_str(), Time(now)];
        let id = transaction.prepare_cached(sql)?.query_row(values, |row| row.get(0))?;
        transaction.prepare_cached("UPDATE task_step_now SET step = ?1")?.execute(params![id])?;
        Ok(Step { transaction, id })
    }
}

impl Step<'_> {
    /// Marks this step as the undo of another.
    pub(in crate::sql) fn mark_undo_of(&self, undone: i64) -> driver::Result<()> {
        let connection = &self.transaction;
        connection.execute("UPDATE task_steps SET undoes = ?1 WHERE id = ?2", [undone, self.id])?;
        connection
            .execute("UPDATE task_steps SET undone_by = ?1 WHERE id = ?2", [self.id, undone])?;
        Ok(())
    }

    /// Keeps what the step did; one that did nothing is forgotten.
    pub(in crate::sql) fn commit(self) -> driver::Result<()> {
        let Self { transaction, id } = self;
        transaction.execute("UPDATE task_step_now SET step = NULL", params![])?;
        // A row that was written again as it was is no change.
        let sql = "DELETE FROM task_changes WHERE step = ?1 AND before = after";
        transaction.execute(sql, [id])?;
        let nothing = "NOT EXISTS (SELECT 1 FROM task_changes WHERE step = ?1)";
        // Moves that follow tasks to another branch cannot be undone where no task moved.
        for table in ["pin_moves", "talk_moves", "session_moves"] {
            let sql = format!("DELETE FROM {table} WHERE step = ?1 AND {nothing}");
            transaction.execute(&sql, [id])?;
        }
        transaction
            .execute(&format!("DELETE FROM task_steps WHERE id = ?1 AND {nothing}"), [id])?;
        transaction.commit()
    }
}
