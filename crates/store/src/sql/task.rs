//! Tasks in SQL.

mod adopt;
pub(super) mod dependency;
mod row;
mod step;
mod surroundings;
pub(super) mod tree;
mod urgent;

use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use convoke_domain::plan::renamed_from;
use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::task::id::TaskId;
use convoke_domain::task::tree::top_down;
use convoke_domain::task::{Task, TaskStatus};
use jiff::Timestamp;

use self::adopt::adopt;
use self::dependency::{joined, refuse_missing, refuse_taken, refuse_waiting_circle};
pub(super) use self::row::{list, read_task};
use self::surroundings::PlanRows;
use self::tree::{
    BELOW, close_below, height, open_above, refuse_circle, refuse_depth, take_over_plan,
};
use super::deed::supersede_verdicts;
use super::row::Time;
use super::skill::release_pins;
use super::{SqlStore, failed};
use crate::error::StoreError;
use crate::sql::driver::{self, Connection, Row, params};
use crate::task::{ActivePlan, Change, NewTask, Surroundings, TaskStore};

/// Tries to find an unused id; a million ids share a scope.
const TRIES: usize = 1000;

impl TaskStore for SqlStore {
    fn add_tasks(
        &self,
        scope: &Scope,
        tasks: &[NewTask<'_>],
        now: Timestamp,
    ) -> Result<Vec<TaskId>, StoreError> {
        let failed = failed("add the tasks");
        let step = self.begin_step(scope, now).map_err(&failed)?;
        let ids = tasks.iter().map(|task| insert(&step.transaction, scope, task, now));
        let ids = ids.collect::<Result<Vec<_>, _>>()?;
        if tasks.iter().any(|task| !task.after.is_empty()) {
            refuse_waiting_circle(&step.transaction, scope)?;
        }
        step.commit().map_err(failed)?;
        Ok(ids)
    }

    fn import_tasks(
        &self,
        scope: &Scope,
        plan: &str,
        titles: &[&str],
        done: &[&str],
        now: Timestamp,
    ) -> Result<Vec<TaskId>, StoreError> {
        let failed = failed("import the tasks");
        let step = self.begin_step(scope, now).map_err(&failed)?;
        let known = tasks_of_plan(&step.transaction, scope, Some(plan))?;
        let here: HashSet<_> = known.iter().map(|task| task.content.as_str()).collect();
        let done: HashSet<_> = done.iter().collect();
        let is_new =
            |title: &str| !here.contains(title) && renamed_from(title, titles, &known).is_none();
        let ids = titles.iter().filter(|title| is_new(title)).map(|content| {
            let task = NewTask { plan_file: Some(plan), ..NewTask::titled(content) };
            let id = insert(&step.transaction, scope, &task, now)?;
            if done.contains(content) {
                let sql = "UPDATE tasks SET status = 'completed', completed_at = ?4 \
                           WHERE project = ?1 AND branch = ?2 AND id = ?3";
                let values = params![scope.project, scope.branch, id.as_str(), Time(now)];
                step.transaction.execute(sql, values).map_err(&failed)?;
            }
            Ok(id)
        });
        let ids = ids.collect::<Result<Vec<_>, _>>()?;
        step.commit().map_err(failed)?;
        Ok(ids)
    }

    fn adopt_tasks(&self, scope: &Scope, tasks: Vec<Task>) -> Result<Vec<TaskId>, StoreError> {
        let failed = failed("adopt the tasks");
        let Some(latest) = tasks.iter().map(|task| task.updated_at).max() else {
            return Ok(Vec::new());
        };
        let step = self.begin_step(scope, latest).map_err(&failed)?;
        let mut adopted = Vec::new();
        for task in top_down(tasks) {
            if adopt(&step.transaction, scope, &task).map_err(&failed)? {
                adopted.push(task.id);
            }
        }
        step.commit().map_err(failed)?;
        Ok(adopted)
    }

    fn task(&self, scope: &Scope, id: &TaskId) -> Result<Option<Task>, StoreError> {
        find(&self.connection(), scope, id)
    }

    fn children(&self, scope: &Scope, id: &TaskId) -> Result<Vec<Task>, StoreError> {
        let sql = "SELECT * FROM tasks \
                   WHERE project = ?1 AND branch = ?2 AND parent_id = ?3 AND deleted_at IS NULL";
        list(&self.connection(), sql, params![scope.project, scope.branch, id.as_str()])
    }

    fn tasks(&self, scope: &Scope) -> Result<Vec<Task>, StoreError> {
        tasks_of(&self.connection(), scope)
    }

    fn tasks_of_plan(&self, scope: &Scope, plan: Option<&str>) -> Result<Vec<Task>, StoreError> {
        tasks_of_plan(&self.connection(), scope, plan)
    }

    fn surroundings(
        &self,
        scope: &Scope,
        plan: Option<&str>,
        agent: Option<&AgentName>,
        most: usize,
    ) -> Result<Surroundings, StoreError> {
        let connection = self.connection();
        PlanRows { connection: &connection, scope, plan }.surroundings(agent, most)
    }

    fn place(&self, scope: &Scope, task: &Task) -> Result<(usize, usize), StoreError> {
        let plan = task.plan_file.as_deref();
        let connection = self.connection();
        PlanRows { connection: &connection, scope, plan }.place(task)
    }

    fn active_plan(
        &self,
        scope: &Scope,
        agent: Option<&AgentName>,
    ) -> Result<ActivePlan, StoreError> {
        let of_agent = if agent.is_some() { "AND assigned_agent = ?3" } else { "AND ?3 IS NULL" };
        let open = format!(
            "SELECT 1 FROM tasks AS open WHERE project = ?1 AND branch = ?2 {of_agent} \
             AND deleted_at IS NULL AND status IN ('pending', 'in_progress')"
        );
        let cancelled = "SELECT 1 FROM pins WHERE pins.project = ?1 AND pins.branch = ?2 \
                         AND pins.plan_file = tasks.plan_file AND removed_at IS NULL";
        // Few tasks are begun at a time: the query sorts them, instead of walking through every
        // change since one of them began.
        let begun = format!(
            "SELECT plan_file FROM tasks INDEXED BY begun_tasks \
             WHERE project = ?1 AND branch = ?2 {of_agent} \
             AND deleted_at IS NULL AND status = 'in_progress' \
             AND ({cancelled} LIMIT 1) IS NULL \
             ORDER BY updated_at DESC, plan_file DESC NULLS LAST LIMIT 1"
        );
        // The query walks through plans from the last change backwards until one has an open task.
        // Without any open task the walk would visit all plans, so the query checks that first.
        // Written with EXISTS, the conditions would become joins, which read every task.
        let changed = format!(
            "SELECT plan_file FROM tasks WHERE project = ?1 AND branch = ?2 \
             AND deleted_at IS NULL AND ({open} LIMIT 1) = 1 \
             AND ({open} AND open.plan_file IS NOT DISTINCT FROM tasks.plan_file LIMIT 1) = 1 \
             AND ({cancelled} LIMIT 1) IS NULL \
             ORDER BY updated_at DESC, plan_file DESC NULLS LAST LIMIT 1"
        );
        let values = params![scope.project, scope.branch, agent.map(AgentName::as_str)];
        let find =
            |sql: &str| self.read_first("find the active plan", sql, values, |row| row.get(0));
        let found: Option<Option<String>> = match find(&begun)? {
            Some(plan) => Some(plan),
            None => find(&changed)?,
        };
        Ok(match found {
            None => ActivePlan::Nothing,
            Some(None) => ActivePlan::WithoutFile,
            Some(Some(file)) => ActivePlan::File(file),
        })
    }

    fn urgent_elsewhere(
        &self,
        scope: &Scope,
        plan: Option<&str>,
        agent: Option<&AgentName>,
        most: usize,
    ) -> Result<Vec<Task>, StoreError> {
        urgent::elsewhere(&self.connection(), scope, plan, agent, most)
    }

    fn is_open_elsewhere(&self, scope: &Scope, plan: Option<&str>) -> Result<bool, StoreError> {
        urgent::is_open_elsewhere(&self.connection(), scope, plan)
    }

    fn change_task(
        &self,
        scope: &Scope,
        id: &TaskId,
        change: &Change<'_>,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let failed = failed("change the task");
        let step = self.begin_step(scope, now).map_err(&failed)?;
        let transaction = &*step.transaction;
        let task = find(transaction, scope, id)?.ok_or_else(|| no_task(id))?;
        refuse_taken(&task, change)?;
        let mut closed = 0;
        let set = |column: &str, value: &dyn driver::ToSql| {
            let sql = format!(
                "UPDATE tasks SET {column} = ?1, updated_at = ?2 \
                 WHERE project = ?3 AND branch = ?4 AND id = ?5"
            );
            let values = params![value, Time(now), scope.project, scope.branch, id.as_str()];
            transaction.execute(&sql, values).map(drop).map_err(&failed)
        };
        let set_status = |status: TaskStatus| {
            if task.status == status {
                return Ok(());
            }
            set("status", &status.name())?;
            set("completed_at", &status.is_closed().then_some(Time(now)))?;
            if status.is_closed() {
                return Ok(());
            }
            supersede_verdicts(transaction, scope, id, now).map_err(&failed)
        };
        match change {
            Change::Start(agent) | Change::StartChosen(agent, _) => {
                set_status(TaskStatus::InProgress)?;
                open_above(transaction, scope, id, now).map_err(&failed)?;
                if task.agent.is_none() && !agent.is_human() {
                    set("assigned_agent", &agent.as_str())?;
                }
            }
            Change::Status(status) => {
                set_status(*status)?;
                if status.is_closed() {
                    closed = close_below(transaction, scope, id, now).map_err(&failed)?;
                    release_pins(transaction, scope, task.plan_file.as_deref(), now)
                        .map_err(&failed)?;
                }
            }
            Change::Note(note) => set("notes", note)?,
            Change::AddNote(note) => set("notes", &task.notes_with(note))?,
            Change::Skill(skill) => set("skill", skill)?,
            Change::Agent(agent) => set("assigned_agent", &agent.map(AgentName::as_str))?,
            Change::Parent(parent) => {
                if let Some(parent) = parent {
                    refuse_circle(transaction, scope, id, parent)?;
                    let height = height(transaction, scope, id).map_err(&failed)?;
                    refuse_depth(transaction, scope, parent, height)?;
                    take_over_plan(transaction, scope, id, parent).map_err(&failed)?;
                }
                let order = next_order(transaction, scope, *parent).map_err(&failed)?;
                set("parent_id", &parent.map(TaskId::as_str))?;
                set("sort_index", &order)?;
                refuse_waiting_circle(transaction, scope)?;
            }
        }
        step.commit().map_err(&failed)?;
        Ok(closed)
    }

    fn remove_task(&self, scope: &Scope, id: &TaskId, now: Timestamp) -> Result<usize, StoreError> {
        let failed = failed("remove the task");
        let step = self.begin_step(scope, now).map_err(&failed)?;
        let transaction = &*step.transaction;
        let task = find(transaction, scope, id)?.ok_or_else(|| no_task(id))?;
        let sql = format!(
            "{BELOW} UPDATE tasks SET deleted_at = ?4 \
             WHERE project = ?1 AND branch = ?2 AND deleted_at IS NULL \
             AND id IN (SELECT id FROM below)"
        );
        let values = params![scope.project, scope.branch, id.as_str(), Time(now)];
        let removed = transaction.execute(&sql, values).map_err(&failed)?;
        release_pins(transaction, scope, task.plan_file.as_deref(), now).map_err(&failed)?;
        step.commit().map_err(failed)?;
        Ok(removed)
    }

    fn branches(&self, project: &str) -> Result<Vec<(String, u32)>, StoreError> {
        let sql = "SELECT branch, count(*) FROM tasks WHERE project = ?1 AND deleted_at IS NULL \
                   GROUP BY branch ORDER BY 2 DESC, 1";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
        self.read_all("list the branches", sql, params![project], read)
    }
}

fn insert(
    connection: &Connection,
    scope: &Scope,
    task: &NewTask<'_>,
    now: Timestamp,
) -> Result<TaskId, StoreError> {
    let failed = failed("add the task");
    let parent = match task.parent {
        Some(id) => Some(find(connection, scope, id)?.ok_or_else(|| no_task(id))?),
        None => None,
    };
    if let Some(id) = task.parent {
        refuse_depth(connection, scope, id, 1)?;
    }
    refuse_missing(connection, scope, task.after)?;
    let plan = task.plan_file.or(parent.as_ref().and_then(|parent| parent.plan_file.as_deref()));
    let id = free_id(connection, scope).map_err(&failed)?;
    let order = next_order(connection, scope, task.parent).map_err(&failed)?;
    let sql = "INSERT INTO tasks (project, branch, id, parent_id, plan_file, content, \
               sort_index, assigned_agent, status, skill, skill_version, created_at, updated_at, \
               body, priority, after_ids) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'pending', ?9, ?10, ?11, ?11, ?12, ?13, ?14)";
    let values = params![
        scope.project,
        scope.branch,
        id.as_str(),
        task.parent.map(TaskId::as_str),
        plan,
        task.content,
        order,
        task.agent.map(AgentName::as_str),
        task.skill,
        task.skill_version,
        Time(now),
        task.body,
        task.priority.name(),
        joined(task.after),
    ];
    connection.execute(sql, values).map_err(failed)?;
    Ok(id)
}

pub(super) fn no_task(id: &TaskId) -> StoreError {
    StoreError::NoTask { id: id.clone() }
}

pub(super) fn find(
    connection: &Connection,
    scope: &Scope,
    id: &TaskId,
) -> Result<Option<Task>, StoreError> {
    let sql = "SELECT * FROM tasks \
               WHERE project = ?1 AND branch = ?2 AND id = ?3 AND deleted_at IS NULL";
    let values = params![scope.project, scope.branch, id.as_str()];
    Ok(list(connection, sql, values)?.pop())
}

/// Returns every task of a scope.
pub(super) fn tasks_of(connection: &Connection, scope: &Scope) -> Result<Vec<Task>, StoreError> {
    let sql = "SELECT * FROM tasks WHERE project = ?1 AND branch = ?2 AND deleted_at IS NULL";
    list(connection, sql, params![scope.project, scope.branch])
}

/// Returns every task of one plan, or of none.
fn tasks_of_plan(
    connection: &Connection,
    scope: &Scope,
    plan: Option<&str>,
) -> Result<Vec<Task>, StoreError> {
    let sql = "SELECT * FROM tasks \
               WHERE project = ?1 AND branch = ?2 AND plan_file IS ?3 AND deleted_at IS NULL";
    list(connection, sql, params![scope.project, scope.branch, plan])
}

/// Finds an id that no task of the scope has or had.
pub(super) fn free_id(connection: &Connection, scope: &Scope) -> driver::Result<TaskId> {
    let sql = "SELECT 1 FROM tasks WHERE project = ?1 AND branch = ?2 AND id = ?3";
    let mut statement = connection.prepare_cached(sql)?;
    for attempt in 0..TRIES {
        let id = TaskId::from_random(RandomState::new().hash_one(attempt));
        if !statement.exists(params![scope.project, scope.branch, id.as_str()])? {
            return Ok(id);
        }
    }
    Err(driver::Error::no_row())
}

/// Returns the place behind the last sibling.
pub(super) fn next_order(
    connection: &Connection,
    scope: &Scope,
    parent: Option<&TaskId>,
) -> driver::Result<i64> {
    let sql = "SELECT coalesce(max(sort_index), 0) + 1 FROM tasks \
               WHERE project = ?1 AND branch = ?2 AND parent_id IS ?3 AND deleted_at IS NULL";
    let values = params![scope.project, scope.branch, parent.map(TaskId::as_str)];
    connection.prepare_cached(sql)?.query_row(values, |row| row.get(0))
}
