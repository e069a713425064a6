//! Open tasks outside the plan that is being worked on.

use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::task::Task;
use convoke_domain::task::tree::in_order;
use rusqlite::{Connection, params};

use super::list;
use crate::error::StoreError;
use crate::sqlite::row::stored;
use crate::sqlite::{failed, first_row};

/// How many are checked on each side of the plan: some may wait, or belong to another agent.
const LOOKS: usize = 64;

/// The cancellation of a task's plan.
const CANCELLED: &str = "SELECT 1 FROM pins WHERE pins.project = ?1 AND pins.branch = ?2 \
     AND pins.plan_file = tasks.plan_file AND removed_at IS NULL";

/// Returns the ranges on both sides of a plan in an index, so that the query does not read the plan
/// itself.
const fn sides(plan: Option<&str>) -> &'static [&'static str] {
    match plan {
        Some(_) => &["plan_file IS NULL AND ?3 <> ''", "plan_file < ?3", "plan_file > ?3"],
        None => &["plan_file > coalesce(?3, '')"],
    }
}

/// Tells whether another plan that is not cancelled has an open task.
pub(super) fn is_open_elsewhere(
    connection: &Connection,
    scope: &Scope,
    plan: Option<&str>,
) -> Result<bool, StoreError> {
    for side in sides(plan) {
        let sql = format!(
            "SELECT 1 FROM tasks INDEXED BY open_tasks_by_place \
             WHERE project = ?1 AND branch = ?2 AND {side} \
             AND deleted_at IS NULL AND status IN ('pending', 'in_progress') \
             AND ({CANCELLED} LIMIT 1) IS NULL LIMIT 1"
        );
        let values = params![scope.project, scope.branch, plan];
        let found = first_row(connection, &sql, values, |_| Ok(()));
        if found.map_err(failed("look for open tasks"))?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns open tasks of high priority outside the plan.
pub(super) fn elsewhere(
    connection: &Connection,
    scope: &Scope,
    plan: Option<&str>,
    agent: Option<&AgentName>,
    most: usize,
) -> Result<Vec<Task>, StoreError> {
    let mut found = Vec::new();
    for side in sides(plan) {
        let sql = format!(
            "SELECT * FROM tasks INDEXED BY urgent_tasks \
             WHERE project = ?1 AND branch = ?2 AND {side} \
             AND deleted_at IS NULL AND status IN ('pending', 'in_progress') AND priority = 'high' \
             AND (?4 IS NULL OR assigned_agent = ?4) AND ({CANCELLED} LIMIT 1) IS NULL \
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
