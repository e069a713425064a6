//! The work tree of a branch: tasks that outlive every session.

mod change;
mod deed;
mod designed;
mod edit;
mod history;
mod import;
mod list;
mod moving;
mod next;
mod page;
mod parent;
mod plan;
mod preview;
mod progress;
mod report;

use std::path::PathBuf;

use convoke_domain::design::quote::is_invisible;
use convoke_domain::scope::AgentName;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::priority::TaskPriority;
use convoke_domain::text::is_disruptive;
use convoke_store::task::NewTask;

pub use self::change::{RemovedCount, TaskStep, change_current_task, change_task, remove_task};
pub use self::deed::{
    DeedReport, JudgedTask, VerdictRequest, judge_task, judge_task_once, known_task,
    note_unless_started,
};
pub use self::edit::{EditRequest, ReadTask, WriteTask, edit_task, reorder_task, task_body};
pub use self::history::{
    RemovedTaskReport, RestoredCount, TaskChangeReport, UndoneStep, removed_tasks, restore_task,
    task_log, undo_task_step,
};
pub use self::import::{ImportRequest, ImportSource, import_tasks};
pub use self::list::{
    BranchTasks, BranchTasksReport, ShownTask, ShownTaskReport, TaskListRequest, TaskListing,
    TaskTree, list_all_branches, list_tasks, show_task, task_report, task_tree,
};
pub use self::moving::{BranchMove, MovedTasksReport, move_below, move_to_branch};
pub use self::next::{NextTask, next_task, start_task};
pub use self::page::{
    AgentAtWorkReport, BranchCountReport, HeldTaskReport, PlanCountReport, TaskExcerpt,
    TaskPageReport, TaskPlans, task_page,
};
pub use self::plan::plan_file;
pub use self::preview::{ImportPreviewReport, PreviewedOutcome, PreviewedTask, preview_import};
pub use self::progress::{CurrentTask, TaskProgress, task_progress};
pub use self::report::{AddedTasksReport, TaskReport};
use crate::elsewhere;
use crate::failure::Failure;
use crate::session::Session;
use crate::workspace::{Workspace, reader, refused, speaker};

/// The branch of the tasks, and the actor.
#[derive(Debug, Clone, Default)]
pub struct TaskPlace {
    /// Another branch than the checked-out one.
    pub branch: Option<String>,
    /// The actor; without it, the agent of the environment or session, else the person.
    pub actor: Option<AgentName>,
}

/// The tasks of one branch, opened for one actor.
pub struct TaskDesk<'a> {
    session: &'a Session,
    workspace: Workspace,
    actor: AgentName,
    /// Whether the caller named the actor, so that it may be a typo.
    is_actor_named: bool,
}

impl<'a> TaskDesk<'a> {
    /// Returns the branch whose tasks these are.
    pub fn branch(&self) -> &str {
        &self.workspace.scope.branch
    }

    /// Opens the tasks of a branch for `work` that changes nothing. It also works where Convoke cannot
    /// tell which agent is acting.
    pub fn open_to_read<T>(
        session: &'a Session,
        place: &TaskPlace,
        work: impl FnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        Self::open_for(reader(place.actor.as_ref(), session)?, session, place, work)
    }

    /// Opens the tasks of a branch for `work`. If another branch has a missing task, the failure
    /// names that branch.
    pub fn open<T>(
        session: &'a Session,
        place: &TaskPlace,
        work: impl FnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        Self::open_for(speaker(place.actor.as_ref(), session)?, session, place, work)
    }

    /// Returns the tasks of a workspace that is open already, to read them.
    pub(crate) const fn over(
        session: &'a Session,
        workspace: Workspace,
        reader: AgentName,
    ) -> Self {
        Self { session, workspace, actor: reader, is_actor_named: false }
    }

    fn open_for<T>(
        actor: AgentName,
        session: &'a Session,
        place: &TaskPlace,
        work: impl FnOnce(&Self) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut workspace = Workspace::open(session, place.branch.as_deref())?;
        workspace.store = workspace.store.acting_for(actor.clone());
        workspace.keep_repository(session);
        let is_actor_named = place.actor.is_some();
        let desk = Self { session, workspace, actor, is_actor_named };
        let done = work(&desk);
        desk.workspace.mark_folder(session);
        done.map_err(|failure| elsewhere::name_branch(failure, &desk.workspace))
    }
}

/// Tasks to add, one for each title.
#[derive(Debug, Clone)]
pub struct AddTasksRequest {
    /// The tasks' titles, each on one line.
    pub titles: Vec<String>,
    /// The task they are part of.
    pub parent: Option<TaskId>,
    /// The plan they come from; without it, the parent's.
    pub plan: Option<PathBuf>,
    /// The assigned agent.
    pub agent: Option<AgentName>,
    /// The skill that the agents work by.
    pub skill: Option<String>,
    /// The version of that skill that is meant; only together with `skill`.
    pub skill_version: Option<String>,
    /// A longer description.
    pub body: Option<String>,
    /// The tasks that come before them.
    pub after: Vec<TaskId>,
    /// How urgent they are among their siblings.
    pub priority: TaskPriority,
}

/// Adds tasks in the order of the titles.
pub fn add_tasks(
    desk: &TaskDesk<'_>,
    request: &AddTasksRequest,
) -> Result<AddedTasksReport, Failure> {
    let plan = request.plan.as_deref().map(|plan| plan_file(desk.session, plan)).transpose()?;
    let body = request.body.as_deref().map(task_body).transpose()?;
    let task = |title| NewTask {
        parent: request.parent.as_ref(),
        plan_file: plan.as_deref(),
        content: title,
        body: body.as_deref(),
        priority: request.priority,
        after: &request.after,
        agent: request.agent.as_ref(),
        skill: request.skill.as_deref(),
        skill_version: request.skill_version.as_deref(),
    };
    let tasks: Vec<_> = request.titles.iter().map(|title| task(title)).collect();
    let Workspace { store, scope } = &desk.workspace;
    let ids = store.add_tasks(scope, &tasks, desk.session.now()).map_err(refused)?;
    Ok(AddedTasksReport::new(&ids))
}

/// Reads one filled line, such as a title; a second one could pass for another author's words.
pub fn filled_line(text: &str) -> Result<String, &'static str> {
    let line = text.trim();
    let is_line_end = |c: char| matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}');
    if line.chars().all(|c| c.is_whitespace() || is_invisible(c)) {
        Err("it must not be empty")
    } else if line.contains(is_line_end) {
        Err("it must be one line")
    } else if line.contains(is_disruptive) {
        Err("it has a hidden character")
    } else {
        Ok(line.to_owned())
    }
}
