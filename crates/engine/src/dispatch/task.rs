//! Assembling the prompt of one task's implementer.

use std::path::Path;

use convoke_domain::dispatch::artifact::FeatureArtifact;
use convoke_domain::dispatch::extract::{FoundSection, Rules, Scoped, scope, titled};
use convoke_domain::dispatch::project_context::context;
use convoke_domain::dispatch::required::{Prd, Reference};
use convoke_domain::dispatch::task_list::{NoTasks, References, tasks};
use convoke_domain::dispatch::task_prompt::{NO_REFERENCES, TaskOrder, TaskPromptParts, prompt};

use super::feature::{Feature, MAX_BYTES};
use super::project::project_context;
use super::{DispatchError, references, text};
use crate::file;

/// A request for a task's prompt.
#[derive(Debug, Clone, Copy)]
pub struct TaskRequest<'a> {
    /// The task's number.
    pub number: &'a str,
    /// How sections are selected.
    pub rules: Rules,
    /// The order in which sections appear.
    pub order: TaskOrder,
    /// Whether the prompt quotes only the PRD's two sections, instead of a reference to all of it.
    pub prd_sections: bool,
    /// The files to work on.
    pub files: &'a [String],
    /// The instructions for the work and the answer.
    pub instructions: &'a str,
}

/// Why a section was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionChoice {
    /// The document of the section.
    pub artifact: FeatureArtifact,
    /// The section's id; `None` for the whole document.
    pub id: Option<String>,
    /// The heading, where one was found.
    pub title: Option<String>,
    /// Why the section belongs to the task, in words.
    pub reason: String,
    /// How long it is, in characters.
    pub chars: usize,
}

/// A task's prompt with how it came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskDispatch {
    /// The prompt's text.
    pub prompt: String,
    /// The task's words.
    pub title: String,
    /// The required reading.
    pub references: Vec<Reference>,
    /// The selected parts of each document, with reasons.
    pub choices: Vec<SectionChoice>,
    /// Remarks, by their codes.
    pub diagnostics: Vec<String>,
}

/// A task that cannot be dispatched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TaskError {
    /// Its list, or a document that it needs, gives no text.
    #[error(transparent)]
    Document(#[from] DispatchError),
    /// There are no tasks.
    #[error(transparent)]
    NoTasks(#[from] NoTasks),
    /// There is no such task.
    #[error("there is no task {number} in `tasks.md`")]
    NoSuchTask {
        /// The given number.
        number: String,
        /// The numbers of existing tasks.
        known: Vec<String>,
    },
}

/// Assembles the prompt. Changes nothing.
pub fn assemble(
    feature: &Feature,
    project: &Path,
    root: &Path,
    request: &TaskRequest<'_>,
) -> Result<TaskDispatch, TaskError> {
    let list = text(feature, &FeatureArtifact::TASKS)?;
    let all = tasks(&list)?;
    let task = all.iter().find(|task| task.number == request.number).ok_or_else(|| {
        let known = all.iter().map(|task| task.number.to_owned()).collect();
        TaskError::NoSuchTask { number: request.number.to_owned(), known }
    })?;
    let is_twice = all.iter().filter(|task| task.number == request.number).count() > 1;
    let mut reads = vec![&FeatureArtifact::PRD, &FeatureArtifact::SPEC];
    let prd = if request.prd_sections { prd_sections(feature, project) } else { None };
    if prd.is_some() {
        reads.remove(0);
    }
    let (references, mut diagnostics) = references(feature, project, &reads);
    if is_twice {
        diagnostics.push(format!("task_number_twice:{}", request.number));
    }
    let ids = task.source().map(References::parse).unwrap_or_default();
    if ids.is_empty() {
        diagnostics.push(NO_REFERENCES.to_owned());
    } else if ids.plan.is_empty() || ids.design.is_empty() {
        diagnostics.push("partial_refs".to_owned());
    }
    let mut choices = Vec::new();
    let mut scoped = |artifact: FeatureArtifact, ids: &[String]| {
        let document = match text(feature, &artifact) {
            Ok(document) => document,
            Err(DispatchError::NoTarget { .. } | DispatchError::Files(_)) => {
                diagnostics.push(format!("artifact_missing:{artifact}"));
                return None;
            }
            Err(DispatchError::Unreadable { reason, .. }) => {
                diagnostics.push(format!("artifact_unreadable:{artifact}: {reason}"));
                return None;
            }
        };
        Some(scoped_text(&artifact, &document, ids, request.rules, &mut choices))
    };
    let design = scoped(FeatureArtifact::DESIGN, &ids.design);
    let plan = scoped(FeatureArtifact::PLAN, &ids.plan);
    let project = project_context(feature, root).as_ref().and_then(context);
    let prompt = prompt(
        &TaskPromptParts {
            task: task.body,
            done_when: task.done_when(),
            design: design.as_deref(),
            plan: plan.as_deref(),
            prd: prd.as_deref(),
            references: &references,
            project: project.as_deref(),
            files: request.files,
            instructions: request.instructions,
        },
        request.order,
    );
    let title = task.title.to_owned();
    Ok(TaskDispatch { prompt, title, references, choices, diagnostics })
}

fn scoped_text(
    artifact: &FeatureArtifact,
    document: &str,
    ids: &[String],
    rules: Rules,
    choices: &mut Vec<SectionChoice>,
) -> String {
    let scoped = scope(document, ids, rules);
    let text = scoped.text(document);
    let whole = |reason: String| SectionChoice {
        artifact: artifact.clone(),
        id: None,
        title: None,
        reason,
        chars: text.chars().count(),
    };
    match &scoped {
        Scoped::WholeUnreferenced => {
            choices.push(whole("no task refers to a section of it".into()));
        }
        Scoped::WholeNotFound(id) => {
            choices.push(whole(format!(
                "`{id}` matches no heading, so the prompt names the whole file"
            )));
        }
        Scoped::Sections(found) => {
            choices.extend(found.iter().map(|(id, section)| chosen(artifact, id, section)));
        }
    }
    text
}

fn chosen(artifact: &FeatureArtifact, id: &str, found: &FoundSection<'_>) -> SectionChoice {
    let reason = if found.shortened {
        format!("the first heading that matches `{id}` without its last part")
    } else {
        format!("the first heading that matches `{id}`")
    };
    SectionChoice {
        artifact: artifact.clone(),
        id: Some(id.to_owned()),
        title: Some(found.title.to_owned()),
        reason,
        chars: found.text.chars().count(),
    }
}

/// Returns the two sections of the PRD that early prompts quoted for an implementer.
pub(super) fn prd_sections(feature: &Feature, project: &Path) -> Option<String> {
    let text = match feature.prd(project).0 {
        Prd::InFeature => text(feature, &FeatureArtifact::PRD).ok()?,
        Prd::Source(path) => file::text(Path::new(&path), MAX_BYTES)?,
        Prd::None => return None,
    };
    let sections = ["Problem Statement", "Goals"].iter();
    let sections = sections.filter_map(|name| Some(titled(&text, name)?.trim_end().to_owned()));
    let both = sections.collect::<Vec<_>>().join("\n\n");
    Some(both).filter(|both| !both.is_empty())
}
