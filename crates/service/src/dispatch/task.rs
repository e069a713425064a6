//! The prompt of one task's implementer.

use std::path::PathBuf;

use convoke_domain::dispatch::role::RoleName;
use convoke_domain::dispatch::texts::task_instructions;
use convoke_domain::task::deed::DeedKind;
use convoke_domain::text::Text;
use convoke_engine::dispatch::task::{
    SectionChoice, TaskDispatch, TaskError, TaskRequest, assemble,
};
use serde::Serialize;

use super::deed::{PrintedPrompt, PromptHandover};
use super::post::find_feature;
use super::prompt::ReferenceReport;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::dispatch::settings;

/// A task of a feature's list.
#[derive(Debug, Clone)]
pub struct TaskPromptRequest {
    /// The task's number in `tasks.md`, such as `2.1`.
    pub number: String,
    /// The feature's folder, or the name or number of one.
    pub feature: PathBuf,
    /// Files to work on.
    pub files: Vec<String>,
    /// What goes with the prompt.
    pub handover: PromptHandover,
}

/// The prompt of one task's implementer.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskPromptReport {
    /// The task's number.
    pub number: String,
    /// The task's title.
    pub title: String,
    /// The task's prompt.
    pub prompt: String,
    /// How long it is, in characters.
    pub chars: usize,
    /// The required reading.
    pub artifacts: Vec<ReferenceReport>,
    /// The parts of documents that the prompt quotes.
    pub sections: Vec<TaskSectionReport>,
    /// Remarks.
    pub diagnostics: Vec<String>,
}

/// The part of a document that the prompt gives, and why.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskSectionReport {
    /// The document's file name.
    pub artifact: String,
    /// The section's id.
    pub id: Option<String>,
    /// The section's title.
    pub title: Option<String>,
    /// Why it was selected.
    pub reason: String,
    /// How long it is, in characters.
    pub chars: usize,
}

/// Makes the prompt of one task's implementer, and records that the role was sent.
pub fn task_prompt(
    session: &Session,
    request: &TaskPromptRequest,
) -> Result<TaskPromptReport, Failure> {
    let settings = settings(session)?;
    let feature = find_feature(Some(&request.feature), session, &settings)?;
    let order = TaskRequest {
        number: &request.number,
        rules: settings.rules,
        order: settings.task_order,
        prd_sections: settings.prd_sections,
        files: &request.files,
        instructions: task_instructions(),
    };
    let root = session.project.join(&settings.artifacts_root);
    let made = assemble(&feature, &session.project, &root, &order).map_err(failed)?;
    let role = RoleName { command: "implement".to_owned(), role: "implementer".to_owned() };
    let TaskDispatch { prompt, title, references, choices, diagnostics } = made;
    let (kind, handover) = (DeedKind::Work, &request.handover);
    let printed = PrintedPrompt { session, role: &role, kind, handover };
    let prompt = printed.finish(&prompt)?;
    Ok(TaskPromptReport {
        number: request.number.clone(),
        title,
        chars: Text::new(&prompt).chars(),
        prompt,
        artifacts: ReferenceReport::all(&references),
        sections: choices.into_iter().map(section).collect(),
        diagnostics,
    })
}

fn section(choice: SectionChoice) -> TaskSectionReport {
    let SectionChoice { artifact, id, title, reason, chars } = choice;
    TaskSectionReport { artifact: artifact.file().to_owned(), id, title, reason, chars }
}

fn failed(error: TaskError) -> Failure {
    let hint = match &error {
        TaskError::NoSuchTask { known, .. } => Some(format!("known tasks: {}", known.join(", "))),
        TaskError::NoTasks(_) | TaskError::Document(_) => None,
    };
    Failure::new(ErrorClass::Refused, error).maybe_hint(hint)
}
