//! `convoke task pass` and `fail`: verdicts that are recorded, not read from words.

use convoke_domain::scope::AgentName;
use convoke_domain::task::deed::{DeedKind, DeedRole, TaskDeed};
use convoke_domain::task::id::TaskId;
use convoke_domain::task::{Task, TaskStatus};
use convoke_store::deed::{DeedStore, NewDeed};
use convoke_store::error::StoreError;
use convoke_store::task::TaskStore;
use serde::Serialize;

use super::line;
use crate::app::{App, Format};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused, speaker};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The task
    #[arg(value_name = "ID", value_parser = TaskId::parse)]
    id: TaskId,

    /// The role that judged it, such as `spec-reviewer`
    #[arg(long, value_name = "ROLE", value_parser = DeedRole::parse)]
    by: DeedRole,

    /// Why, on one line
    #[arg(long, value_name = "TEXT", value_parser = line)]
    because: Option<String>,
}

/// A verdict or a dispatch for programs.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct DeedReport {
    task: String,
    verdict: &'static str,
    role: String,
    recorded_by: String,
    because: Option<String>,
    message_id: Option<i64>,
    run: Option<String>,
    at: String,
}

impl DeedReport {
    pub(in crate::cli) fn new(deed: &TaskDeed) -> Self {
        Self {
            task: deed.task.to_string(),
            verdict: deed.kind.name(),
            role: deed.role.to_string(),
            recorded_by: deed.actor.to_string(),
            because: deed.reason.clone(),
            message_id: deed.message_id,
            run: deed.run.clone(),
            at: deed.at.to_string(),
        }
    }

    /// Says it in a line.
    pub(in crate::cli) fn line(&self) -> String {
        let why = self.because.as_ref().map_or(String::new(), |why| format!(": {why}"));
        format!("{} by {}, recorded by @{}{why}", self.verdict, self.role, self.recorded_by)
    }
}

impl Args {
    pub(super) fn run(
        &self,
        kind: DeedKind,
        workspace: &Workspace,
        app: &App,
        actor: Option<&AgentName>,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let Workspace { store, scope } = workspace;
        let actor = speaker(actor, app)?;
        let task = known(workspace, &self.id)?;
        let deed = NewDeed {
            task: &self.id,
            kind,
            role: &self.by,
            actor: &actor,
            reason: self.because.as_deref(),
            message_id: None,
            run: None,
        };
        let recorded = store.record_deed(scope, &deed, now()).map_err(refused)?;
        warn_unless_started(&task, output);
        let report = DeedReport::new(&recorded);
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                output.data(&format!("{}  {}  {}\n", task.id, task.content, report.line()))?;
            }
        }
        Ok(Exit::Done)
    }
}

/// Finds a task.
pub(in crate::cli) fn known(workspace: &Workspace, id: &TaskId) -> Result<Task, Failure> {
    let found = workspace.store.task(&workspace.scope, id).map_err(refused)?;
    found.ok_or_else(|| refused(StoreError::NoTask { id: id.clone() }))
}

/// Says that a verdict changes nothing about a task that is not being worked on.
pub(in crate::cli) fn warn_unless_started(task: &Task, output: &Output) {
    let state = match task.status {
        TaskStatus::InProgress => return,
        TaskStatus::Pending => "not started",
        TaskStatus::Completed => "completed already",
        TaskStatus::Skipped => "skipped",
    };
    output.say(&format!(
        "note: {} is {state}; the verdict is kept and orders nothing about it",
        task.id
    ));
}
