//! Verdicts that are recorded, not read from words.

use convoke_domain::task::deed::{DeedKind, DeedRole, TaskDeed};
use convoke_domain::task::id::TaskId;
use convoke_domain::task::{Task, TaskStatus};
use convoke_store::deed::NewDeed;
use convoke_store::error::StoreError;
use serde::Serialize;

use super::TaskDesk;
use crate::failure::Failure;
use crate::person::refuse_judge;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// A verdict on a task.
#[derive(Debug, Clone)]
pub struct VerdictRequest {
    /// The task that the verdict is about.
    pub task: TaskId,
    /// The verdict.
    pub kind: DeedKind,
    /// The role that judged it, such as `spec-reviewer`.
    pub role: DeedRole,
    /// Why, on one line.
    pub because: Option<String>,
}

/// A verdict or a dispatch for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeedReport {
    /// The task's id.
    pub task: String,
    /// The recorded word, such as `pass`.
    pub verdict: &'static str,
    /// The role that judged.
    pub role: String,
    /// The agent that recorded it.
    pub recorded_by: String,
    /// The reason.
    pub because: Option<String>,
    /// The message that it came with.
    pub message_id: Option<i64>,
    /// The run that the lane is part of.
    pub run: Option<String>,
    /// When it was recorded.
    pub at: String,
    /// The member of the team who really recorded it, in a store that has a team.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub member: Option<String>,
    /// The kind, for the sentences that people read.
    #[serde(skip)]
    kind: DeedKind,
}

impl DeedReport {
    /// Reports a deed.
    pub fn new(deed: &TaskDeed) -> Self {
        Self {
            task: deed.task.to_string(),
            verdict: deed.kind.name(),
            role: deed.role.to_string(),
            recorded_by: deed.actor.to_string(),
            because: deed.reason.clone(),
            message_id: deed.message_id,
            run: deed.run.clone(),
            at: deed.at.to_string(),
            member: deed.member.clone(),
            kind: deed.kind,
        }
    }

    /// Says what was recorded. A role gives a verdict, and others send a role.
    pub fn words(&self) -> String {
        let role = &self.role;
        match self.kind {
            DeedKind::Work => format!("{role} was sent to work on it"),
            DeedKind::Dispatched => format!("{role} was sent to judge it"),
            DeedKind::Pass | DeedKind::Fail => format!("{} by {role}", self.verdict),
            DeedKind::NoVerdict => format!("no verdict by {role}"),
        }
    }

    /// Renders it in a line.
    pub fn line(&self) -> String {
        let why = self.because.as_ref().map_or(String::new(), |why| format!(": {why}"));
        format!("{}, recorded by @{}{why}", self.words(), self.recorded_by)
    }
}

/// A task with the verdict that was recorded on it.
#[derive(Debug, Clone)]
pub struct JudgedTask {
    /// The task that the verdict is about.
    pub task: Task,
    /// The verdict.
    pub deed: DeedReport,
}

/// Records a verdict on a task.
pub fn judge_task(desk: &TaskDesk<'_>, request: &VerdictRequest) -> Result<JudgedTask, Failure> {
    let TaskDesk { session, workspace, actor, .. } = desk;
    refuse_judge(session, &request.role)?;
    let task = known_task(workspace, &request.task)?;
    let deed = NewDeed {
        task: &request.task,
        kind: request.kind,
        role: &request.role,
        actor,
        reason: request.because.as_deref(),
        message_id: None,
        run: None,
    };
    let Workspace { store, scope } = workspace;
    let recorded = store.record_deed(scope, &deed, session.now()).map_err(refused)?;
    note_unless_started(session, &task);
    Ok(JudgedTask { task, deed: DeedReport::new(&recorded) })
}

/// Records a verdict on a task, unless the last deed of the role is the same one by the same agent: a
/// client repeats a call whose answer it did not get.
pub fn judge_task_once(
    desk: &TaskDesk<'_>,
    request: &VerdictRequest,
) -> Result<JudgedTask, Failure> {
    let Workspace { store, scope } = &desk.workspace;
    let deeds = store.deeds_of_task(scope, &request.task).map_err(refused)?;
    let last = deeds.iter().rfind(|deed| deed.role == request.role);
    let is_same = |deed: &&TaskDeed| {
        deed.kind == request.kind && deed.actor == desk.actor && deed.reason == request.because
    };
    match last.filter(is_same) {
        Some(deed) => {
            let task = known_task(&desk.workspace, &request.task)?;
            Ok(JudgedTask { task, deed: DeedReport::new(deed) })
        }
        None => judge_task(desk, request),
    }
}

/// Finds a task.
pub fn known_task(workspace: &Workspace, id: &TaskId) -> Result<Task, Failure> {
    let found = workspace.store.task(&workspace.scope, id).map_err(refused)?;
    found.ok_or_else(|| refused(StoreError::NoTask { id: id.clone() }))
}

/// Tells that a verdict changes nothing about a task that is not being worked on.
pub fn note_unless_started(session: &Session, task: &Task) {
    let state = match task.status {
        TaskStatus::InProgress => return,
        TaskStatus::Pending => "not started",
        TaskStatus::Completed => "completed",
        TaskStatus::Skipped => "skipped",
    };
    session.reporter().remark(format!(
        "{} is {state}; Convoke stores the verdict, and the task stays {state}",
        task.id
    ));
}
