//! The plain lists: other programs read them line by line.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::scope::AgentName;
use convoke_domain::task::filter::Stage;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::priority::TaskPriority;
use convoke_domain::task::tree::TaskNode;
use convoke_domain::task::{Task, TaskState};
use convoke_service::failure::Failure;
use convoke_service::task::{
    BranchTasks, ShownTask, TaskDesk, TaskListRequest, TaskListing, list_all_branches, list_tasks,
};

use crate::app::{App, Format};
use crate::exit::{CommandResult, Exit};
use crate::output::Output;

/// Which tasks are listed.
#[derive(Debug, clap::Args)]
pub(super) struct ListArgs {
    /// List only tasks with this status; may be repeated
    #[arg(long, value_parser = stage())]
    status: Vec<Stage>,

    /// List only tasks of this agent
    #[arg(long, value_name = "AGENT", value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// List only tasks of this plan
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    /// List only tasks with all of these words in their title, description, note or id
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,

    /// List the tasks of every branch of the project
    #[arg(long, conflicts_with = "branch")]
    all_branches: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct SearchArgs {
    /// The words, in any order and letter case
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
    pub(super) fn run(&self, desk: &TaskDesk<'_>, app: &App, output: &mut Output) -> CommandResult {
        let mut request = self.filter.request();
        request.words.extend(self.words.clone());
        self.filter.list(desk, app, &request, output)
    }
}

impl ListArgs {
    pub(super) fn run(&self, desk: &TaskDesk<'_>, app: &App, output: &mut Output) -> CommandResult {
        self.list(desk, app, &self.request(), output)
    }

    fn request(&self) -> TaskListRequest {
        TaskListRequest {
            stages: self.status.clone(),
            agent: self.agent.clone(),
            plan: self.plan.clone(),
            words: self.search.iter().cloned().collect(),
        }
    }

    fn list(
        &self,
        desk: &TaskDesk<'_>,
        app: &App,
        request: &TaskListRequest,
        output: &mut Output,
    ) -> CommandResult {
        if self.all_branches {
            return print_branches(&list_all_branches(desk, request)?, app, output);
        }
        let listing = list_tasks(desk, request)?;
        match app.format {
            Format::Json => output.json(&listing.reports())?,
            Format::Text if listing.roots.is_empty() => output.data("No tasks.\n")?,
            Format::Text => print(&listing, output)?,
        }
        Ok(Exit::Done)
    }
}

fn print(listing: &TaskListing, output: &mut Output) -> Result<(), Failure> {
    if listing.filter.is_empty() {
        return listing.roots.iter().try_for_each(|root| {
            let children = match root.children.len() {
                0 => String::new(),
                // Programs know only the plural.
                1 if output.is_shown() => "  (1 child)".to_owned(),
                count => format!("  ({count} children)"),
            };
            output.lines(&format!("{}{children}\n", node_line(root)), 4)
        });
    }
    let listed = listing.listed();
    if listed.is_empty() {
        return output.data("No such tasks.\n");
    }
    listed.into_iter().try_for_each(|node| output.lines(&format!("{}\n", node_line(node)), 4))
}

fn print_branches(all: &[BranchTasks], app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(&all.iter().map(BranchTasks::report).collect::<Vec<_>>())?,
        Format::Text if all.is_empty() => output.data("No tasks.\n")?,
        Format::Text => {
            for BranchTasks { branch, listing } in all {
                output.data(&format!("{branch}:\n"))?;
                print(listing, output)?;
            }
        }
    }
    Ok(Exit::Done)
}

/// Prints one task with its parts and its records.
pub(super) fn print_detail(
    shown: &ShownTask,
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(&shown.report())?,
        Format::Text => output.data(&detail(shown))?,
    }
    Ok(Exit::Done)
}

fn detail(shown: &ShownTask) -> String {
    let ShownTask { task, children, deeds, is_cancelled, plan_section } = shown;
    let status = match task.is_waiting() {
        _ if *is_cancelled && !task.status.is_closed() => TaskState::Cancelled.words(),
        true => "waiting",
        false => task.status.name(),
    };
    let mut lines = vec![format!("{} \"{}\" [{}]", task.id, task.content, status)];
    lines.extend(task.parent.as_ref().map(|parent| format!("  Parent: {parent}")));
    lines.extend(task.agent.as_ref().map(|agent| format!("  Agent: @{agent}")));
    lines.extend(task.plan_file.as_ref().map(|plan| format!("  Plan: {plan}")));
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
    if let Some(body) = task.body.as_ref().or(plan_section.as_ref()) {
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
    with_status(task, if task.is_waiting() { "waiting" } else { task.status.name() })
}

/// Renders a task of a list on one line, with a note for one of a cancelled plan.
fn node_line(node: &TaskNode) -> String {
    match node.state {
        TaskState::Cancelled => with_status(&node.task, TaskState::Cancelled.words()),
        TaskState::Stored(_) | TaskState::Blocked | TaskState::Failed | TaskState::Waiting => {
            line(&node.task)
        }
    }
}

fn with_status(task: &Task, status: &str) -> String {
    let agent = task.agent.as_ref().map_or(String::new(), |agent| format!("  @{agent}"));
    format!("{}  {}  [{status}]{agent}{}", task.id, task.content, extra(task))
}

/// Renders the unusual properties of a task: the tasks it waits for, and its priority.
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
