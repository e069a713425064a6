//! The plain lists: other programs read them line by line.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::task::filter::{Stage, TaskFilter};
use convoke_domain::task::id::TaskId;
use convoke_domain::task::priority::TaskPriority;
use convoke_domain::task::tree::{TaskNode, in_order, trees};
use convoke_domain::task::{Task, TaskState};
use convoke_store::agent::AgentStore;
use convoke_store::deed::DeedStore;
use convoke_store::error::StoreError;
use convoke_store::pin::PinStore;
use convoke_store::task::TaskStore;
use serde::Serialize;

use super::plan_file;
use super::report::TaskReport;
use super::verdict::DeedReport;
use crate::app::{App, Format};
use crate::cli::elsewhere;
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// One task with what is recorded about it.
#[derive(Serialize)]
struct ShownTask<'a> {
    #[serde(flatten)]
    task: TaskReport<'a>,
    deeds: Vec<DeedReport>,
}

/// Reads the whole tree of a scope.
pub(super) fn read(workspace: &Workspace, scope: &Scope) -> Result<Vec<TaskNode>, Failure> {
    let tasks = workspace.store.tasks(scope).map_err(refused)?;
    let agents = workspace.store.agents(scope).map_err(refused)?;
    let pins = workspace.store.pins(scope, now()).map_err(refused)?;
    let is_cancelled =
        |task: &Task| pins.iter().any(|pin| pin.plan.is_some() && pin.plan == task.plan_file);
    Ok(trees(tasks, |task| {
        let state = TaskState::among(&agents, task);
        if is_cancelled(task) { state.cancelled() } else { state }
    }))
}

/// Which tasks are listed.
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// Only tasks so far; may be repeated
    #[arg(long, value_parser = stage())]
    status: Vec<Stage>,

    /// Only tasks of this agent
    #[arg(long, value_name = "AGENT", value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// Only tasks of this plan
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    /// Only tasks with all of these words in their title, body, note or id
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,

    /// List the tasks of every branch of the project
    #[arg(long, conflicts_with = "branch")]
    all_branches: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct SearchArgs {
    /// The words, in any order; capitals do not matter
    #[arg(required = true, value_name = "WORD")]
    words: Vec<String>,

    #[command(flatten)]
    filter: ListArgs,
}

fn stage() -> impl TypedValueParser<Value = Stage> {
    PossibleValuesParser::new(Stage::ALL.map(|(name, _)| name))
        .try_map(|name| Stage::parse(&name).ok_or("no such status"))
}

impl SearchArgs {
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let filter = self.filter.filter(app)?.with_words(&self.words.join(" "));
        self.filter.list(workspace, app, &filter, output)
    }
}

impl ListArgs {
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        self.list(workspace, app, &self.filter(app)?, output)
    }

    fn filter(&self, app: &App) -> Result<TaskFilter, Failure> {
        let filter = TaskFilter {
            stages: self.status.clone(),
            agent: self.agent.clone(),
            plan: self.plan.as_deref().map(|plan| plan_file(app, plan)).transpose()?,
            ..TaskFilter::default()
        };
        Ok(filter.with_words(self.search.as_deref().unwrap_or_default()))
    }

    fn list(
        &self,
        workspace: &Workspace,
        app: &App,
        filter: &TaskFilter,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        if self.all_branches {
            return list_all_branches(workspace, app, filter, output);
        }
        let roots = read(workspace, &workspace.scope)?;
        match app.format {
            Format::Json => output.json(&reports(&roots, filter))?,
            Format::Text if roots.is_empty() => say_nothing(workspace, app, output)?,
            Format::Text => print(&roots, filter, output)?,
        }
        if !roots.is_empty() {
            elsewhere::say(workspace, app, output)?;
        }
        Ok(Exit::Done)
    }
}

/// Reports the roots with everything below them, or the tasks that a filter lets through.
fn reports<'a>(roots: &'a [TaskNode], filter: &TaskFilter) -> Vec<TaskReport<'a>> {
    if filter.is_empty() {
        return roots.iter().map(|node| report(node, &[])).collect();
    }
    let listed = flat(roots).into_iter().filter(|node| filter.lists(&node.task));
    listed.map(|node| TaskReport::new(&node.task, false, Vec::new())).collect()
}

fn print(roots: &[TaskNode], filter: &TaskFilter, output: &mut Output) -> Result<(), Failure> {
    if filter.is_empty() {
        return roots.iter().try_for_each(|root| {
            let children = match root.children.len() {
                0 => String::new(),
                count => format!("  ({count} children)"),
            };
            output.data(&format!("{}{children}\n", line(&root.task)))
        });
    }
    let nodes = flat(roots);
    let listed: Vec<_> = nodes.iter().filter(|node| filter.lists(&node.task)).collect();
    if listed.is_empty() {
        return output.data("No such tasks.\n");
    }
    listed.iter().try_for_each(|node| output.data(&format!("{}\n", line(&node.task))))
}

/// Returns every node, parents before their parts.
fn flat(roots: &[TaskNode]) -> Vec<&TaskNode> {
    roots.iter().flat_map(|node| [vec![node], flat(&node.children)].concat()).collect()
}

#[derive(Serialize)]
struct BranchReport<'a> {
    branch: &'a str,
    tasks: Vec<TaskReport<'a>>,
}

fn branch_report<'a>(
    (branch, roots): &'a (String, Vec<TaskNode>),
    filter: &TaskFilter,
) -> BranchReport<'a> {
    BranchReport { branch, tasks: reports(roots, filter) }
}

fn list_all_branches(
    workspace: &Workspace,
    app: &App,
    filter: &TaskFilter,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let project = &workspace.scope.project;
    let mut branches = workspace.store.branches(project).map_err(refused)?;
    branches.sort_by_key(|(branch, _)| (*branch != workspace.scope.branch, branch.clone()));
    let read = |(branch, _): &(String, u32)| {
        let roots = read(workspace, &Scope::new(project, branch))?;
        Ok((branch.clone(), roots))
    };
    let all = branches.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    let listed = |roots: &[TaskNode]| flat(roots).iter().any(|node| filter.lists(&node.task));
    let all: Vec<_> = all.into_iter().filter(|(_, roots)| listed(roots)).collect();
    match app.format {
        Format::Json => {
            output.json(
                &all.iter().map(|branch| branch_report(branch, filter)).collect::<Vec<_>>(),
            )?;
        }
        Format::Text if all.is_empty() => output.data("No tasks.\n")?,
        Format::Text => {
            for (branch, roots) in &all {
                output.data(&format!("{branch}:\n"))?;
                print(roots, filter, output)?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Says that there is nothing here, and where there is something.
pub(super) fn say_nothing(
    workspace: &Workspace,
    app: &App,
    output: &mut Output,
) -> Result<(), Failure> {
    elsewhere::say(workspace, app, output)?;
    output.data("No tasks.\n")
}

pub(super) fn show(
    workspace: &Workspace,
    app: &App,
    id: &TaskId,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Workspace { store, scope } = workspace;
    let missing = || refused(StoreError::NoTask { id: id.clone() });
    let task = store.task(scope, id).map_err(refused)?.ok_or_else(missing)?;
    let mut children = store.children(scope, id).map_err(refused)?;
    children.sort_by(in_order);
    let deeds = store.deeds_of_task(scope, id).map_err(refused)?;
    let deeds: Vec<_> = deeds.iter().map(DeedReport::new).collect();
    match app.format {
        Format::Json => {
            let children = children.iter().map(|it| TaskReport::new(it, false, Vec::new()));
            let task = TaskReport::new(&task, false, children.collect());
            output.json(&ShownTask { task, deeds })?;
        }
        Format::Text => output.data(&detail(&task, &children, &deeds))?,
    }
    Ok(Exit::Done)
}

fn detail(task: &Task, children: &[Task], deeds: &[DeedReport]) -> String {
    let status = if task.is_waiting() { "waiting" } else { task.status.name() };
    let mut lines = vec![format!("{} \"{}\" [{}]", task.id, task.content, status)];
    lines.extend(task.parent.as_ref().map(|parent| format!("  Parent: {parent}")));
    lines.extend(task.notes.as_ref().map(|note| format!("  Note: {note}")));
    if task.priority != TaskPriority::Normal {
        lines.push(format!("  Priority: {}", task.priority.name()));
    }
    if !task.after.is_empty() {
        let state = |id: &TaskId| if task.waits_for.contains(id) { "open" } else { "closed" };
        let after: Vec<_> = task.after.iter().map(|id| format!("{id} ({})", state(id))).collect();
        lines.push(format!("  After: {}", after.join(", ")));
    }
    lines.extend(deeds.iter().map(|deed| format!("  Recorded: {}", deed.line())));
    if let Some(body) = &task.body {
        lines.push(String::new());
        lines.extend(body.lines().map(|line| format!("    {line}").trim_end().to_owned()));
    }
    lines.push(String::new());
    if children.is_empty() {
        lines.push("No children.".to_owned());
    } else {
        lines.push("Children:".to_owned());
        lines.extend(children.iter().map(|child| format!("  {}", line(child))));
    }
    lines.join("\n") + "\n"
}

/// Renders a task on one line.
pub(super) fn line(task: &Task) -> String {
    let status = if task.is_waiting() { "waiting" } else { task.status.name() };
    format!("{}  {}  [{status}]{}", task.id, task.content, extra(task))
}

/// What is unusual about a task: what it waits for, and its priority.
pub(super) fn extra(task: &Task) -> String {
    let ids: Vec<_> = task.waits_for.iter().map(TaskId::as_str).collect();
    let waits =
        if task.is_waiting() { format!("  after {}", ids.join(", ")) } else { String::new() };
    let priority = match task.priority {
        TaskPriority::Normal => String::new(),
        TaskPriority::High | TaskPriority::Low => format!("  ({} priority)", task.priority.name()),
    };
    waits + &priority
}

/// Reports a node with everything below it.
pub(super) fn report<'a>(node: &'a TaskNode, path: &[&TaskNode]) -> TaskReport<'a> {
    let current = path.last().is_some_and(|leaf| std::ptr::eq(*leaf, node));
    let children = node.children.iter().map(|child| report(child, path)).collect();
    TaskReport::new(&node.task, current, children)
}
