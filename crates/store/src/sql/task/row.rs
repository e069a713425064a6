//! A task as a row of the table.

use convoke_domain::scope::AgentName;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::priority::TaskPriority;
use convoke_domain::task::{Task, TaskStatus};

use super::super::row::{Time, Word, one_of_at};
use super::super::{failed, rows};
use super::dependency::{open_among, parse_ids};
use crate::error::StoreError;
use crate::sql::driver::{self, Connection, Row};

/// Where the columns of a task are in the rows of one statement. SQLite finds a column by comparing
/// names, which for every value of every row took an eighth of a hook's instructions.
pub(in crate::sql) struct TaskColumns {
    project: usize,
    branch: usize,
    id: usize,
    parent: usize,
    plan_file: usize,
    content: usize,
    body: usize,
    order: usize,
    agent: usize,
    status: usize,
    priority: usize,
    after: usize,
    skill: usize,
    skill_version: usize,
    notes: usize,
    created_at: usize,
    updated_at: usize,
    completed_at: usize,
}

impl TaskColumns {
    /// Finds the columns in a row of a statement that selects all of them.
    pub(in crate::sql) fn of(row: &Row<'_>) -> driver::Result<Self> {
        let at = |name| row.place_of(name);
        Ok(Self {
            project: at("project")?,
            branch: at("branch")?,
            id: at("id")?,
            parent: at("parent_id")?,
            plan_file: at("plan_file")?,
            content: at("content")?,
            body: at("body")?,
            order: at("sort_index")?,
            agent: at("assigned_agent")?,
            status: at("status")?,
            priority: at("priority")?,
            after: at("after_ids")?,
            skill: at("skill")?,
            skill_version: at("skill_version")?,
            notes: at("notes")?,
            created_at: at("created_at")?,
            updated_at: at("updated_at")?,
            completed_at: at("completed_at")?,
        })
    }

    /// Reads a task from a row of the statement.
    pub(in crate::sql) fn read(
        &self,
        connection: &Connection,
        row: &Row<'_>,
    ) -> driver::Result<Task> {
        let parent: Option<Word<TaskId>> = row.get(self.parent)?;
        let agent: Option<Word<AgentName>> = row.get(self.agent)?;
        let completed_at: Option<Time> = row.get(self.completed_at)?;
        let after = parse_ids(row.get_ref(self.after)?.as_str()?)?;
        let place = || Ok((row.get(self.project)?, row.get(self.branch)?));
        let waits_for = open_among(connection, place, &after)?;
        Ok(Task {
            id: row.get(self.id).map(|Word(id)| id)?,
            parent: parent.map(|Word(id)| id),
            plan_file: row.get(self.plan_file)?,
            content: row.get(self.content)?,
            body: row.get(self.body)?,
            order: row.get(self.order)?,
            agent: agent.map(|Word(name)| name),
            status: one_of_at(row, self.status, "status", TaskStatus::parse)?,
            priority: one_of_at(row, self.priority, "priority", TaskPriority::parse)?,
            after,
            waits_for,
            skill: row.get(self.skill)?,
            skill_version: row.get(self.skill_version)?,
            notes: row.get(self.notes)?,
            created_at: row.get(self.created_at).map(|Time(at)| at)?,
            updated_at: row.get(self.updated_at).map(|Time(at)| at)?,
            completed_at: completed_at.map(|Time(at)| at),
        })
    }
}

/// Reads a task from a row of any statement that selects all columns.
pub(in crate::sql) fn read_task(connection: &Connection, row: &Row<'_>) -> driver::Result<Task> {
    TaskColumns::of(row)?.read(connection, row)
}

/// Reads the tasks that a statement with all columns finds.
pub(in crate::sql) fn list(
    connection: &Connection,
    sql: &str,
    values: &[&dyn driver::ToSql],
) -> Result<Vec<Task>, StoreError> {
    let mut columns = None;
    let read = |row: &Row<'_>| {
        let columns = match &columns {
            Some(columns) => columns,
            None => columns.insert(TaskColumns::of(row)?),
        };
        columns.read(connection, row)
    };
    rows(connection, sql, values, read).map_err(failed("read tasks"))
}
