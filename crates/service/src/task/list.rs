//! Reading tasks: lists, one task, and the whole tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use convoke_domain::pin::Pin;
use convoke_domain::plan::{ParsedPlan, SearchedPlan, one_line};
use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::task::filter::{Stage, TaskFilter};
use convoke_domain::task::id::TaskId;
use convoke_domain::task::tree::{TaskNode, current_path, in_order, trees};
use convoke_domain::task::{Task, TaskState};
use convoke_engine::file;
use serde::Serialize;

use super::import::MAX_BYTES as MAX_PLAN;
use super::next::in_plan_order;
use super::{DeedReport, TaskDesk, TaskPlans, TaskReport, known_task, plan_file};
use crate::elsewhere;
use crate::failure::Failure;
use crate::workspace::{Workspace, refused};

/// In plans of at most so many tasks, a search finds the section of a renamed task.
const MOST_NUMBERED: usize = 500;

/// Which tasks are listed; without any filter, the top tasks.
#[derive(Debug, Clone, Default)]
pub struct TaskListRequest {
    /// Only tasks so far.
    pub stages: Vec<Stage>,
    /// Only tasks of this agent.
    pub agent: Option<AgentName>,
    /// Only tasks of this plan.
    pub plan: Option<PathBuf>,
    /// Only tasks with all of these words in their title, body, note, id or section of their plan.
    pub words: Vec<String>,
}

/// The tasks of one branch, and which of them are listed.
#[derive(Debug, Clone)]
pub struct TaskListing {
    /// Every top task with everything below it.
    pub roots: Vec<TaskNode>,
    /// Which of them are listed.
    pub filter: TaskFilter,
    /// The sections of their plans, where the filter demands words.
    sections: BTreeMap<TaskId, String>,
}

/// The tasks of one of several branches.
#[derive(Debug, Clone)]
pub struct BranchTasks {
    /// The branch that has the tasks.
    pub branch: String,
    /// The branch's tasks.
    pub listing: TaskListing,
}

/// The tasks of one of several branches, for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BranchTasksReport {
    /// The branch that has the tasks.
    pub branch: String,
    /// The branch's tasks.
    pub tasks: Vec<TaskReport>,
}

impl BranchTasks {
    /// Reports them for programs.
    pub fn report(&self) -> BranchTasksReport {
        BranchTasksReport { branch: self.branch.clone(), tasks: self.listing.reports() }
    }
}

impl TaskListing {
    fn new(desk: &TaskDesk<'_>, roots: Vec<TaskNode>, filter: TaskFilter) -> Self {
        let sections =
            if filter.words.is_empty() { BTreeMap::new() } else { plan_sections(desk, &roots) };
        Self { roots, filter, sections }
    }

    /// Reports the roots with everything below them, or the tasks that pass the filter.
    pub fn reports(&self) -> Vec<TaskReport> {
        if self.filter.is_empty() {
            return self.roots.iter().map(|node| TaskReport::of_node(node, None)).collect();
        }
        self.listed().into_iter().map(TaskReport::of_node_alone).collect()
    }

    /// Returns the tasks that the filter lets through, parents before their parts.
    pub fn listed(&self) -> Vec<&TaskNode> {
        let all = flat(&self.roots).into_iter();
        let section = |node: &TaskNode| self.sections.get(&node.task.id).map(String::as_str);
        all.filter(|node| self.filter.lists_with(&node.task, section(node))).collect()
    }
}

/// Returns every node, parents before their parts.
fn flat(roots: &[TaskNode]) -> Vec<&TaskNode> {
    roots.iter().flat_map(|node| [vec![node], flat(&node.children)].concat()).collect()
}

impl TaskListRequest {
    fn filter(&self, desk: &TaskDesk<'_>) -> Result<TaskFilter, Failure> {
        let plan = self.plan.as_deref().map(|plan| plan_file(desk.session, plan)).transpose()?;
        let filter = TaskFilter {
            stages: self.stages.clone(),
            agent: self.agent.clone(),
            plan,
            ..TaskFilter::default()
        };
        Ok(self.words.iter().fold(filter, |filter, words| filter.with_words(words)))
    }
}

/// Reads the whole tree of a scope.
pub(super) fn read(desk: &TaskDesk<'_>, scope: &Scope) -> Result<Vec<TaskNode>, Failure> {
    read_plans(desk, scope, &TaskPlans::All)
}

/// Reads the tree of one plan or of all. A task whose parent belongs to another plan is a root.
pub(super) fn read_plans(
    desk: &TaskDesk<'_>,
    scope: &Scope,
    plans: &TaskPlans,
) -> Result<Vec<TaskNode>, Failure> {
    let store = &desk.workspace.store;
    let tasks = match plans.chosen() {
        None => store.tasks(scope),
        Some(plan) => store.tasks_of_plan(scope, plan),
    };
    as_trees(desk, scope, tasks.map_err(refused)?)
}

/// Builds the trees of tasks, with their states.
pub(super) fn as_trees(
    desk: &TaskDesk<'_>,
    scope: &Scope,
    tasks: Vec<Task>,
) -> Result<Vec<TaskNode>, Failure> {
    let store = &desk.workspace.store;
    let agents = store.agents(scope).map_err(refused)?;
    let pins = store.pins(scope, desk.session.now()).map_err(refused)?;
    Ok(trees(tasks, |task| {
        let state = TaskState::among(&agents, task);
        if is_cancelled(&pins, task) { state.cancelled() } else { state }
    }))
}

/// Tells whether one of the rules cancels a task's plan.
pub(super) fn is_cancelled(pins: &[Pin], task: &Task) -> bool {
    pins.iter().any(|pin| pin.plan.is_some() && pin.plan == task.plan_file)
}

/// Reads the tasks of the desk's branch, and tells where else there are open ones.
pub fn list_tasks(desk: &TaskDesk<'_>, request: &TaskListRequest) -> Result<TaskListing, Failure> {
    let filter = request.filter(desk)?;
    let roots = read(desk, &desk.workspace.scope)?;
    if roots.is_empty() {
        elsewhere::note(desk.session, &desk.workspace)?;
    } else {
        elsewhere::say(desk.session, &desk.workspace)?;
    }
    Ok(TaskListing::new(desk, roots, filter))
}

/// Reads the tasks of every branch that has some, the desk's first.
pub fn list_all_branches(
    desk: &TaskDesk<'_>,
    request: &TaskListRequest,
) -> Result<Vec<BranchTasks>, Failure> {
    let filter = request.filter(desk)?;
    let Workspace { store, scope } = &desk.workspace;
    let mut branches = store.branches(&scope.project).map_err(refused)?;
    branches.sort_by_key(|(branch, _)| (*branch != scope.branch, branch.clone()));
    let mut found = Vec::new();
    for (branch, _) in branches {
        let roots = read(desk, &Scope::new(&scope.project, &branch))?;
        let listing = TaskListing::new(desk, roots, filter.clone());
        if !listing.listed().is_empty() {
            found.push(BranchTasks { branch, listing });
        }
    }
    Ok(found)
}

/// Reports a task with everything below it, as it is now.
pub fn task_report(desk: &TaskDesk<'_>, task: &Task) -> Result<TaskReport, Failure> {
    let roots = read(desk, &desk.workspace.scope)?;
    let found = flat(&roots).into_iter().find(|node| node.task.id == task.id);
    Ok(found.map_or_else(|| TaskReport::alone(task), |node| TaskReport::of_node(node, None)))
}

/// One task with its parts and its records.
#[derive(Debug, Clone)]
pub struct ShownTask {
    /// The requested task.
    pub task: Task,
    /// Its parts, in their order.
    pub children: Vec<Task>,
    /// The task's records.
    pub deeds: Vec<DeedReport>,
    /// Whether its plan is cancelled.
    pub is_cancelled: bool,
    /// The task's section of its plan, as the file is now; none without one, or where the task has
    /// a description of its own.
    pub plan_section: Option<String>,
}

/// One task with its parts and its records, as commands print it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShownTaskReport {
    /// The task with its parts.
    #[serde(flatten)]
    pub task: TaskReport,
    /// The task's section of its plan, as the file is now; none without one, or where the task has
    /// a description of its own.
    pub plan_section: Option<String>,
    /// The task's records.
    pub deeds: Vec<DeedReport>,
}

impl ShownTask {
    /// Reports it for programs.
    pub fn report(&self) -> ShownTaskReport {
        let children = self.children.iter().map(TaskReport::alone).collect();
        let mut task = TaskReport::new(&self.task, None, children);
        task.cancelled = self.is_cancelled && !self.task.status.is_closed();
        let plan_section = self.plan_section.clone();
        ShownTaskReport { task, plan_section, deeds: self.deeds.clone() }
    }
}

/// Reads one task.
pub fn show_task(desk: &TaskDesk<'_>, id: &TaskId) -> Result<ShownTask, Failure> {
    let Workspace { store, scope } = &desk.workspace;
    let task = known_task(&desk.workspace, id)?;
    let mut children = store.children(scope, id).map_err(refused)?;
    children.sort_by(in_order);
    let deeds = store.deeds_of_task(scope, id).map_err(refused)?;
    let pins = store.pins(scope, desk.session.now()).map_err(refused)?;
    let is_cancelled = is_cancelled(&pins, &task);
    let deeds = deeds.iter().map(DeedReport::new).collect();
    let plan_section = plan_section(desk, &task);
    Ok(ShownTask { task, children, deeds, is_cancelled, plan_section })
}

/// Returns what the plans say about tasks without a description of their own. Each plan is read once.
fn plan_sections(desk: &TaskDesk<'_>, roots: &[TaskNode]) -> BTreeMap<TaskId, String> {
    let mut plans: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
    for node in flat(roots) {
        if let Some(plan) = node.task.plan_file.as_deref().filter(|_| node.task.body.is_none()) {
            plans.entry(plan).or_default().push(&node.task);
        }
    }
    let mut sections = BTreeMap::new();
    for (plan, tasks) in plans {
        let Some(text) = file::text_below(&desk.session.project, Path::new(plan), MAX_PLAN) else {
            continue;
        };
        let parsed = ParsedPlan::parse(&text);
        let titled = parsed.tasks.iter().map(|section| (one_line(section.title), section.text));
        let titled: BTreeMap<_, _> = titled.collect();
        // A renamed task is found by its number, which takes long in a large plan.
        let is_small = parsed.tasks.len() <= MOST_NUMBERED;
        let searched = SearchedPlan::new(&text);
        let by_number = |task: &Task| Some(searched.section_of(&task.content)?.text);
        for task in tasks {
            let same = titled.get(&task.content).copied();
            let section = same.or_else(|| if is_small { by_number(task) } else { None });
            sections.extend(section.map(|text| (task.id.clone(), text.to_owned())));
        }
    }
    sections
}

/// Returns what a task's plan says about it. A plan that cannot be read says nothing.
fn plan_section(desk: &TaskDesk<'_>, task: &Task) -> Option<String> {
    let plan = task.plan_file.as_ref().filter(|_| task.body.is_none())?;
    let text = file::text_below(&desk.session.project, Path::new(plan), MAX_PLAN)?;
    let section = SearchedPlan::new(&text).section_of(&task.content)?;
    Some(section.text.to_owned())
}

/// All tasks of a branch, and the current one.
#[derive(Debug, Clone)]
pub struct TaskTree {
    /// Every top task with everything below it.
    pub roots: Vec<TaskNode>,
    /// The task to work on: in the plan that is being worked on, as in a wake-up.
    pub current: Option<TaskId>,
    /// The project and branch.
    pub scope: Scope,
}

impl TaskTree {
    /// Reports it for programs.
    pub fn reports(&self) -> Vec<TaskReport> {
        let current = self.current.as_ref();
        self.roots.iter().map(|node| TaskReport::of_node(node, current)).collect()
    }
}

/// Reads all tasks of the desk's branch.
pub fn task_tree(desk: &TaskDesk<'_>) -> Result<TaskTree, Failure> {
    let scope = desk.workspace.scope.clone();
    let roots = read(desk, &scope)?;
    let (active, _) = in_plan_order(desk, None)?;
    let leaf = |nodes: &[TaskNode]| current_path(nodes).last().map(|node| node.task.id.clone());
    let current = leaf(&active).or_else(|| leaf(&roots));
    if roots.is_empty() {
        elsewhere::note(desk.session, &desk.workspace)?;
    }
    Ok(TaskTree { roots, current, scope })
}
