//! The tasks of a branch for one page: all of them; if there are many, those around the current one, or
//! one of several pages of all.

use std::ops::Range;

use convoke_domain::scope::Scope;
use convoke_domain::task::TaskState;
use convoke_domain::task::tree::{TaskNode, current_path, trees};
use convoke_store::task::ActivePlan;
use serde::Serialize;

use super::list::is_cancelled;
use super::{TaskDesk, TaskReport};
use crate::failure::Failure;
use crate::pin::{PinList, PinReport, pin_reports};
use crate::workspace::{Workspace, refused};

/// The most tasks of a page. The store finds those around the current one in the same time however many
/// there are.
const MOST_TASKS: usize = 500;

/// The tasks of a branch for one page.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskPageReport {
    /// The name of the branch.
    pub branch: String,
    /// Every branch with tasks, most first.
    pub branches: Vec<BranchCountReport>,
    /// Top tasks with everything below them; with `left_out`, those around the current task, or those of
    /// one page with the tasks that they are part of.
    pub tasks: Vec<TaskReport>,
    /// How many tasks of the branch are not listed.
    pub left_out: usize,
    /// Which page of all tasks this is, from one; nothing for all of them, and for those around the current
    /// one.
    pub page: Option<usize>,
    /// How many pages all tasks have.
    pub pages: usize,
    /// The user's rules that hold here.
    pub rules: Vec<PinReport>,
    /// The agents of the branch.
    pub agents: Vec<String>,
}

/// How many tasks a branch has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BranchCountReport {
    /// The name of the branch.
    pub branch: String,
    /// How many tasks it has.
    pub tasks: u32,
}

/// Which tasks of a branch a page shows, if there are too many for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TaskExcerpt {
    /// Those around the current task.
    #[default]
    AroundCurrent,
    /// Those of this page of all, from one. Behind the last page is the last page.
    Page(usize),
}

/// Returns the tasks of the desk's branch for one page.
pub fn task_page(desk: &TaskDesk<'_>, excerpt: TaskExcerpt) -> Result<TaskPageReport, Failure> {
    let TaskDesk { session, workspace, .. } = desk;
    let Workspace { store, scope } = workspace;
    let branches = store.branches(&scope.project).map_err(refused)?;
    let here = branches.iter().find(|(branch, _)| *branch == scope.branch);
    let total = here.map_or(0, |(_, count)| usize::try_from(*count).unwrap_or(usize::MAX));
    let pages = total.div_ceil(MOST_TASKS).max(1);
    let page = match excerpt {
        TaskExcerpt::Page(page) if pages > 1 => Some(page.clamp(1, pages)),
        TaskExcerpt::Page(_) | TaskExcerpt::AroundCurrent => None,
    };
    let roots = match page {
        None if pages > 1 => around_current(desk, scope)?,
        None | Some(_) => super::list::read(desk, scope)?,
    };
    let current = current_path(&roots).last().map(|node| node.task.id.clone());
    let (roots, shown) = if let Some(page) = page {
        let range = (page - 1) * MOST_TASKS..page * MOST_TASKS;
        (within(roots, &mut 0, &range), range.end.min(total) - range.start.min(total))
    } else {
        let shown = count(&roots);
        (roots, shown)
    };
    let agents = store.agents(scope).map_err(refused)?;
    Ok(TaskPageReport {
        branch: scope.branch.clone(),
        branches: branches
            .into_iter()
            .map(|(branch, tasks)| BranchCountReport { branch, tasks })
            .collect(),
        tasks: roots.iter().map(|node| TaskReport::of_node(node, current.as_ref())).collect(),
        left_out: total.saturating_sub(shown),
        page,
        pages,
        rules: pin_reports(session, workspace, PinList::Here)?,
        agents: agents.iter().map(|agent| agent.name.to_string()).collect(),
    })
}

fn around_current(desk: &TaskDesk<'_>, scope: &Scope) -> Result<Vec<TaskNode>, Failure> {
    let store = &desk.workspace.store;
    let plan = match store.active_plan(scope, None).map_err(refused)? {
        ActivePlan::Nothing | ActivePlan::WithoutFile => None,
        ActivePlan::File(plan) => Some(plan),
    };
    let found = store.surroundings(scope, plan.as_deref(), None, MOST_TASKS).map_err(refused)?;
    let agents = store.agents(scope).map_err(refused)?;
    let pins = store.pins(scope, desk.session.now()).map_err(refused)?;
    Ok(trees(found.tasks, |task| {
        let state = TaskState::among(&agents, task);
        if is_cancelled(&pins, task) { state.cancelled() } else { state }
    }))
}

/// Returns the tasks whose places are in a range, counted as a reader meets them, and the tasks that they
/// are part of.
fn within(nodes: Vec<TaskNode>, place: &mut usize, range: &Range<usize>) -> Vec<TaskNode> {
    let mut kept = Vec::new();
    for TaskNode { task, state, children } in nodes {
        let is_in = range.contains(&*place);
        *place += 1;
        let children = within(children, place, range);
        if is_in || !children.is_empty() {
            kept.push(TaskNode { task, state, children });
        }
    }
    kept
}

fn count(nodes: &[TaskNode]) -> usize {
    nodes.iter().map(|node| 1 + count(&node.children)).sum()
}
