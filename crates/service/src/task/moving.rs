//! Giving tasks another parent or another branch.

use convoke_domain::pin::Pin;
use convoke_domain::task::Task;
use convoke_domain::task::id::TaskId;
use convoke_domain::text::{counted, shell_word};
use convoke_store::task::Change;
use convoke_store::task_edit::{MovedTasks, TasksToMove};
use serde::Serialize;

use super::{TaskDesk, change};
use crate::failure::Failure;
use crate::user_only::{UserOnly, refuse_agents};
use crate::workspace::{Workspace, checked_out, refused};

/// Tasks that move to the desk's branch from another one.
#[derive(Debug, Clone)]
pub struct BranchMove {
    /// The tasks, whose parts move with them; without them, every task of the branch.
    pub ids: Option<Vec<TaskId>>,
    /// The branch that they come from; without it, the checked-out one.
    pub from_branch: Option<String>,
}

/// Tasks that are on another branch now.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MovedTasksReport {
    /// Their ids, with those of their parts.
    pub moved: Vec<String>,
    /// The ids that were taken there: the old one and the new one.
    pub renamed: Vec<[String; 2]>,
    /// How many messages came with all tasks of the branch.
    pub messages: usize,
    /// How many agents came with them.
    pub agents: usize,
    /// The branch that they came from.
    pub from_branch: String,
    /// The branch that they are on now.
    pub branch: String,
}

/// Makes tasks part of another one, or puts them to the top, one after another.
pub fn move_below(
    desk: &TaskDesk<'_>,
    ids: &[TaskId],
    parent: Option<&TaskId>,
) -> Result<Vec<Task>, Failure> {
    ids.iter().map(|id| change::apply(desk, id, &Change::Parent(parent))).collect()
}

/// Counts the user's rules that hold on a branch alone.
fn own_rules(desk: &TaskDesk<'_>, branch: &str) -> Result<usize, Failure> {
    let Workspace { store, scope } = &desk.workspace;
    let pins = store.all_pins(&scope.project).map_err(refused)?;
    let is_own = |pin: &&Pin| {
        pin.branch.as_deref() == Some(branch) && pin.task.is_none() && pin.plan.is_none()
    };
    Ok(if branch == scope.branch { 0 } else { pins.iter().filter(is_own).count() })
}

/// Brings tasks of another branch to the desk's. The user's rules for that branch come along only if
/// the user does this: an agent could otherwise be rid of them.
pub fn move_to_branch(
    desk: &TaskDesk<'_>,
    request: &BranchMove,
) -> Result<MovedTasksReport, Failure> {
    let TaskDesk { session, workspace: Workspace { store, scope }, .. } = desk;
    let from = request.from_branch.clone().unwrap_or_else(|| checked_out(session));
    let moving = match &request.ids {
        Some(ids) => TasksToMove::Tasks(ids),
        None if refuse_agents(session, UserOnly::Rules).is_ok() => TasksToMove::All,
        None => TasksToMove::AllButRules,
    };
    let left = if matches!(moving, TasksToMove::AllButRules) { own_rules(desk, &from)? } else { 0 };
    let moved = store.move_tasks(scope, &from, moving, session.now()).map_err(refused)?;
    let MovedTasks { ids, renamed, messages, agents } = &moved;
    let reporter = session.reporter();
    if left > 0 {
        let (rules, from) = (counted(left, "rule"), shell_word(&from));
        reporter.remark(format!(
            "{rules} of the user's stay on branch {from}; the user brings them along, in a \
             terminal, with `convoke task move --all --from-branch {from}`"
        ));
    }
    if ids.is_empty() {
        reporter
            .aside(format!("branch {from} has no tasks; see `convoke task list --all-branches`"));
    }
    for (old, new) in renamed {
        reporter.aside(format!("`{old}` is taken there; the task is now `{new}`"));
    }
    if messages + agents > 0 {
        let counts = [counted(*messages, "message"), counted(*agents, "agent")];
        reporter.remark(format!("{} came along from {from}", counts.join(" and ")));
    }
    Ok(MovedTasksReport {
        moved: ids.iter().map(ToString::to_string).collect(),
        renamed: renamed.iter().map(|(old, new)| [old.to_string(), new.to_string()]).collect(),
        messages: *messages,
        agents: *agents,
        from_branch: from,
        branch: scope.branch.clone(),
    })
}
