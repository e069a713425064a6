//! `convoke dispatch prompt` and `artifacts`.

use std::collections::BTreeMap;

use convoke_domain::dispatch::required::{Reference, block};
use convoke_domain::dispatch::role::PromptProfile;
use convoke_domain::text::Text;
use convoke_domain::token::{Estimate, Tokenizer};
use convoke_engine::dispatch::{Dispatch, assemble, demanded};
use serde::Serialize;

use super::deed::{Dispatched, kind_of};
use super::materials::{ChangedArgs, MaterialArgs};
use super::{PostArgs, no_files, profile, say_changes};
use crate::app::{App, Format, Verbosity};
use crate::config::dispatch::{ChangedBy, settings};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, Voice};

#[derive(Debug, clap::Args)]
pub(super) struct PromptArgs {
    #[command(flatten)]
    post: PostArgs,

    #[command(flatten)]
    materials: MaterialArgs,
}

#[derive(Debug, clap::Args)]
pub(super) struct ArtifactsArgs {
    #[command(flatten)]
    post: PostArgs,

    /// Which generation of prompts [default: seed]
    #[arg(long, value_parser = profile())]
    profile: Option<PromptProfile>,

    #[command(flatten)]
    changed: ChangedArgs,
}

#[derive(Serialize)]
struct Report<'a> {
    role: String,
    feature: String,
    profile: &'static str,
    prompt: &'a str,
    chars: usize,
    tokens_x10: u64,
    artifacts: Vec<ReferenceReport>,
    /// What committed files change of the role.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    role_changed_by: ChangedBy,
    diagnostics: &'a [String],
}

/// One line of the block.
#[derive(Serialize)]
pub(super) struct ReferenceReport {
    label: String,
    path: Option<String>,
}

impl ReferenceReport {
    pub(super) fn all(references: &[Reference]) -> Vec<Self> {
        let report = |it: &Reference| Self { label: it.artifact.label(), path: it.path.clone() };
        references.iter().map(report).collect()
    }
}

impl PromptArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let settings = settings(app)?;
        let (role, feature) = self.post.find(app, &settings)?;
        say_changes([&role.name], &settings, output);
        let materials = self.materials.read(app, &settings, &role)?;
        let dispatch = assemble(&feature, &app.project, &materials.order(&role))
            .map_err(|error| Failure::new(Exit::Surroundings, error))?;
        let Dispatch { prompt, references, diagnostics, .. } = &dispatch;
        Dispatched { app, role: &role.name, task: None }
            .record_start(kind_of(&role), &Voice::default());
        say_remarks(app, diagnostics, output);
        match app.format {
            Format::Text => output.data(prompt)?,
            Format::Json => output.json(&Report {
                role: role.name.to_string(),
                feature: feature.dir.display().to_string(),
                profile: materials.profile.name(),
                prompt,
                chars: Text::new(prompt).chars(),
                tokens_x10: Estimate.count(Text::new(prompt)).tenths(),
                artifacts: ReferenceReport::all(references),
                role_changed_by: settings.changed_by(&role.name),
                diagnostics,
            })?,
        }
        Ok(Exit::Done)
    }
}

impl ArtifactsArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let settings = settings(app)?;
        let (role, feature) = self.post.find(app, &settings)?;
        let profile = self.profile.unwrap_or(settings.profile);
        let changed = self.changed.files(app)?;
        let (references, diagnostics) =
            demanded(&feature, &app.project, &role, profile, &changed).map_err(no_files)?;
        say_remarks(app, &diagnostics, output);
        match app.format {
            Format::Text => output.data(&format!("{}\n", block(&references, role.noun)))?,
            Format::Json => output.json(&serde_json::json!({
                "artifacts": ReferenceReport::all(&references), "diagnostics": diagnostics,
            }))?,
        }
        Ok(Exit::Done)
    }
}

/// What is missing is worth a word; JSON has it inside.
pub(super) fn say_remarks(app: &App, remarks: &[String], output: &Output) {
    if app.format == Format::Text || app.verbosity == Verbosity::Verbose {
        for remark in remarks {
            output.say(&format!("note: {remark}"));
        }
    }
}
