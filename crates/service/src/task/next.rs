//! Chooses the task to start next, and starts it.

use convoke_domain::scope::AgentName;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::next::{Beginner, Obstacles, next_to_begin, of_plan_first};
use convoke_domain::task::outline::clipped;
use convoke_domain::task::tree::TaskNode;
use convoke_domain::task::{Task, TaskState};
use convoke_store::error::StoreError;
use convoke_store::task::{ActivePlan, Change};

use super::list::read;
use super::{TaskDesk, change, parent};
use crate::failure::{ErrorClass, Failure};
use crate::message::note_stranger;
use crate::settings::wake::settings;
use crate::workspace::{Workspace, refused};

/// How much of a title a note shows, in characters.
const MOST_TITLE: usize = 80;

/// There is nothing to begin.
#[derive(Debug, thiserror::Error)]
#[error("no task can be started: {0}")]
struct NothingToStart(String);

/// The task to begin next.
#[derive(Debug, Clone)]
pub enum NextTask {
    /// The first task that can be started now.
    Task(Box<Task>),
    /// No task can be started, for this reason.
    Nothing(String),
}

/// Finds the task to start next, or returns why no task can start.
pub fn next_task(desk: &TaskDesk<'_>) -> Result<NextTask, Failure> {
    let actor = &desk.actor;
    let leads = actor.is_human() || *actor == settings(desk.session)?.orchestrator;
    let (beginner, of) =
        if leads { (Beginner::Leader, None) } else { (Beginner::Agent(actor), Some(actor)) };
    let (active, mut others) = in_plan_order(desk, of)?;
    let found = next_to_begin(&active, beginner).or_else(|| next_to_begin(&others, beginner));
    note_urgent(desk, of, found.map(|node| &node.task.id))?;
    if let Some(node) = found {
        return Ok(NextTask::Task(Box::new(node.task.clone())));
    }
    others.extend(active);
    if others.is_empty() {
        let words = "there are no tasks yet; `convoke task add TITLE` adds one, and \
                     `convoke task import FILE` those of a plan";
        return Ok(NextTask::Nothing(words.to_owned()));
    }
    Ok(NextTask::Nothing(Obstacles::among(&others).words()))
}

/// Names a task of high priority outside the plan that is being worked on: it is not the next one, but
/// must not be forgotten either.
fn note_urgent(
    desk: &TaskDesk<'_>,
    agent: Option<&AgentName>,
    chosen: Option<&TaskId>,
) -> Result<(), Failure> {
    let Workspace { store, scope } = &desk.workspace;
    let plan = match store.active_plan(scope, agent).map_err(refused)? {
        ActivePlan::Nothing => return Ok(()),
        ActivePlan::WithoutFile => None,
        ActivePlan::File(plan) => Some(plan),
    };
    let found = store.urgent_elsewhere(scope, plan.as_deref(), agent, 2).map_err(refused)?;
    if let Some(task) = found.iter().find(|task| Some(&task.id) != chosen) {
        let (id, title) = (&task.id, clipped(&task.content, MOST_TITLE));
        desk.session.reporter().aside(format!(
            "`{id}` has high priority outside the plan that is being worked on: {title}"
        ));
    }
    Ok(())
}

/// Reads all tasks: those of the plan that is being worked on, and all others.
pub(super) fn in_plan_order(
    desk: &TaskDesk<'_>,
    agent: Option<&AgentName>,
) -> Result<(Vec<TaskNode>, Vec<TaskNode>), Failure> {
    let Workspace { store, scope } = &desk.workspace;
    let roots = read(desk, scope)?;
    Ok(match store.active_plan(scope, agent).map_err(refused)? {
        ActivePlan::Nothing => (Vec::new(), roots),
        ActivePlan::WithoutFile => of_plan_first(roots, None),
        ActivePlan::File(plan) => of_plan_first(roots, Some(&plan)),
    })
}

/// Starts a task; without an id, the next one that no other process takes first.
pub fn start_task(desk: &TaskDesk<'_>, id: Option<&TaskId>) -> Result<Task, Failure> {
    if let Some(id) = id {
        return start(desk, id, &Change::Start(&desk.actor));
    }
    loop {
        let chosen = match next_task(desk)? {
            NextTask::Task(task) => task,
            NextTask::Nothing(why) => {
                return Err(Failure::new(ErrorClass::Refused, NothingToStart(why))
                    .hint("`convoke task tree` shows all tasks; `task start ID` begins one"));
            }
        };
        let started = start(desk, &chosen.id, &Change::StartChosen(&desk.actor, &chosen));
        let is_taken = |failure: &Failure| {
            matches!(failure.error.downcast_ref(), Some(StoreError::Taken { .. }))
        };
        if !started.as_ref().is_err_and(is_taken) {
            return started;
        }
    }
}

fn start(desk: &TaskDesk<'_>, id: &TaskId, change: &Change<'_>) -> Result<Task, Failure> {
    let Workspace { store, scope } = &desk.workspace;
    if desk.is_actor_named {
        note_stranger(desk.session, &desk.workspace, scope, &desk.actor)?;
    }
    if let Some(task) = store.task(scope, id).map_err(refused)?.filter(Task::is_waiting) {
        let ids: Vec<_> = task.waits_for.iter().map(ToString::to_string).collect();
        let words = format!("`{id}` comes after {}, still open", ids.join(", "));
        desk.session.reporter().remark(words);
    }
    let closed = parent::closed_above(&desk.workspace, id)?;
    let task = change::apply(desk, id, change)?;
    for above in closed {
        let state = TaskState::Stored(above.status).words();
        desk.session.reporter().remark(format!(
            "{} was {state} and is in progress again, because {id} is part of it",
            above.id
        ));
    }
    Ok(task)
}
