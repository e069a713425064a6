//! What to begin next, and beginning it.

use convoke_domain::scope::AgentName;
use convoke_domain::task::Task;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::next::{Beginner, Obstacles, next_to_begin, of_plan_first};
use convoke_domain::task::tree::TaskNode;
use convoke_store::task::{ActivePlan, Change};

use super::change::{self, print};
use super::list::read;
use crate::app::{App, Format};
use crate::config::wake::settings;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
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
fn next(
    workspace: &Workspace,
    app: &App,
    actor: &AgentName,
) -> Result<Result<Task, Obstacles>, Failure> {
    let leads = actor.is_human() || *actor == settings(app)?.orchestrator;
    let (beginner, of) =
        if leads { (Beginner::Leader, None) } else { (Beginner::Agent(actor), Some(actor)) };
    let (active, mut others) = in_plan_order(workspace, of)?;
    let found = next_to_begin(&active, beginner).or_else(|| next_to_begin(&others, beginner));
    if let Some(node) = found {
        return Ok(Ok(node.task.clone()));
    }
    others.extend(active);
    Ok(Err(Obstacles::among(&others)))
}

/// Reads all tasks: those of the plan that is being worked on, and all others.
pub(super) fn in_plan_order(
    workspace: &Workspace,
    agent: Option<&AgentName>,
) -> Result<(Vec<TaskNode>, Vec<TaskNode>), Failure> {
    let Workspace { store, scope } = workspace;
    let roots = read(workspace, scope)?;
    Ok(match store.active_plan(scope, agent).map_err(refused)? {
        ActivePlan::Nothing => (Vec::new(), roots),
        ActivePlan::WithoutFile => of_plan_first(roots, None),
        ActivePlan::File(plan) => of_plan_first(roots, Some(&plan)),
    })
}

pub(super) fn show(
    workspace: &Workspace,
    app: &App,
    actor: &AgentName,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match next(workspace, app, actor)? {
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
            None => match next(workspace, app, actor)? {
                Ok(task) => task.id,
                Err(obstacles) => {
                    return Err(Failure::new(
                        ErrorClass::Refused,
                        NothingToStart(obstacles.words()),
                    )
                    .hint("`convoke task tree` shows all tasks; `task start ID` begins one"));
                }
            },
        };
        let task = workspace.store.task(&workspace.scope, &id).map_err(refused)?;
        if let Some(task) = task.filter(Task::is_waiting) {
            let ids: Vec<_> = task.waits_for.iter().map(ToString::to_string).collect();
            output.say(&format!("note: `{id}` comes after {}, still open", ids.join(", ")));
        }
        change::apply(workspace, app, actor, &id, &Change::Start(actor), output)
    }
}
