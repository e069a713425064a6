//! Moves all records of one project into another.

use convoke_domain::scope::Scope;
use rusqlite::{Connection, params};

use crate::error::StoreError;
use crate::project::MergedProject;
use crate::sqlite::schema::{DERIVED, tables_with};
use crate::sqlite::task::tasks_of;
use crate::sqlite::task_edit::carry;
use crate::sqlite::{failed, rows};

/// Merges within the caller's transaction.
pub(super) fn merge(
    connection: &Connection,
    from: &str,
    into: &str,
) -> Result<MergedProject, StoreError> {
    let failed = failed("merge the projects");
    let mut merged = MergedProject::default();
    let note = |step: Option<i64>| connection.execute("UPDATE task_step_now SET step = ?1", [step]);
    // Moving a whole project is not a step that an agent can undo.
    note(Some(0)).map_err(&failed)?;
    let sql = "SELECT DISTINCT branch FROM tasks WHERE project = ?1";
    let branches = rows(connection, sql, params![from], |row| row.get(0)).map_err(&failed)?;
    for branch in branches {
        let branch: String = branch;
        let (old, new) = (Scope::new(from, &branch), Scope::new(into, &branch));
        let moved = carry(connection, &old, &new, tasks_of(connection, &old)?)?;
        merged.tasks += moved.ids.len();
        let renamed = moved.renamed.into_iter();
        merged.renamed.extend(renamed.map(|(old, new)| (branch.clone(), old, new)));
    }
    note(None).map_err(&failed)?;
    let sql = "UPDATE task_steps SET is_final = 1 WHERE project = ?1";
    connection.execute(sql, [from]).map_err(&failed)?;
    let sql = "UPDATE runs SET begun_in = project WHERE project = ?1 AND begun_in IS NULL";
    connection.execute(sql, [from]).map_err(&failed)?;
    keep_unread(connection, from, into).map_err(&failed)?;
    let kept_by_triggers = |table: &String| table == "unread" || DERIVED.contains(&table.as_str());
    let tables = tables_with(connection, "project").map_err(&failed)?;
    for table in tables.into_iter().filter(|table| !kept_by_triggers(table)) {
        let sql = format!("UPDATE OR IGNORE \"{table}\" SET project = ?2 WHERE project = ?1");
        let count = connection.execute(&sql, params![from, into]).map_err(&failed)?;
        match table.as_str() {
            "messages" => merged.messages = count,
            "pins" => merged.pins = count,
            "agents" => merged.agents = count,
            _ => {}
        }
        // The target already has records that can exist only once.
        let sql = format!("DELETE FROM \"{table}\" WHERE project = ?1");
        connection.execute(&sql, [from]).map_err(&failed)?;
    }
    // Triggers took along what belongs to moved rows.
    for table in ["unread"].into_iter().chain(DERIVED) {
        let sql = format!("DELETE FROM {table} WHERE project = ?1");
        connection.execute(&sql, [from]).map_err(&failed)?;
    }
    Ok(merged)
}

/// An agent that both projects have saw only what it saw in both.
fn keep_unread(connection: &Connection, from: &str, into: &str) -> rusqlite::Result<()> {
    let other = "FROM agents AS other WHERE other.project = ?1 AND other.branch = agents.branch \
                 AND other.name = agents.name";
    let sql = format!(
        "UPDATE agents SET last_seen_message_id = ( \
           SELECT min(agents.last_seen_message_id, other.last_seen_message_id) {other}) \
         WHERE project = ?2 AND EXISTS (SELECT 1 {other})"
    );
    connection.execute(&sql, params![from, into]).map(drop)
}
