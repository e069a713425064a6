//! The tree for a person's eyes.

use convoke_domain::task::id::TaskId;
use convoke_domain::task::tree::TaskNode;
use convoke_domain::task::{TaskState, TaskStatus};
use convoke_service::failure::Failure;
use convoke_service::task::{TaskDesk, TaskTree, task_tree};

use super::list::extra;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

pub(super) fn tree(desk: &TaskDesk<'_>, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let tree = task_tree(desk)?;
    match app.format {
        Format::Json => output.json(&tree.reports())?,
        Format::Text if tree.roots.is_empty() => output.data("No tasks.\n")?,
        Format::Text => {
            let TaskTree { roots, current, scope } = &tree;
            output.data(&format!("{} on {}\n", scope.project, scope.branch))?;
            for line in draw(roots, current.as_ref()) {
                output.data(&format!("{line}\n"))?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Draws every node on a line of its own.
fn draw(roots: &[TaskNode], current: Option<&TaskId>) -> Vec<String> {
    let mut lines = Vec::new();
    add(roots, "", current, &mut lines);
    lines
}

fn add(nodes: &[TaskNode], indent: &str, current: Option<&TaskId>, lines: &mut Vec<String>) {
    for (index, node) in nodes.iter().enumerate() {
        let last = index + 1 == nodes.len();
        let (branch, below) = if last { ("└─", "   ") } else { ("├─", "│  ") };
        lines.push(format!("{indent}{branch} {}", words(node, current)));
        add(&node.children, &format!("{indent}{below}"), current, lines);
    }
}

fn words(node: &TaskNode, current: Option<&TaskId>) -> String {
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
    let here = if current == Some(&task.id) { "  ← current" } else { "" };
    let extra = extra(task);
    format!("{mark} {}  {}{agent}{extra}{here}", task.id, task.content)
}
