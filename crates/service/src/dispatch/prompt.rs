//! The prompt of a fresh dispatch, and the block of what it demands to be read.

use std::collections::BTreeMap;

use convoke_domain::dispatch::required::{Reference, block};
use convoke_domain::dispatch::role::PromptProfile;
use convoke_domain::text::Text;
use convoke_domain::token::{Estimate, Tokenizer};
use convoke_engine::dispatch::{Dispatch, assemble, demanded};
use serde::Serialize;

use super::deed::{PrintedPrompt, PromptHandover, kind_of};
use super::materials::{ChangedFiles, PromptMaterials};
use super::no_files;
use super::post::{FoundPost, PostName, say_changes};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::dispatch::{ChangedBy, settings};

/// The prompt of a fresh dispatch.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DispatchPromptReport {
    /// The role's name.
    pub role: String,
    /// The feature's folder.
    pub feature: String,
    /// The generation of prompts.
    pub profile: &'static str,
    /// The role's prompt.
    pub prompt: String,
    /// How long it is, in characters.
    pub chars: usize,
    /// Its length in tokens, an estimate in tenths.
    pub tokens_x10: u64,
    /// The required reading.
    pub artifacts: Vec<ReferenceReport>,
    /// The keys of the role that committed files change.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub role_changed_by: ChangedBy,
    /// Remarks.
    pub diagnostics: Vec<String>,
}

/// The required reading of a dispatch.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArtifactsReport {
    /// The required reading.
    pub artifacts: Vec<ReferenceReport>,
    /// Remarks.
    pub diagnostics: Vec<String>,
    /// The block of the prompt that lists them.
    #[serde(skip)]
    pub block: String,
}

/// One line of the block.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReferenceReport {
    /// The document's label.
    pub label: String,
    /// The document's path, if it exists.
    pub path: Option<String>,
}

impl ReferenceReport {
    pub(super) fn all(references: &[Reference]) -> Vec<Self> {
        let report = |reference: &Reference| Self {
            label: reference.artifact.label(),
            path: reference.path.clone(),
        };
        references.iter().map(report).collect()
    }
}

/// Makes the prompt of a fresh dispatch, with the user's rules first, and records that the role was sent.
pub fn fresh_prompt(
    session: &Session,
    post: &PostName,
    materials: &PromptMaterials,
    handover: &PromptHandover,
) -> Result<DispatchPromptReport, Failure> {
    let settings = settings(session)?;
    let post = post.find(session, &settings)?;
    let FoundPost { role, feature, .. } = &post;
    say_changes([&role.name], &settings, session);
    let materials = materials.settle(&post)?;
    let dispatch = assemble(feature, &session.project, &materials.order(role))
        .map_err(|error| Failure::new(ErrorClass::Prerequisite, error))?;
    let Dispatch { prompt, references, diagnostics, .. } = dispatch;
    let printed = PrintedPrompt { session, role: &role.name, kind: kind_of(role), handover };
    let prompt = printed.finish(&prompt)?;
    Ok(DispatchPromptReport {
        role: role.name.to_string(),
        feature: feature.dir.display().to_string(),
        profile: materials.profile.name(),
        chars: Text::new(&prompt).chars(),
        tokens_x10: Estimate.count(Text::new(&prompt)).tenths(),
        prompt,
        artifacts: ReferenceReport::all(&references),
        role_changed_by: settings.changed_by(&role.name),
        diagnostics,
    })
}

/// Returns what a dispatch demands to be read.
pub fn artifacts(
    session: &Session,
    post: &PostName,
    profile: Option<PromptProfile>,
    changed: &ChangedFiles,
) -> Result<ArtifactsReport, Failure> {
    let settings = settings(session)?;
    let FoundPost { role, feature, .. } = post.find(session, &settings)?;
    let profile = profile.unwrap_or(settings.profile);
    let changed = changed.files(&role, session)?;
    let (references, diagnostics) =
        demanded(&feature, &session.project, &role, profile, &changed).map_err(no_files)?;
    let artifacts = ReferenceReport::all(&references);
    Ok(ArtifactsReport { artifacts, diagnostics, block: block(&references, role.noun) })
}
