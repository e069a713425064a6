//! The tree for a person's eyes.

use convoke_domain::task::id::TaskId;
use convoke_domain::task::tree::{TaskNode, current_path};
use convoke_domain::task::{TaskState, TaskStatus};

use super::list::{extra, read, report, say_nothing};
use super::next::in_plan_order;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) fn tree(workspace: &Workspace, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let roots = read(workspace, &workspace.scope)?;
    let path = current(workspace, &roots)?;
    match app.format {
        Format::Json => {
            output.json(&roots.iter().map(|node| report(node, &path)).collect::<Vec<_>>())?;
        }
        Format::Text if roots.is_empty() => say_nothing(workspace, app, output)?,
        Format::Text => {
            let scope = &workspace.scope;
            output.data(&format!("{} on {}\n", scope.project, scope.branch))?;
            for line in draw(&roots, &path) {
                output.data(&format!("{line}\n"))?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Returns the way to the current task: in the plan that is being worked on, as in a wake-up.
fn current<'a>(workspace: &Workspace, roots: &'a [TaskNode]) -> Result<Vec<&'a TaskNode>, Failure> {
    let (active, _) = in_plan_order(workspace, None)?;
    let leaf = current_path(&active).last().map(|node| node.task.id.clone());
    Ok(leaf.map_or_else(|| current_path(roots), |leaf| path_to(roots, &leaf)))
}

/// Returns the way from a root to a task.
fn path_to<'a>(nodes: &'a [TaskNode], id: &TaskId) -> Vec<&'a TaskNode> {
    nodes
        .iter()
        .find_map(|node| {
            let below = path_to(&node.children, id);
            (node.task.id == *id || !below.is_empty()).then(|| [vec![node], below].concat())
        })
        .unwrap_or_default()
}

/// Draws every node on a line of its own.
fn draw(roots: &[TaskNode], path: &[&TaskNode]) -> Vec<String> {
    let mut lines = Vec::new();
    add(roots, "", path, &mut lines);
    lines
}

fn add(nodes: &[TaskNode], indent: &str, path: &[&TaskNode], lines: &mut Vec<String>) {
    for (index, node) in nodes.iter().enumerate() {
        let last = index + 1 == nodes.len();
        let (branch, below) = if last { ("└─", "   ") } else { ("├─", "│  ") };
        lines.push(format!("{indent}{branch} {}", words(node, path)));
        add(&node.children, &format!("{indent}{below}"), path, lines);
    }
}

fn words(node: &TaskNode, path: &[&TaskNode]) -> String {
    let task = &node.task;
    let mark = match node.state {
        TaskState::Stored(TaskStatus::Completed) => "✔",
        TaskState::Stored(TaskStatus::Skipped) => "–",
        TaskState::Stored(TaskStatus::InProgress) => "▶",
        TaskState::Stored(TaskStatus::Pending) => "○",
        TaskState::Blocked | TaskState::Failed => "✖",
        TaskState::Waiting => "◌",
        TaskState::Cancelled => "⊘",
    };
    let agent = task.agent.as_ref().map_or(String::new(), |agent| format!("  @{agent}"));
    let current = path.last().is_some_and(|leaf| std::ptr::eq(*leaf, node));
    let here = if current { "  ← current" } else { "" };
    let extra = extra(task);
    format!("{mark} {}  {}{agent}{extra}{here}", task.id, task.content)
}
