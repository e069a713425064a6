//! What an import would add, without changing anything.

use convoke_domain::plan::{ParsedPlan, one_line, renamed_from};
use convoke_domain::task::{Task, TaskStatus};
use convoke_domain::text::counted;
use convoke_store::foreign::is_database;
use serde::Serialize;

use super::TaskDesk;
use super::import::{
    ImportRequest, ImportSource, REVIEWED, bare_tasks, check, foreign_tasks, moved_plan,
    note_changes, note_not_taken, source_plan,
};
use crate::failure::Failure;
use crate::hooks::DryRun;
use crate::workspace::{Workspace, refused};

/// The tasks that an import would find.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportPreviewReport {
    /// The plan, relative to the project, or the other program's database.
    pub source: String,
    /// Its tasks, in its order.
    pub tasks: Vec<PreviewedTask>,
}

/// A task that an import would find.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PreviewedTask {
    /// The task's title in the plan.
    pub title: String,
    /// What the import would do with it.
    pub outcome: PreviewedOutcome,
    /// The id of a task that is here already.
    pub id: Option<String>,
}

/// What an import would do with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PreviewedOutcome {
    /// Add it.
    New,
    /// Add it as completed, because every box of it is checked.
    Done,
    /// Nothing: it is here already.
    Known,
}

impl PreviewedOutcome {
    /// Returns the word that people and programs read.
    pub const fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Done => "done",
            Self::Known => "known",
        }
    }
}

/// Tells what an import would add. Changes neither the store nor a file.
pub fn preview_import(
    desk: &TaskDesk<'_>,
    request: &ImportRequest,
) -> Result<ImportPreviewReport, Failure> {
    let report = match &request.source {
        ImportSource::File(path) if is_database(path) => {
            let Workspace { store, scope } = &desk.workspace;
            let mut tasks = Vec::new();
            for task in foreign_tasks(desk, path)? {
                let known = store.task(scope, &task.id).map_err(refused)?;
                tasks.push(PreviewedTask::new(&task.content, known.as_ref(), task.status));
            }
            ImportPreviewReport { source: path.display().to_string(), tasks }
        }
        ImportSource::File(_) | ImportSource::Run(_) => preview_plan(desk, request)?,
    };
    Ok(report)
}

fn preview_plan(
    desk: &TaskDesk<'_>,
    request: &ImportRequest,
) -> Result<ImportPreviewReport, Failure> {
    let TaskDesk { session, workspace: Workspace { store, scope }, .. } = desk;
    let (source, text) = source_plan(session, &request.source, DryRun::DryRun)?;
    let plan = ParsedPlan::parse(&text);
    check(&plan, session.project.join(&source))?;
    note_not_taken(session, &plan);
    let titles: Vec<_> = plan.tasks.iter().map(|section| one_line(section.title)).collect();
    let titles: Vec<_> = titles.iter().map(String::as_str).collect();
    let moved = moved_plan(desk, &source, &titles)?;
    if let Some(moved) = &moved {
        session.reporter().remark(format!(
            "`{moved}` is gone and has the same tasks; they would belong to `{source}`"
        ));
    }
    let plan_file = moved.as_ref().unwrap_or(&source);
    let known = store.tasks_of_plan(scope, Some(plan_file)).map_err(refused)?;
    note_changes(desk, plan_file, &titles, &known)?;
    let tasks: Vec<_> = plan
        .tasks
        .iter()
        .zip(&titles)
        .map(|(section, title)| {
            let here = known.iter().find(|task| task.content == **title);
            let here = here.or_else(|| renamed_from(title, &titles, &known));
            let is_done = section.is_done();
            let status = if is_done { TaskStatus::Completed } else { TaskStatus::Pending };
            PreviewedTask::new(title, here, status)
        })
        .collect();
    if request.adds_reviews {
        let new = tasks.iter().filter(|task| task.outcome == PreviewedOutcome::New).count();
        let tasks = counted(new + bare_tasks(&known).len(), "task");
        session.reporter().remark(format!("{tasks} would get: {}", REVIEWED.join(", ")));
    }
    Ok(ImportPreviewReport { source, tasks })
}

impl ImportPreviewReport {
    /// Returns how many tasks an import would add.
    pub fn new_tasks(&self) -> usize {
        self.tasks.iter().filter(|task| task.outcome != PreviewedOutcome::Known).count()
    }
}

impl PreviewedTask {
    fn new(title: &str, here: Option<&Task>, status: TaskStatus) -> Self {
        let outcome = match (here, status) {
            (Some(_), _) => PreviewedOutcome::Known,
            (None, TaskStatus::Completed) => PreviewedOutcome::Done,
            (None, _) => PreviewedOutcome::New,
        };
        Self { title: one_line(title), outcome, id: here.map(|task| task.id.to_string()) }
    }
}
