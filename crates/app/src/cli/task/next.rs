//! What to begin next, and beginning it.

use convoke_domain::scope::AgentName;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::next::{Obstacles, next_to_begin};
use convoke_domain::task::{Task, TaskStatus};
use convoke_store::task::{Change, TaskStore};

use super::change::{self, print};
use super::list::read;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

#[derive(Debug, clap::Args)]
pub(super) struct StartArgs {
    /// The task [default: the one that `convoke task next` shows]
    #[arg(value_name = "ID", value_parser = TaskId::parse)]
    id: Option<TaskId>,
}

/// There is nothing to begin.
#[derive(Debug, thiserror::Error)]
#[error("no task can be started: {0}")]
struct NothingToStart(String);

/// Finds the task to begin next, or says why no task can begin.
fn next(workspace: &Workspace, actor: &AgentName) -> Result<Result<Task, Obstacles>, Failure> {
    let roots = read(workspace, &workspace.scope)?;
    let found = next_to_begin(&roots, actor).map(|node| node.task.clone());
    Ok(found.ok_or_else(|| Obstacles::among(&roots)))
}

pub(super) fn show(
    workspace: &Workspace,
    app: &App,
    actor: &AgentName,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match next(workspace, actor)? {
        Ok(task) => print(&task, app, output),
        Err(obstacles) => {
            match app.format {
                Format::Json => output.json(&serde_json::Value::Null)?,
                Format::Text => output.data("No task can be started.\n")?,
            }
            output.say(&format!("note: {}", obstacles.words()));
            Ok(Exit::No)
        }
    }
}

impl StartArgs {
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        actor: &AgentName,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let id = match &self.id {
            Some(id) => id.clone(),
            None => match next(workspace, actor)? {
                Ok(task) => task.id,
                Err(obstacles) => {
                    return Err(Failure::new(Exit::No, NothingToStart(obstacles.words()))
                        .hint("`convoke task tree` shows all tasks; `task start ID` begins one"));
                }
            },
        };
        let task = workspace.store.task(&workspace.scope, &id).map_err(refused)?;
        if let Some(task) = task.filter(Task::is_waiting) {
            let ids: Vec<_> = task.waits_for.iter().map(ToString::to_string).collect();
            output.say(&format!("note: `{id}` comes after {}, still open", ids.join(", ")));
        }
        change::apply(workspace, app, actor, &id, &Change::Status(TaskStatus::InProgress), output)
    }
}
