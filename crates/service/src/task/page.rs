//! The tasks of a branch for one page: all of them; if there are many, those around the current one, or
//! one of several pages of all.

use std::collections::BTreeMap;
use std::ops::Range;

use convoke_domain::scope::Scope;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::tree::{TaskNode, current_path};
use convoke_store::task::ActivePlan;
use convoke_store::task_page::OutlinedTask;
use serde::Serialize;

use super::list::as_trees;
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
    /// Every plan of the branch with tasks, most first.
    pub plans: Vec<PlanCountReport>,
    /// Top tasks with everything below them; with `left_out`, those around the current task, or those of
    /// one page with the tasks that they are part of.
    pub tasks: Vec<TaskReport>,
    /// How many tasks of the branch, or of the chosen plan, are not listed.
    pub left_out: usize,
    /// Which page of all tasks this is, from one; nothing for all of them, and for those around the current
    /// one.
    pub page: Option<usize>,
    /// How many pages all tasks have.
    pub pages: usize,
    /// The user's rules that hold here.
    pub rules: Vec<PinReport>,
    /// The agents of the branch, and who else holds a task that is in progress.
    pub agents: Vec<AgentAtWorkReport>,
}

/// Who works on what.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentAtWorkReport {
    /// The name of the agent, or `human`.
    pub agent: String,
    /// The program that runs it; nothing for a person, and for a name that is no agent of the branch.
    pub client: Option<String>,
    /// The agent's state, such as `busy`; nothing where no client is named.
    pub status: Option<&'static str>,
    /// The tasks in progress that it holds, the last changed first.
    pub tasks: Vec<HeldTaskReport>,
}

/// A task that is in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HeldTaskReport {
    /// The task's id.
    pub id: String,
    /// The task's title.
    pub content: String,
}

/// How many tasks a plan has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanCountReport {
    /// The plan's file, relative to the project; nothing for tasks without a plan.
    pub plan: Option<String>,
    /// How many tasks it has.
    pub tasks: u32,
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

/// Which plans a page shows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TaskPlans {
    /// All of them.
    #[default]
    All,
    /// The plan of this file.
    File(String),
    /// The tasks without a plan.
    WithoutFile,
}

impl TaskPlans {
    /// Returns the plan that is chosen, if one is; no plan is a choice, too.
    pub fn chosen(&self) -> Option<Option<&str>> {
        match self {
            Self::All => None,
            Self::File(plan) => Some(Some(plan)),
            Self::WithoutFile => Some(None),
        }
    }
}

/// Returns the tasks of the desk's branch for one page.
pub fn task_page(
    desk: &TaskDesk<'_>,
    plans: &TaskPlans,
    excerpt: TaskExcerpt,
) -> Result<TaskPageReport, Failure> {
    let TaskDesk { session, workspace, .. } = desk;
    let Workspace { store, scope } = workspace;
    let branches = store.branches(&scope.project).map_err(refused)?;
    let counts = store.plan_counts(scope).map_err(refused)?;
    let is_shown = |plan: Option<&str>| plans.chosen().is_none_or(|chosen| chosen == plan);
    let shown = counts.iter().filter(|(plan, _)| is_shown(plan.as_deref()));
    let total = shown.map(|(_, count)| usize::try_from(*count).unwrap_or(usize::MAX));
    let total = total.fold(0, usize::saturating_add);
    let pages = total.div_ceil(MOST_TASKS).max(1);
    let page = match excerpt {
        TaskExcerpt::Page(page) if pages > 1 => Some(page.clamp(1, pages)),
        TaskExcerpt::Page(_) | TaskExcerpt::AroundCurrent => None,
    };
    let range = page.map(|page| (page - 1) * MOST_TASKS..page * MOST_TASKS);
    let (roots, current, shown) = match &range {
        None if pages > 1 => {
            let roots = around_current(desk, scope, plans)?;
            let (current, shown) = (current_of(&roots), count(&roots));
            (roots, current, shown)
        }
        None => {
            let roots = super::list::read_plans(desk, scope, plans)?;
            let (current, shown) = (current_of(&roots), count(&roots));
            (roots, current, shown)
        }
        Some(range) => {
            let current = current_of(&around_current(desk, scope, plans)?);
            let shown = range.end.min(total) - range.start.min(total);
            (one_page(desk, scope, plans, range)?, current, shown)
        }
    };
    Ok(TaskPageReport {
        branch: scope.branch.clone(),
        branches: branches
            .into_iter()
            .map(|(branch, tasks)| BranchCountReport { branch, tasks })
            .collect(),
        plans: counts.into_iter().map(|(plan, tasks)| PlanCountReport { plan, tasks }).collect(),
        tasks: roots.iter().map(|node| TaskReport::of_node(node, current.as_ref())).collect(),
        left_out: total.saturating_sub(shown),
        page,
        pages,
        rules: pin_reports(session, workspace, PinList::Here)?,
        agents: at_work(desk, scope)?,
    })
}

/// Returns every agent of the branch, and who else holds a task that is in progress.
fn at_work(desk: &TaskDesk<'_>, scope: &Scope) -> Result<Vec<AgentAtWorkReport>, Failure> {
    let store = &desk.workspace.store;
    let agents = store.agents(scope).map_err(refused)?;
    let known = agents.into_iter().map(|agent| AgentAtWorkReport {
        agent: agent.name.to_string(),
        client: Some(agent.client),
        status: Some(agent.status.name()),
        tasks: Vec::new(),
    });
    let mut found: Vec<_> = known.collect();
    for task in store.held_tasks(scope).map_err(refused)? {
        let Some(holder) = task.agent else { continue };
        let held = HeldTaskReport { id: task.id.to_string(), content: task.content };
        match found.iter_mut().find(|one| one.agent == holder.as_str()) {
            Some(one) => one.tasks.push(held),
            None => found.push(AgentAtWorkReport {
                agent: holder.to_string(),
                client: None,
                status: None,
                tasks: vec![held],
            }),
        }
    }
    Ok(found)
}

fn around_current(
    desk: &TaskDesk<'_>,
    scope: &Scope,
    plans: &TaskPlans,
) -> Result<Vec<TaskNode>, Failure> {
    let store = &desk.workspace.store;
    let plan = match plans.chosen() {
        Some(chosen) => chosen.map(str::to_owned),
        None => match store.active_plan(scope, None).map_err(refused)? {
            ActivePlan::Nothing | ActivePlan::WithoutFile => None,
            ActivePlan::File(plan) => Some(plan),
        },
    };
    let found = store.surroundings(scope, plan.as_deref(), None, MOST_TASKS).map_err(refused)?;
    as_trees(desk, scope, found.tasks)
}

fn current_of(roots: &[TaskNode]) -> Option<TaskId> {
    current_path(roots).last().map(|node| node.task.id.clone())
}

/// Returns the tasks whose places are in a range, counted as a reader meets them, and the tasks that they
/// are part of. Of all others, only the places are read.
fn one_page(
    desk: &TaskDesk<'_>,
    scope: &Scope,
    plans: &TaskPlans,
    range: &Range<usize>,
) -> Result<Vec<TaskNode>, Failure> {
    let store = &desk.workspace.store;
    let mut outline = store.outline(scope, plans.chosen()).map_err(refused)?;
    outline.sort_unstable();
    let ids = within(&outline, range);
    let tasks = store.tasks_with(scope, &ids).map_err(refused)?;
    as_trees(desk, scope, tasks)
}

/// Returns the ids of the tasks whose places are in a range, and of those that they are part of. Tasks of
/// a circle, which only a damaged store can hold, come last.
fn within<'o>(outline: &'o [OutlinedTask], range: &Range<usize>) -> Vec<&'o TaskId> {
    let places: BTreeMap<_, _> =
        outline.iter().enumerate().map(|(place, task)| (&task.id, place)).collect();
    let above: Vec<Option<usize>> = outline
        .iter()
        .map(|task| task.parent.as_ref().and_then(|parent| places.get(parent).copied()))
        .collect();
    let mut below = vec![Vec::new(); outline.len()];
    // The last one first: the next one to visit is at the end.
    for (place, parent) in above.iter().enumerate().rev() {
        if let Some(parent) = parent {
            below[*parent].push(place);
        }
    }
    let (roots, others): (Vec<_>, Vec<_>) =
        (0..outline.len()).rev().partition(|place| above[*place].is_none());
    let mut due = [others, roots].concat();
    let (mut seen, mut kept) = (vec![false; outline.len()], vec![false; outline.len()]);
    let mut met = 0;
    while let Some(place) = due.pop() {
        if std::mem::replace(&mut seen[place], true) {
            continue;
        }
        if range.contains(&met) {
            let mut next = Some(place);
            while let Some(task) = next.filter(|task| !kept[*task]) {
                kept[task] = true;
                next = above[task];
            }
        }
        met += 1;
        due.extend(&below[place]);
    }
    outline.iter().zip(kept).filter(|(_, is_kept)| *is_kept).map(|(task, _)| &task.id).collect()
}

fn count(nodes: &[TaskNode]) -> usize {
    nodes.iter().map(|node| 1 + count(&node.children)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what a page of two tasks, from this place, reads of a tree.
    fn page(outline: &[(&str, Option<&str>)], from: usize) -> Vec<String> {
        let id = |id: &str| TaskId::parse(&format!("t-{id}")).unwrap();
        let outlined = |(order, (name, parent)): (i64, &(&str, Option<&str>))| OutlinedTask {
            order,
            created_at: String::new(),
            id: id(name),
            parent: parent.map(id),
        };
        let outline: Vec<_> = (0..).zip(outline).map(outlined).collect();
        let ids = within(&outline, &(from..from + 2));
        ids.into_iter().map(|id| id.as_str()[2..].to_owned()).collect()
    }

    #[test]
    fn a_page_has_its_tasks_and_those_above_them() {
        // In a reader's order: a, c, e, d, b, f. The parent of `f` is not there.
        let tree = [
            ("aaaaa", None),
            ("bbbbb", None),
            ("ccccc", Some("aaaaa")),
            ("ddddd", Some("aaaaa")),
            ("eeeee", Some("ccccc")),
            ("fffff", Some("zzzzz")),
        ];
        assert_eq!(page(&tree, 0), ["aaaaa", "ccccc"]);
        assert_eq!(page(&tree, 2), ["aaaaa", "ccccc", "ddddd", "eeeee"]);
        assert_eq!(page(&tree, 4), ["bbbbb", "fffff"]);
        assert_eq!(page(&tree, 6), [""; 0]);
    }

    #[test]
    fn a_circle_comes_last_and_ends() {
        let tree = [("aaaaa", Some("bbbbb")), ("bbbbb", Some("aaaaa")), ("ccccc", None)];
        assert_eq!(page(&tree, 0), ["aaaaa", "bbbbb", "ccccc"]);
        assert_eq!(page(&tree, 1), ["aaaaa", "bbbbb"]);
    }
}
