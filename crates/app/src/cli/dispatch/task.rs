//! `convoke dispatch task`.

use convoke_domain::dispatch::role::RoleName;
use convoke_domain::dispatch::texts::task_instructions;
use convoke_domain::task::deed::DeedKind;
use convoke_domain::text::Text;
use convoke_engine::dispatch::task::{Choice, TaskDispatch, TaskError, TaskRequest, assemble};
use serde::Serialize;

use super::FeatureArg;
use super::deed::Dispatched;
use super::prompt::{ReferenceReport, say_remarks};
use crate::app::{App, Format};
use crate::config::dispatch::settings;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The task's number in `tasks.md`, such as `2.1`
    number: String,

    #[command(flatten)]
    feature: FeatureArg,

    /// Files to work on
    #[arg(long, value_name = "FILE", num_args = 1..)]
    files: Vec<String>,
}

#[derive(Serialize)]
struct Report<'a> {
    number: &'a str,
    title: &'a str,
    prompt: &'a str,
    chars: usize,
    artifacts: Vec<ReferenceReport>,
    sections: Vec<Section<'a>>,
    diagnostics: &'a [String],
}

/// What was taken of a document, and why.
#[derive(Serialize)]
struct Section<'a> {
    artifact: &'a str,
    id: Option<&'a str>,
    title: Option<&'a str>,
    reason: &'a str,
    chars: usize,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let settings = settings(app)?;
        let feature = self.feature.find(app, &settings)?;
        let request = TaskRequest {
            number: &self.number,
            rules: settings.rules,
            order: settings.task_order,
            prd_sections: settings.prd_sections,
            files: &self.files,
            instructions: task_instructions(),
        };
        let root = app.project.join(&settings.artifacts_root);
        let made = assemble(&feature, &app.project, &root, &request).map_err(failed)?;
        let role = RoleName { command: "implement".to_owned(), role: "implementer".to_owned() };
        let dispatched = Dispatched { app, role: &role, task: None };
        dispatched.record_start(DeedKind::Work, &app.reporter());
        let TaskDispatch { prompt, title, references, choices, diagnostics } = &made;
        say_remarks(app, diagnostics, output);
        match app.format {
            Format::Text => output.data(prompt)?,
            Format::Json => output.json(&Report {
                number: &self.number,
                title,
                prompt,
                chars: Text::new(prompt).chars(),
                artifacts: ReferenceReport::all(references),
                sections: choices.iter().map(section).collect(),
                diagnostics,
            })?,
        }
        Ok(Exit::Done)
    }
}

fn section(choice: &Choice) -> Section<'_> {
    Section {
        artifact: choice.artifact.file(),
        id: choice.id.as_deref(),
        title: choice.title.as_deref(),
        reason: &choice.reason,
        chars: choice.chars,
    }
}

fn failed(error: TaskError) -> Failure {
    let hint = match &error {
        TaskError::NoSuchTask { known, .. } => Some(format!("there are: {}", known.join(", "))),
        TaskError::NoTasks(_) | TaskError::Document(_) => None,
    };
    Failure::new(ErrorClass::Refused, error).maybe_hint(hint)
}
