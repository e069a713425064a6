//! The plain lists: other programs read them line by line.

use convoke_domain::task::id::TaskId;
use convoke_domain::task::tree::{Node, in_order, trees};
use convoke_domain::task::{State, Task};
use convoke_store::agent::AgentStore;
use convoke_store::deed::DeedStore;
use convoke_store::error::StoreError;
use convoke_store::pin::PinStore;
use convoke_store::task::TaskStore;
use serde::Serialize;

use super::report::TaskReport;
use super::verdict::DeedReport;
use crate::app::{App, Format};
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

/// Reads the whole tree of the scope.
pub(super) fn read(workspace: &Workspace) -> Result<Vec<Node>, Failure> {
    let tasks = workspace.store.tasks(&workspace.scope).map_err(refused)?;
    let agents = workspace.store.agents(&workspace.scope).map_err(refused)?;
    let pins = workspace.store.pins(&workspace.scope, now()).map_err(refused)?;
    let is_cancelled =
        |task: &Task| pins.iter().any(|pin| pin.plan.is_some() && pin.plan == task.plan_file);
    Ok(trees(tasks, |task| {
        let state = State::among(&agents, task);
        if is_cancelled(task) { state.cancelled() } else { state }
    }))
}

pub(super) fn list(workspace: &Workspace, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let roots = read(workspace)?;
    match app.format {
        Format::Json => {
            output.json(&roots.iter().map(|node| report(node, &[])).collect::<Vec<_>>())?;
        }
        Format::Text if roots.is_empty() => say_nothing(workspace, output)?,
        Format::Text => roots.iter().try_for_each(|root| {
            let children = match root.children.len() {
                0 => String::new(),
                count => format!("  ({count} children)"),
            };
            output.data(&format!("{}{children}\n", line(&root.task)))
        })?,
    }
    Ok(Exit::Done)
}

/// Says that there is nothing here, and where there is something.
pub(super) fn say_nothing(workspace: &Workspace, output: &mut Output) -> Result<(), Failure> {
    let here = &workspace.scope;
    let branches = workspace.store.branches(&here.project).map_err(refused)?;
    for (branch, count) in branches.iter().filter(|(branch, _)| *branch != here.branch) {
        output.say(&format!(
            "note: branch `{branch}` has {count} tasks; see them with `convoke task tree --branch {branch}`"
        ));
    }
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
    let mut lines = vec![format!("{} \"{}\" [{}]", task.id, task.content, task.status.name())];
    lines.extend(task.parent.as_ref().map(|parent| format!("  Parent: {parent}")));
    lines.extend(task.notes.as_ref().map(|note| format!("  Note: {note}")));
    lines.extend(deeds.iter().map(|deed| format!("  Recorded: {}", deed.line())));
    lines.push(String::new());
    if children.is_empty() {
        lines.push("No children.".to_owned());
    } else {
        lines.push("Children:".to_owned());
        lines.extend(children.iter().map(|child| format!("  {}", line(child))));
    }
    lines.join("\n") + "\n"
}

fn line(task: &Task) -> String {
    format!("{}  {}  [{}]", task.id, task.content, task.status.name())
}

/// Reports a node with everything below it.
pub(super) fn report<'a>(node: &'a Node, path: &[&Node]) -> TaskReport<'a> {
    let current = path.last().is_some_and(|leaf| std::ptr::eq(*leaf, node));
    let children = node.children.iter().map(|child| report(child, path)).collect();
    TaskReport::new(&node.task, current, children)
}
