//! Open tasks outside the plan that is being worked on.

use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::task::Task;
use convoke_domain::task::tree::in_order;

use super::list;
use crate::error::StoreError;
use crate::sql::driver::{self, Connection, params};
use crate::sql::row::stored;
use crate::sql::{failed, first_row};

/// How many are checked on each side of the plan: some may wait, or belong to another agent.
const LOOKS: usize = 64;

const OPEN: &str = "deleted_at IS NULL AND status IN ('pending', 'in_progress')";

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
    let failed = failed("look for open tasks");
    // In most projects one plan is open; two short queries are enough to see that.
    if is_only_open(connection, scope, plan).map_err(&failed)? {
        return Ok(false);
    }
    for side in sides(plan) {
        let sql = format!(
            "SELECT 1 FROM tasks INDEXED BY open_tasks_by_place \
             WHERE project = ?1 AND branch = ?2 AND {side} AND {OPEN} \
             AND ({CANCELLED} LIMIT 1) IS NULL LIMIT 1"
        );
        let values = params![scope.project, scope.branch, plan];
        if first_row(connection, &sql, values, |_| Ok(())).map_err(&failed)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Tells whether all open tasks belong to this plan: so do the first and the last of them by the name of
/// their plan. Tasks without a plan are first in one database and last in the other.
fn is_only_open(
    connection: &Connection,
    scope: &Scope,
    plan: Option<&str>,
) -> Result<bool, driver::Error> {
    for order in ["ASC", "DESC"] {
        let sql = format!(
            "SELECT plan_file FROM tasks INDEXED BY open_tasks_by_place \
             WHERE project = ?1 AND branch = ?2 AND {OPEN} ORDER BY plan_file {order} LIMIT 1"
        );
        let values = params![scope.project, scope.branch];
        let found = first_row(connection, &sql, values, |row| row.get::<_, Option<String>>(0))?;
        if found.is_some_and(|found| found.as_deref() != plan) {
            return Ok(false);
        }
    }
    Ok(true)
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
             WHERE project = ?1 AND branch = ?2 AND {side} AND {OPEN} AND priority = 'high' \
             AND (?4 IS NULL OR assigned_agent = ?4) AND ({CANCELLED} LIMIT 1) IS NULL \
             ORDER BY plan_file NULLS FIRST, sort_index LIMIT ?5"
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
