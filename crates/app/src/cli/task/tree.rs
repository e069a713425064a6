//! The tree for a person's eyes.

use convoke_domain::task::tree::{Node, current_path};
use convoke_domain::task::{State, TaskStatus};

use super::list::{extra, read, report, say_nothing};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::Workspace;

pub(super) fn tree(workspace: &Workspace, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let roots = read(workspace, &workspace.scope)?;
    let path = current_path(&roots);
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

/// Draws every node on a line of its own.
fn draw(roots: &[Node], path: &[&Node]) -> Vec<String> {
    let mut lines = Vec::new();
    add(roots, "", path, &mut lines);
    lines
}

fn add(nodes: &[Node], indent: &str, path: &[&Node], lines: &mut Vec<String>) {
    for (index, node) in nodes.iter().enumerate() {
        let last = index + 1 == nodes.len();
        let (branch, below) = if last { ("└─", "   ") } else { ("├─", "│  ") };
        lines.push(format!("{indent}{branch} {}", words(node, path)));
        add(&node.children, &format!("{indent}{below}"), path, lines);
    }
}

fn words(node: &Node, path: &[&Node]) -> String {
    let task = &node.task;
    let mark = match node.state {
        State::Stored(TaskStatus::Completed) => "✔",
        State::Stored(TaskStatus::Skipped) => "–",
        State::Stored(TaskStatus::InProgress) => "▶",
        State::Stored(TaskStatus::Pending) => "○",
        State::Blocked | State::Failed => "✖",
        State::Waiting => "◌",
        State::Cancelled => "⊘",
    };
    let agent = task.agent.as_ref().map_or(String::new(), |agent| format!("  @{agent}"));
    let current = path.last().is_some_and(|leaf| std::ptr::eq(*leaf, node));
    let here = if current { "  ← current" } else { "" };
    let extra = extra(task);
    format!("{mark} {}  {}{agent}{extra}{here}", task.id, task.content)
}
