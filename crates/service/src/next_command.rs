//! The next commands, which work in this project.

use convoke_domain::text::shell_word;
use serde::Serialize;

use crate::task::CurrentTask;

/// A command that makes sense here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextCommand {
    /// The command, ready to type.
    pub command: String,
    /// Its effect, in a few words.
    pub why: String,
}

impl NextCommand {
    pub(crate) fn new(command: impl Into<String>, why: impl Into<String>) -> Self {
        Self { command: command.into(), why: why.into() }
    }
}

/// The facts about a project that the next commands depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProjectState {
    /// The task to work on.
    pub(crate) current: Option<CurrentTask>,
    /// The command that brings here what waits in another folder.
    pub(crate) waiting: Option<String>,
    /// Whether another branch of the project has open tasks.
    pub(crate) has_tasks_on_other_branch: bool,
    /// A plan of the project with its number of tasks.
    pub(crate) plan: Option<(String, usize)>,
    /// Clients that sessions can begin in, those with hooks first.
    pub(crate) clients: Vec<&'static str>,
    /// Clients that are there and lack hooks.
    pub(crate) without_hooks: Vec<&'static str>,
    /// How many messages the agent has not read.
    pub(crate) unread: usize,
    /// Whether a design has ended here.
    pub(crate) has_design: bool,
    /// A design that was stopped.
    pub(crate) stopped_run: Option<String>,
    /// The command that goes on with a fan-out that was stopped.
    pub(crate) stopped_fan: Option<String>,
}

/// Returns the three commands that make most sense, the most pressing one first.
pub(crate) fn next_commands(state: &ProjectState) -> Vec<NextCommand> {
    let mut commands = Vec::new();
    if state.clients.is_empty() {
        commands.push(NextCommand::new("convoke doctor", "says which clients Convoke works with"));
    }
    if let Some(run) = &state.stopped_run {
        let words = "goes on with the design that was stopped";
        commands.push(NextCommand::new(format!("convoke resume {run}"), words));
    } else if let Some(command) = &state.stopped_fan {
        commands.push(NextCommand::new(command, "asks for what a stopped fan-out misses"));
    }
    if state.unread > 0 {
        commands.push(NextCommand::new("convoke inbox", "shows unread messages"));
    }
    commands.push(task_command(state));
    if let Some(client) = state.without_hooks.first() {
        let command = format!("convoke hooks install {client}");
        commands.push(NextCommand::new(command, "tells new sessions where they are"));
    } else if let Some(client) = state.clients.first() {
        commands.push(NextCommand::new(*client, "begins a session that knows its task"));
    }
    commands.push(if state.clients.is_empty() && state.has_design {
        NextCommand::new("convoke show", "shows the last design")
    } else if state.clients.is_empty() {
        NextCommand::new("convoke design --rehearse", "shows a design; costs nothing")
    } else {
        NextCommand::new("convoke design \"FEATURE\"", "plans a feature with your agents")
    });
    commands.push(NextCommand::new("convoke status", "shows the project on one screen"));
    commands.truncate(3);
    commands
}

fn task_command(state: &ProjectState) -> NextCommand {
    if let (None, Some(command)) = (&state.current, &state.waiting) {
        return NextCommand::new(command, "takes over what the project has in its other folder");
    }
    match (&state.current, &state.plan) {
        (Some(task), _) if task.is_begun => {
            NextCommand::new(format!("convoke task done {}", task.id), "completes the current task")
        }
        (Some(_), _) => NextCommand::new("convoke task start", "starts the next task"),
        (None, Some((plan, tasks))) => {
            let tasks = if *tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") };
            let command = format!("convoke task import {}", shell_word(plan));
            NextCommand::new(command, format!("adds its {tasks}"))
        }
        (None, None) if state.has_tasks_on_other_branch => NextCommand::new(
            "convoke task list --all-branches",
            "shows the open tasks of other branches",
        ),
        (None, None) => NextCommand::new("convoke task add \"TITLE\"", "adds a first task"),
    }
}
