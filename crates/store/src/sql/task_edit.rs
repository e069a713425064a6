//! Editing tasks in SQL.

use std::collections::{BTreeMap, BTreeSet};

use convoke_domain::scope::Scope;
use convoke_domain::task::Task;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::order::{SiblingPlace, orders};
use convoke_domain::task::priority::TaskPriority;
use convoke_domain::task::tree::{in_order, top_down};
use jiff::Timestamp;

use super::row::Time;
use super::talk_moves::take_talk;
use super::task::dependency::{joined, refuse_missing, refuse_waiting_circle};
use super::task::tree::BELOW;
use super::task::{find, free_id, list, next_order, no_task, tasks_of};
use super::{SqlStore, failed, first_row};
use crate::error::StoreError;
use crate::sql::driver::{self, Connection, params};
use crate::task_edit::{MovedTasks, TaskEdit, TaskEditStore, TasksToMove};

impl TaskEditStore for SqlStore {
    fn edit_task(
        &self,
        scope: &Scope,
        id: &TaskId,
        edit: &TaskEdit<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let failed = failed("edit the task");
        let step = self.begin_step(scope, now).map_err(&failed)?;
        find(&step.transaction, scope, id)?.ok_or_else(|| no_task(id))?;
        let sql = "UPDATE tasks SET content = coalesce(?4, content), \
                   body = nullif(coalesce(?5, body), ''), priority = coalesce(?6, priority), \
                   after_ids = coalesce(?7, after_ids), updated_at = ?8 \
                   WHERE project = ?1 AND branch = ?2 AND id = ?3";
        let values = params![
            scope.project,
            scope.branch,
            id.as_str(),
            edit.title,
            edit.body,
            edit.priority.map(TaskPriority::name),
            edit.after.map(joined),
            Time(now),
        ];
        step.transaction.execute(sql, values).map_err(&failed)?;
        if let Some(after) = edit.after {
            refuse_missing(&step.transaction, scope, after)?;
            refuse_waiting_circle(&step.transaction, scope)?;
        }
        step.commit().map_err(failed)
    }

    fn reorder_task(
        &self,
        scope: &Scope,
        id: &TaskId,
        place: SiblingPlace<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let failed = failed("reorder the tasks");
        let step = self.begin_step(scope, now).map_err(&failed)?;
        let task = find(&step.transaction, scope, id)?.ok_or_else(|| no_task(id))?;
        let siblings = siblings(&step.transaction, scope, &task)?;
        let set = match (orders(id, &siblings, place), place) {
            (Some(set), _) => set,
            (None, SiblingPlace::Before(other) | SiblingPlace::After(other)) => {
                find(&step.transaction, scope, other)?.ok_or_else(|| no_task(other))?;
                return Err(StoreError::NotSiblings { id: id.clone(), sibling: other.clone() });
            }
            (None, SiblingPlace::First | SiblingPlace::Last) => Vec::new(),
        };
        let sql = "UPDATE tasks SET sort_index = ?4, updated_at = ?5 \
                   WHERE project = ?1 AND branch = ?2 AND id = ?3";
        for (id, order) in set {
            let values = params![scope.project, scope.branch, id.as_str(), order, Time(now)];
            step.transaction.execute(sql, values).map_err(&failed)?;
        }
        step.commit().map_err(failed)
    }

    fn move_tasks(
        &self,
        scope: &Scope,
        from_branch: &str,
        moving: TasksToMove<'_>,
        now: Timestamp,
    ) -> Result<MovedTasks, StoreError> {
        let failed = failed("move the tasks");
        let from = Scope { branch: from_branch.to_owned(), ..scope.clone() };
        let step = self.begin_step(scope, now).map_err(&failed)?;
        let tasks = match moving {
            TasksToMove::All | TasksToMove::AllButRules => tasks_of(&step.transaction, &from)?,
            TasksToMove::Tasks(ids) => with_parts(&step.transaction, &from, ids)?,
        };
        let mut moved = MovedTasks::default();
        if from != *scope {
            let plans: BTreeSet<_> =
                tasks.iter().filter_map(|task| task.plan_file.clone()).collect();
            moved = carry(&step.transaction, &from, scope, tasks)?;
            if !matches!(moving, TasksToMove::Tasks(_)) {
                take_talk(&step.transaction, &from, scope, &mut moved).map_err(&failed)?;
            }
            let rules = match moving {
                TasksToMove::All => take_rules(&step.transaction, &from, scope),
                TasksToMove::AllButRules | TasksToMove::Tasks(_) => {
                    copy_cancellations(&step.transaction, &from, scope, &plans, now)
                }
            };
            rules.map_err(&failed)?;
        }
        step.commit().map_err(failed)?;
        Ok(moved)
    }

    fn plans(&self, scope: &Scope) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT plan FROM plan_counts WHERE project = ?1 AND branch = ?2 AND plan <> '' \
                   AND open + closed > 0 ORDER BY plan";
        let values = params![scope.project, scope.branch];
        self.read_all("list the plans", sql, values, |row| row.get(0))
    }

    fn rename_plan(
        &self,
        scope: &Scope,
        from: &str,
        to: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let failed = failed("rename the plan");
        let step = self.begin_step(scope, now).map_err(&failed)?;
        let sql = "UPDATE tasks SET plan_file = ?4 \
                   WHERE project = ?1 AND branch = ?2 AND plan_file = ?3";
        let values = params![scope.project, scope.branch, from, to];
        step.transaction.execute(sql, values).map_err(&failed)?;
        let sql = "INSERT INTO pins (project, branch, plan_file, text, until, created_at) \
                   SELECT project, branch, ?4, text, until, ?5 FROM pins \
                   WHERE project = ?1 AND branch = ?2 AND plan_file = ?3 AND removed_at IS NULL \
                   ORDER BY id LIMIT 1 RETURNING id";
        let values = params![scope.project, scope.branch, from, to, Time(now)];
        add_rule(&step.transaction, sql, values).map_err(&failed)?;
        step.commit().map_err(failed)
    }
}

/// Returns the siblings of a task with their places, in order.
fn siblings(
    connection: &Connection,
    scope: &Scope,
    task: &Task,
) -> Result<Vec<(TaskId, i64)>, StoreError> {
    let sql = "SELECT * FROM tasks WHERE project = ?1 AND branch = ?2 AND parent_id IS ?3 \
               AND id <> ?4 AND deleted_at IS NULL";
    let parent = task.parent.as_ref().map(TaskId::as_str);
    let values = params![scope.project, scope.branch, parent, task.id.as_str()];
    let mut siblings = list(connection, sql, values)?;
    siblings.sort_by(in_order);
    Ok(siblings.into_iter().map(|sibling| (sibling.id, sibling.order)).collect())
}

/// Returns tasks with everything that is part of them, each once.
fn with_parts(
    connection: &Connection,
    scope: &Scope,
    ids: &[TaskId],
) -> Result<Vec<Task>, StoreError> {
    let sql = format!(
        "{BELOW} SELECT * FROM tasks WHERE project = ?1 AND branch = ?2 AND deleted_at IS NULL \
         AND id IN (SELECT id FROM below)"
    );
    let mut all = BTreeMap::new();
    for id in ids {
        find(connection, scope, id)?.ok_or_else(|| no_task(id))?;
        let values = params![scope.project, scope.branch, id.as_str()];
        let tasks = list(connection, &sql, values)?;
        all.extend(tasks.into_iter().map(|task| (task.id.clone(), task)));
    }
    Ok(all.into_values().collect())
}

/// Moves the rows of tasks to another scope, under new ids where theirs are taken.
pub(super) fn carry(
    connection: &Connection,
    from: &Scope,
    to: &Scope,
    tasks: Vec<Task>,
) -> Result<MovedTasks, StoreError> {
    let failed = failed("move the tasks");
    let (mut moved, mut names) = (MovedTasks::default(), BTreeMap::new());
    let after: BTreeMap<_, _> =
        tasks.iter().map(|task| (task.id.clone(), task.after.clone())).collect();
    let tasks = top_down(tasks);
    for task in &tasks {
        let new = id_there(connection, to, &task.id).map_err(&failed)?;
        if new != task.id {
            moved.renamed.push((task.id.clone(), new.clone()));
        }
        names.insert(task.id.clone(), new);
    }
    let sql = "UPDATE tasks SET project = ?4, branch = ?5, id = ?6, parent_id = ?7, \
               sort_index = ?8, after_ids = ?9 \
               WHERE project = ?1 AND branch = ?2 AND id = ?3";
    for task in &tasks {
        let parent = task.parent.as_ref().and_then(|parent| names.get(parent));
        let order = match parent {
            Some(_) => task.order,
            None => next_order(connection, to, None).map_err(&failed)?,
        };
        let before = after.get(&task.id).into_iter().flatten();
        let before: Vec<_> = before.filter_map(|id| names.get(id).cloned()).collect();
        let new = names.get(&task.id).unwrap_or(&task.id);
        let values = params![
            from.project,
            from.branch,
            task.id.as_str(),
            to.project,
            to.branch,
            new.as_str(),
            parent.map(TaskId::as_str),
            order,
            joined(&before),
        ];
        connection.execute(sql, values).map_err(&failed)?;
        take_along(connection, from, to, &task.id, new).map_err(&failed)?;
        moved.ids.push(new.clone());
    }
    Ok(moved)
}

/// Lets the rules of a branch, and the cancellations of its plans, follow all of its tasks. The step
/// that is under way remembers which those are.
fn take_rules(connection: &Connection, from: &Scope, to: &Scope) -> driver::Result<()> {
    let which = "project = ?1 AND branch = ?2 AND task_id IS NULL AND removed_at IS NULL";
    let sql = format!(
        "INSERT INTO pin_moves (step, pin_id, branch) \
         SELECT (SELECT step FROM task_step_now), id, branch FROM pins WHERE {which}"
    );
    connection.execute(&sql, params![from.project, from.branch])?;
    let sql = format!("UPDATE pins SET branch = ?3 WHERE {which}");
    connection.execute(&sql, params![from.project, from.branch, to.branch]).map(drop)
}

/// Cancels plans, some of whose tasks came along, where they were cancelled before.
fn copy_cancellations(
    connection: &Connection,
    from: &Scope,
    to: &Scope,
    plans: &BTreeSet<String>,
    now: Timestamp,
) -> driver::Result<()> {
    let sql = "INSERT INTO pins (project, branch, plan_file, text, until, created_at) \
               SELECT project, ?3, plan_file, text, until, ?5 FROM pins AS there \
               WHERE project = ?1 AND branch = ?2 AND plan_file = ?4 AND removed_at IS NULL \
               AND NOT EXISTS (SELECT 1 FROM pins WHERE project = ?1 AND branch = ?3 \
                 AND plan_file = ?4 AND removed_at IS NULL) ORDER BY id LIMIT 1 RETURNING id";
    for plan in plans {
        let values = params![from.project, from.branch, to.branch, plan, Time(now)];
        add_rule(connection, sql, values)?;
    }
    Ok(())
}

/// Adds a rule by a statement that returns its id. The step that is under way remembers it.
fn add_rule(
    connection: &Connection,
    sql: &str,
    values: &[&dyn driver::ToSql],
) -> driver::Result<()> {
    if let Some(pin) = first_row(connection, sql, values, |row| row.get::<_, i64>(0))? {
        let sql = "INSERT INTO pin_moves (step, pin_id) \
                   VALUES ((SELECT step FROM task_step_now), ?1)";
        connection.execute(sql, [pin])?;
    }
    Ok(())
}

/// Brings back the rules that a step took to another branch, and removes those that it added there.
pub(super) fn bring_rules_back(
    connection: &Connection,
    step: i64,
    now: Timestamp,
) -> driver::Result<()> {
    let sql = "UPDATE pins SET branch = pin_moves.branch FROM pin_moves \
               WHERE pin_id = pins.id AND step = ?1 AND pin_moves.branch IS NOT NULL";
    connection.execute(sql, params![step])?;
    let sql = "UPDATE pins SET removed_at = ?2 FROM pin_moves WHERE pin_id = pins.id \
               AND step = ?1 AND pin_moves.branch IS NULL AND removed_at IS NULL";
    connection.execute(sql, params![step, Time(now)]).map(drop)
}

/// Moves the records of a task, and its rules, back to its earlier branch.
pub(super) fn bring_records_back(
    connection: &Connection,
    scope: &Scope,
    before: &str,
    after: &str,
) -> driver::Result<()> {
    let was = "json_extract(?2, '$.branch')";
    let is = "json_extract(?3, '$.branch')";
    let id = "json_extract(?3, '$.id')";
    let moved = format!("({was} <> {is} OR json_extract(?2, '$.id') <> {id})");
    for sql in [
        format!(
            "UPDATE task_deeds SET branch = {was}, task_id = json_extract(?2, '$.id') \
             WHERE project = ?1 AND branch = {is} AND task_id = {id} AND {moved}"
        ),
        format!(
            "UPDATE pins SET task_branch = {was}, task_id = json_extract(?2, '$.id'), \
             branch = CASE WHEN branch = {is} THEN {was} ELSE branch END \
             WHERE project = ?1 AND task_branch = {is} AND task_id = {id} AND {moved}"
        ),
    ] {
        connection.prepare_cached(&sql)?.execute(params![scope.project, before, after])?;
    }
    Ok(())
}

/// Moves the records of a task, and the rules that hold while it is open, with it.
fn take_along(
    connection: &Connection,
    from: &Scope,
    to: &Scope,
    old: &TaskId,
    new: &TaskId,
) -> driver::Result<()> {
    for sql in [
        "UPDATE task_deeds SET project = ?4, branch = ?5, task_id = ?6 \
         WHERE project = ?1 AND branch = ?2 AND task_id = ?3",
        "UPDATE pins SET project = ?4, task_branch = ?5, task_id = ?6, \
         branch = CASE WHEN branch = ?2 THEN ?5 ELSE branch END \
         WHERE project = ?1 AND task_branch = ?2 AND task_id = ?3",
    ] {
        let values =
            params![from.project, from.branch, old.as_str(), to.project, to.branch, new.as_str()];
        connection.prepare_cached(sql)?.execute(values)?;
    }
    Ok(())
}

/// Returns the id that a task gets in another scope: its own, unless a task has or had it there.
fn id_there(connection: &Connection, to: &Scope, id: &TaskId) -> driver::Result<TaskId> {
    let sql = "SELECT 1 FROM tasks WHERE project = ?1 AND branch = ?2 AND id = ?3";
    let values = params![to.project, to.branch, id.as_str()];
    if connection.prepare_cached(sql)?.exists(values)? {
        return free_id(connection, to);
    }
    Ok(id.clone())
}
