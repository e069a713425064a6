//! Tasks of high priority outside the plan that is being worked on.

use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::task::Task;
use convoke_domain::task::tree::in_order;
use rusqlite::{Connection, params};

use super::list;
use crate::error::StoreError;
use crate::sqlite::row::stored;

/// How many are looked at on each side of the plan: some may wait, or belong to another agent.
const LOOKS: usize = 64;

/// Reads them on both sides of the plan in the index, so that the plan itself is not read.
pub(super) fn elsewhere(
    connection: &Connection,
    scope: &Scope,
    plan: Option<&str>,
    agent: Option<&AgentName>,
    most: usize,
) -> Result<Vec<Task>, StoreError> {
    let sides: &[&str] = match plan {
        Some(_) => &["plan_file IS NULL AND ?3 <> ''", "plan_file < ?3", "plan_file > ?3"],
        None => &["plan_file > coalesce(?3, '')"],
    };
    let cancelled = "SELECT 1 FROM pins WHERE pins.project = ?1 AND pins.branch = ?2 \
                     AND pins.plan_file = tasks.plan_file AND removed_at IS NULL";
    let mut found = Vec::new();
    for side in sides {
        let sql = format!(
            "SELECT * FROM tasks WHERE project = ?1 AND branch = ?2 AND {side} \
             AND deleted_at IS NULL AND status IN ('pending', 'in_progress') AND priority = 'high' \
             AND (?4 IS NULL OR assigned_agent = ?4) AND ({cancelled} LIMIT 1) IS NULL \
             ORDER BY plan_file, sort_index LIMIT ?5"
        );
        let agent = agent.map(AgentName::as_str);
        let values = params![scope.project, scope.branch, plan, agent, stored(LOOKS)];
        found.extend(list(connection, &sql, values)?);
    }
    found.retain(|task| !task.is_waiting());
    found.sort_by(in_order);
    found.truncate(most);
    Ok(found)
}
