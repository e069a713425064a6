//! Moves all records of one project into another.

use convoke_domain::scope::Scope;

use crate::error::StoreError;
use crate::project::MergedProject;
use crate::sql::catalog::{DERIVED, tables_with};
use crate::sql::driver::{self, Connection, params};
use crate::sql::task::tasks_of;
use crate::sql::task_edit::carry;
use crate::sql::{failed, rows};

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
        let sql = format!("UPDATE {table} SET project = ?2 WHERE project = ?1{}", unique(&table));
        let count = connection.execute(&sql, params![from, into]).map_err(&failed)?;
        match table.as_str() {
            "messages" => merged.messages = count,
            "pins" => merged.pins = count,
            "agents" => merged.agents = count,
            _ => {}
        }
        // The target already has records that can exist only once.
        let sql = format!("DELETE FROM {table} WHERE project = ?1");
        connection.execute(&sql, [from]).map_err(&failed)?;
    }
    // Triggers took along what belongs to moved rows.
    for table in ["unread"].into_iter().chain(DERIVED) {
        let sql = format!("DELETE FROM {table} WHERE project = ?1");
        connection.execute(&sql, [from]).map_err(&failed)?;
    }
    Ok(merged)
}

/// The columns that, beside the project, a row of a table is known by.
const KEYS: [(&str, &[&str]); 8] = [
    ("agents", &["branch", "name"]),
    ("firings", &["client"]),
    ("recipients", &["branch", "agent", "message_id", "mentioned"]),
    ("resume_states", &["branch", "feature", "role", "iteration"]),
    ("review_loops", &["branch", "feature", "command"]),
    ("review_rounds", &["branch", "feature", "command", "iteration", "role"]),
    ("skill_pins", &["branch", "skill"]),
    ("skill_uses", &["branch", "agent"]),
];

/// Returns the condition that the target has no such row.
fn unique(table: &str) -> String {
    let Some((_, keys)) = KEYS.iter().find(|(name, _)| *name == table) else {
        return String::new();
    };
    let same = keys.iter().map(|key| format!(" AND there.{key} = {table}.{key}"));
    let same: String = same.collect();
    format!(" AND NOT EXISTS (SELECT 1 FROM {table} AS there WHERE there.project = ?2{same})")
}

/// An agent that both projects have saw only what it saw in both.
fn keep_unread(connection: &Connection, from: &str, into: &str) -> driver::Result<()> {
    let other = "FROM agents AS other WHERE other.project = ?1 AND other.branch = agents.branch \
                 AND other.name = agents.name";
    let sql = format!(
        "UPDATE agents SET last_seen_message_id = ( \
           SELECT CASE WHEN other.last_seen_message_id < agents.last_seen_message_id \
             OR other.last_seen_message_id IS NULL THEN other.last_seen_message_id \
             ELSE agents.last_seen_message_id END {other}) \
         WHERE project = ?2 AND EXISTS (SELECT 1 {other})"
    );
    connection.execute(&sql, params![from, into]).map(drop)
}
