//! A task as a row of the table.

use convoke_domain::scope::AgentName;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::priority::TaskPriority;
use convoke_domain::task::{Task, TaskStatus};
use rusqlite::{Connection, Row};

use super::super::row::{Time, Word, one_of};
use super::dependency::{open_among, parse_ids};

/// Reads a task from a row with all of its columns.
pub(in crate::sqlite) fn read_task(
    connection: &Connection,
    row: &Row<'_>,
) -> rusqlite::Result<Task> {
    let id = row.get("id").map(|Word(id): Word<TaskId>| id)?;
    let parent: Option<Word<TaskId>> = row.get("parent_id")?;
    let agent: Option<Word<AgentName>> = row.get("assigned_agent")?;
    let completed_at: Option<Time> = row.get("completed_at")?;
    let after = parse_ids(row.get_ref("after_ids")?.as_str()?)?;
    let waits_for = open_among(connection, row, &after)?;
    Ok(Task {
        id,
        parent: parent.map(|Word(id)| id),
        plan_file: row.get("plan_file")?,
        content: row.get("content")?,
        body: row.get("body")?,
        order: row.get("sort_index")?,
        agent: agent.map(|Word(name)| name),
        status: one_of(row, "status", TaskStatus::parse)?,
        priority: one_of(row, "priority", TaskPriority::parse)?,
        after,
        waits_for,
        skill: row.get("skill")?,
        skill_version: row.get("skill_version")?,
        notes: row.get("notes")?,
        created_at: row.get("created_at").map(|Time(at)| at)?,
        updated_at: row.get("updated_at").map(|Time(at)| at)?,
        completed_at: completed_at.map(|Time(at)| at),
    })
}
