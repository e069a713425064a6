//! Tasks that another program kept.

use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::task::Task;
use convoke_domain::task::id::TaskId;

use crate::sql::driver::{self, Connection, params};
use crate::sql::row::Time;

/// Takes a task over as it is, unless its id is taken.
pub(super) fn adopt(connection: &Connection, scope: &Scope, task: &Task) -> driver::Result<bool> {
    let sql = "INSERT INTO tasks (project, branch, id, parent_id, plan_file, content, \
               sort_index, assigned_agent, status, notes, created_at, updated_at, completed_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
               ON CONFLICT DO NOTHING";
    let values = params![
        scope.project,
        scope.branch,
        task.id.as_str(),
        task.parent.as_ref().map(TaskId::as_str),
        task.plan_file,
        task.content,
        task.order,
        task.agent.as_ref().map(AgentName::as_str),
        task.status.name(),
        task.notes,
        Time(task.created_at),
        Time(task.updated_at),
        task.completed_at.map(Time),
    ];
    connection.execute(sql, values).map(|rows| rows > 0)
}
