//! Reading tasks for a page in SQL.

use convoke_domain::scope::Scope;
use convoke_domain::task::Task;
use convoke_domain::task::id::TaskId;

use super::SqlStore;
use super::row::Word;
use super::task::list;
use crate::error::StoreError;
use crate::sql::driver::{Row, ToSql, params};
use crate::task_page::{OutlinedTask, TaskPageStore};

/// How many ids one statement asks for.
const AT_ONCE: usize = 500;

impl TaskPageStore for SqlStore {
    fn plan_counts(&self, scope: &Scope) -> Result<Vec<(Option<String>, u32)>, StoreError> {
        let sql = "SELECT plan_file, count(*) FROM tasks \
                   WHERE project = ?1 AND branch = ?2 AND deleted_at IS NULL \
                   GROUP BY plan_file ORDER BY 2 DESC, plan_file IS NULL, 1";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.read_all("list the plans", sql, params![scope.project, scope.branch], read)
    }

    fn held_tasks(&self, scope: &Scope) -> Result<Vec<Task>, StoreError> {
        let sql = "SELECT * FROM tasks WHERE project = ?1 AND branch = ?2 \
                   AND status = 'in_progress' AND assigned_agent IS NOT NULL \
                   AND deleted_at IS NULL ORDER BY updated_at DESC, id";
        list(&self.connection(), sql, params![scope.project, scope.branch])
    }

    fn outline(
        &self,
        scope: &Scope,
        plan: Option<Option<&str>>,
    ) -> Result<Vec<OutlinedTask>, StoreError> {
        let read = |row: &Row<'_>| {
            let parent: Option<Word<TaskId>> = row.get(3)?;
            Ok(OutlinedTask {
                order: row.get(0)?,
                created_at: row.get(1)?,
                id: row.get(2).map(|Word(id)| id)?,
                parent: parent.map(|Word(id)| id),
            })
        };
        let all = "SELECT sort_index, created_at, id, parent_id FROM tasks \
                   WHERE project = ?1 AND branch = ?2 AND deleted_at IS NULL";
        let doing = "read the places of tasks";
        match plan {
            None => self.read_all(doing, all, params![scope.project, scope.branch], read),
            Some(plan) => {
                let sql = format!("{all} AND plan_file IS ?3");
                self.read_all(doing, &sql, params![scope.project, scope.branch, plan], read)
            }
        }
    }

    fn tasks_with(&self, scope: &Scope, ids: &[&TaskId]) -> Result<Vec<Task>, StoreError> {
        let mut found = Vec::with_capacity(ids.len());
        for ids in ids.chunks(AT_ONCE) {
            let places: Vec<_> = (3..3 + ids.len()).map(|place| format!("?{place}")).collect();
            let sql = format!(
                "SELECT * FROM tasks WHERE project = ?1 AND branch = ?2 AND deleted_at IS NULL \
                 AND id IN ({})",
                places.join(", ")
            );
            let ids: Vec<_> = ids.iter().map(|id| id.as_str()).collect();
            let mut values: Vec<&dyn ToSql> = vec![&scope.project, &scope.branch];
            values.extend(ids.iter().map(|id| id as &dyn ToSql));
            found.extend(list(&self.connection(), &sql, &values)?);
        }
        Ok(found)
    }
}
