//! The tasks around the one being worked on, read without reading its plan.

use std::collections::BTreeSet;
use std::ops::Range;

use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::task::id::TaskId;
use convoke_domain::task::outline::TaskCounts;
use convoke_domain::task::tree::in_order;
use convoke_domain::task::{DEEPEST, Task};

use super::{find, list, tasks_of_plan};
use crate::error::StoreError;
use crate::sql::driver::{self, Connection, params};
use crate::sql::row::Time;
use crate::sql::{failed, first_row};
use crate::task::Surroundings;

/// How many tasks are read on each side of the current one, on every level.
const AROUND: usize = 16;

/// How many tasks are checked for the first one.
const CANDIDATES: usize = 32;

/// How many tasks are checked in all, where tasks wait for each other.
const LOOKS: Range<usize> = 0..256;

/// One plan, or the tasks without one.
#[derive(Clone, Copy)]
pub(super) struct PlanRows<'a> {
    pub(super) connection: &'a Connection,
    pub(super) scope: &'a Scope,
    pub(super) plan: Option<&'a str>,
}

/// The tasks of a plan that have the same parent, in their order.
const SIBLINGS: &str = "SELECT * FROM tasks WHERE project = ?1 AND branch = ?2 \
     AND plan_file IS ?3 AND parent_id IS ?4 AND deleted_at IS NULL";

const OPEN: &str = "AND status IN ('pending', 'in_progress')";

impl PlanRows<'_> {
    /// Counts the plan's tasks.
    pub(super) fn count(self) -> Result<TaskCounts, StoreError> {
        let sql = "SELECT open, closed FROM plan_counts \
                   WHERE project = ?1 AND branch = ?2 AND plan = ?3";
        let Scope { project, branch } = self.scope;
        let values = params![project, branch, self.plan.unwrap_or_default()];
        let read = |row: &driver::Row<'_>| {
            Ok(TaskCounts {
                open: row.get::<_, u32>(0)? as usize,
                closed: row.get::<_, u32>(1)? as usize,
            })
        };
        let counted = first_row(self.connection, sql, values, read);
        counted.map(Option::unwrap_or_default).map_err(failed("count the plan's tasks"))
    }

    /// Returns the tasks around the current one.
    pub(super) fn around(self, agent: Option<&AgentName>) -> Result<Vec<Task>, StoreError> {
        let mut path = match agent {
            Some(agent) => self.path_to_first_of(agent)?,
            None => Vec::new(),
        };
        if agent.is_none() || !path.is_empty() {
            self.descend(&mut path)?;
        }
        let mut found = Vec::new();
        let mut known = BTreeSet::new();
        let mut add = |tasks: Vec<Task>| {
            found.extend(tasks.into_iter().filter(|task| known.insert(task.id.clone())));
        };
        for task in &path {
            add(vec![task.clone()]);
            add(self.beside(task, "<", "DESC", "")?);
            add(self.beside(task, ">", "ASC", "")?);
            add(self.beside(task, ">", "ASC", OPEN)?);
        }
        // Where begun work is current, the task that is next to begin may be far from it.
        if agent.is_none() {
            add(self.ready_path(None, &[], &mut LOOKS.clone())?);
        }
        // The parts of the leaf, or the first ones if all are done.
        let leaf = path.last().map(|task| &task.id);
        add(self.first(leaf, "", AROUND)?);
        Ok(found)
    }

    /// Goes down from the last task of a path, to the first part that can be worked on, or else always
    /// to the first open part.
    fn descend(self, path: &mut Vec<Task>) -> Result<(), StoreError> {
        let from = path.last().map(|task| task.id.clone());
        let begun = self.begun()?;
        let ready = self.ready_path(from.as_ref(), &begun, &mut LOOKS.clone())?;
        if !ready.is_empty() {
            path.extend(ready);
            return Ok(());
        }
        if path.is_empty() {
            let root = self.first(None, OPEN, 1)?.pop();
            path.extend(root.map_or_else(|| self.orphan(), |root| Ok(Some(root)))?);
        }
        while let Some(last) = path.last().filter(|_| path.len() <= DEEPEST) {
            let Some(part) = self.first(Some(&last.id), OPEN, 1)?.pop() else { break };
            path.push(part);
        }
        Ok(())
    }

    /// Returns started open tasks, each after its parents. It checks a limited number, those that
    /// changed last.
    fn begun(self) -> Result<Vec<Task>, StoreError> {
        let sql = format!(
            "SELECT * FROM tasks WHERE project = ?1 AND branch = ?2 AND plan_file IS ?3 \
             AND status = 'in_progress' AND deleted_at IS NULL \
             ORDER BY updated_at DESC LIMIT {CANDIDATES}"
        );
        let Scope { project, branch } = self.scope;
        let mut begun: Vec<Task> = Vec::new();
        for task in list(self.connection, &sql, params![project, branch, self.plan])? {
            for task in self.open_path(task)?.unwrap_or_default() {
                if begun.iter().all(|known| known.id != task.id) {
                    begun.push(task);
                }
            }
        }
        Ok(begun)
    }

    /// Returns the path to the first task below a parent that waits for no other, started ones
    /// first, then by priority; empty if the limit of checks is reached first.
    fn ready_path(
        self,
        parent: Option<&TaskId>,
        begun: &[Task],
        looks: &mut Range<usize>,
    ) -> Result<Vec<Task>, StoreError> {
        for task in self.open_in_turn(parent, begun)? {
            if looks.next().is_none() {
                break;
            }
            if task.is_waiting() {
                continue;
            }
            let below = self.ready_path(Some(&task.id), begun, looks)?;
            // If all its open parts wait, so does the task.
            if !below.is_empty() || self.first(Some(&task.id), OPEN, 1)?.is_empty() {
                return Ok([vec![task], below].concat());
            }
        }
        Ok(Vec::new())
    }

    /// Returns the first open tasks below a parent, in working order.
    fn open_in_turn(
        self,
        parent: Option<&TaskId>,
        begun: &[Task],
    ) -> Result<Vec<Task>, StoreError> {
        let sql = format!(
            "{SIBLINGS} {OPEN} ORDER BY CASE priority WHEN 'high' THEN 0 WHEN 'normal' THEN 1 \
             ELSE 2 END, sort_index, created_at, id LIMIT {CANDIDATES}"
        );
        let Scope { project, branch } = self.scope;
        let values = params![project, branch, self.plan, parent.map(TaskId::as_str)];
        let others = list(self.connection, &sql, values)?;
        let mut first = Vec::new();
        for task in begun {
            let above = self.parent_in_plan(task)?.map(|above| above.id);
            first.extend((above.as_ref() == parent).then(|| task.clone()));
        }
        first.sort_by(|one, other| {
            one.priority.cmp(&other.priority).then_with(|| in_order(one, other))
        });
        let is_other = |task: &Task| first.iter().all(|known| known.id != task.id);
        let others: Vec<_> = others.into_iter().filter(is_other).collect();
        Ok([first, others].concat())
    }

    /// Returns the first tasks below a parent.
    fn first(
        self,
        parent: Option<&TaskId>,
        filter: &str,
        most: usize,
    ) -> Result<Vec<Task>, StoreError> {
        let sql = format!("{SIBLINGS} {filter} ORDER BY sort_index, created_at, id LIMIT {most}");
        let Scope { project, branch } = self.scope;
        let values = params![project, branch, self.plan, parent.map(TaskId::as_str)];
        list(self.connection, &sql, values)
    }

    /// Returns the nearest siblings of a task on one side.
    fn beside(
        self,
        task: &Task,
        side: &str,
        order: &str,
        filter: &str,
    ) -> Result<Vec<Task>, StoreError> {
        let sql = format!(
            "{SIBLINGS} {filter} AND (sort_index, created_at, id) {side} (?5, ?6, ?7) \
             ORDER BY sort_index {order}, created_at {order}, id {order} LIMIT {AROUND}"
        );
        let Scope { project, branch } = self.scope;
        let parent = self.parent_in_plan(task)?;
        let place = (task.order, Time(task.created_at), task.id.as_str());
        let parent = parent.as_ref().map(|parent| parent.id.as_str());
        let values = params![project, branch, self.plan, parent, place.0, place.1, place.2];
        list(self.connection, &sql, values)
    }

    /// Returns what a task is part of within this plan.
    fn parent_in_plan(self, task: &Task) -> Result<Option<Task>, StoreError> {
        let parent = match &task.parent {
            Some(id) => find(self.connection, self.scope, id)?,
            None => None,
        };
        Ok(parent.filter(|parent| parent.plan_file.as_deref() == self.plan))
    }

    /// Returns an open task whose parent belongs to another plan, or to none any more.
    fn orphan(self) -> Result<Option<Task>, StoreError> {
        let sql = format!(
            "SELECT * FROM tasks WHERE project = ?1 AND branch = ?2 AND plan_file IS ?3 \
             AND parent_id IS NOT NULL AND deleted_at IS NULL {OPEN} \
             ORDER BY parent_id, sort_index LIMIT {CANDIDATES}"
        );
        let Scope { project, branch } = self.scope;
        for task in list(self.connection, &sql, params![project, branch, self.plan])? {
            if self.parent_in_plan(&task)?.is_none() {
                return Ok(Some(task));
            }
        }
        Ok(None)
    }

    /// Returns the path to the first open task of an agent. It checks a limited number of its
    /// tasks, those at the top first.
    fn path_to_first_of(self, agent: &AgentName) -> Result<Vec<Task>, StoreError> {
        let Scope { project, branch } = self.scope;
        let mut paths = Vec::new();
        for depth in ["IS NULL", "IS NOT NULL"] {
            let sql = format!(
                "SELECT * FROM tasks WHERE project = ?1 AND branch = ?2 AND plan_file IS ?3 \
                 AND assigned_agent = ?4 AND parent_id {depth} AND deleted_at IS NULL {OPEN} \
                 ORDER BY parent_id, sort_index LIMIT {CANDIDATES}"
            );
            let values = params![project, branch, self.plan, agent.as_str()];
            for task in list(self.connection, &sql, values)? {
                paths.extend(self.open_path(task)?);
            }
        }
        let begun = self.begun()?;
        let is_begun = |task: &Task| begun.iter().any(|known| known.id == task.id);
        let first = paths.into_iter().min_by(|one, other| {
            let turn = |task: &Task| (task.is_waiting(), !is_begun(task), task.priority);
            let steps = one.iter().zip(other);
            let steps = steps
                .map(|(one, other)| turn(one).cmp(&turn(other)).then_with(|| in_order(one, other)));
            let differs = steps.into_iter().find(|order| order.is_ne());
            differs.unwrap_or_else(|| one.len().cmp(&other.len()))
        });
        Ok(first.unwrap_or_default())
    }

    /// Returns the path from the top to a task, unless a task on it is closed.
    fn open_path(self, task: Task) -> Result<Option<Vec<Task>>, StoreError> {
        let mut path = vec![task];
        while let Some(parent) = self.parent_in_plan(&path[0])? {
            if parent.status.is_closed() || path.len() > DEEPEST {
                return Ok(None);
            }
            path.insert(0, parent);
        }
        Ok(Some(path))
    }

    /// Returns the number of a task among its siblings, from one, and how many those are.
    pub(super) fn place(self, task: &Task) -> Result<(usize, usize), StoreError> {
        let siblings = SIBLINGS.replace('*', "sort_index, created_at, id");
        let sql = format!(
            "SELECT count(*), count(*) FILTER (WHERE (sort_index, created_at, id) <= (?5, ?6, ?7)) \
             FROM ({siblings}) AS siblings"
        );
        let Scope { project, branch } = self.scope;
        let parent = self.parent_in_plan(task)?;
        let parent = parent.as_ref().map(|parent| parent.id.as_str());
        let place = (task.order, Time(task.created_at), task.id.as_str());
        let values = params![project, branch, self.plan, parent, place.0, place.1, place.2];
        let read = |row: &driver::Row<'_>| {
            Ok((row.get::<_, u32>(1)? as usize, row.get::<_, u32>(0)? as usize))
        };
        self.connection.query_row(&sql, values, read).map_err(failed("count the siblings"))
    }

    /// Returns everything that a wake-up needs of the plan.
    pub(super) fn surroundings(
        self,
        agent: Option<&AgentName>,
        most: usize,
    ) -> Result<Surroundings, StoreError> {
        let counted = self.count()?;
        if counted.open + counted.closed <= most {
            let tasks = tasks_of_plan(self.connection, self.scope, self.plan)?;
            return Ok(Surroundings { tasks, elsewhere: TaskCounts::default() });
        }
        let tasks = self.around(agent)?;
        let closed = tasks.iter().filter(|task| task.status.is_closed()).count();
        let read = TaskCounts { open: tasks.len() - closed, closed };
        Ok(Surroundings { tasks, elsewhere: counted.less(read) })
    }
}
