//! Assembling dispatches from a feature's folder.

pub mod answer;
pub mod evidence;
pub mod feature;
pub mod next;
pub mod project;
pub mod review_history;
pub mod role_files;
pub mod savings;
pub mod scaffold;
pub mod task;

use std::path::Path;

use convoke_domain::dispatch::artifact::FeatureArtifact;
use convoke_domain::dispatch::prompt::{Iteration, PromptParts, prompt};
use convoke_domain::dispatch::required::{Prd, Reference};
use convoke_domain::dispatch::role::{DispatchRole, PromptProfile};
use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::text::Text;

use self::feature::{Feature, MAX_BYTES};
use self::role_files::RoleFilesError;
pub use self::role_files::demanded;
use crate::file;

/// The materials of a dispatch, beside the feature.
#[derive(Debug, Clone, Copy)]
pub struct DispatchOrder<'a> {
    /// The role that receives the prompt.
    pub role: &'a DispatchRole,
    /// The order of its sections.
    pub profile: PromptProfile,
    /// The role's instructions.
    pub rubric: &'a str,
    /// The form of the answer.
    pub returns: &'a str,
    /// Files that were changed.
    pub files: &'a [String],
    /// The earlier reviewer's result.
    pub outcome: Option<&'a str>,
    /// The next phase's expectations.
    pub next_phase: Option<&'a str>,
    /// The round.
    pub iteration: Iteration<'a>,
}

/// A prompt with how it came about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dispatch {
    /// The prompt's text.
    pub prompt: String,
    /// The required reading.
    pub references: Vec<Reference>,
    /// The length of all listed and pasted documents, in characters.
    pub artifact_chars: u64,
    /// Remarks, by their codes.
    pub diagnostics: Vec<String>,
}

/// An artifact that must be pasted and cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DispatchError {
    /// The artifact is missing.
    #[error("cannot review `{artifact}`: `{feature}` does not contain it")]
    NoTarget {
        /// The document that the role reviews.
        artifact: FeatureArtifact,
        /// The feature's folder.
        feature: String,
    },
    /// The artifact gives no text.
    #[error("cannot read `{artifact}` in `{feature}`: {reason}")]
    Unreadable {
        /// The document that the role reviews.
        artifact: FeatureArtifact,
        /// The feature's folder.
        feature: String,
        /// What was found instead of a text.
        reason: Unreadable,
    },
    /// The role demands files that cannot be demanded.
    #[error(transparent)]
    Files(#[from] RoleFilesError),
}

/// Resolves the files that a role must read, with remarks about missing ones.
pub fn references(
    feature: &Feature,
    project: &Path,
    artifacts: &[&FeatureArtifact],
) -> (Vec<Reference>, Vec<String>) {
    let mut remarks = feature.diagnostics.clone();
    // Only a role that must read the PRD needs its place.
    let prd = if artifacts.contains(&&FeatureArtifact::PRD) {
        let (prd, found) = feature.prd(project);
        remarks.extend(found);
        prd
    } else {
        Prd::None
    };
    let dir = feature.dir.display().to_string();
    let references: Vec<_> =
        artifacts.iter().map(|artifact| Reference::resolve(artifact, &dir, &prd)).collect();
    for reference in
        references.iter().filter(|reference| reference.artifact != FeatureArtifact::PRD)
    {
        let is_file =
            |path: &String| std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        if !reference.path.as_ref().is_some_and(is_file) {
            remarks.push(format!("artifact_missing:{}", reference.artifact));
        }
    }
    (references, remarks)
}

/// Assembles the prompt of a fresh dispatch. Changes nothing.
pub fn assemble(
    feature: &Feature,
    project: &Path,
    order: &DispatchOrder<'_>,
) -> Result<Dispatch, DispatchError> {
    let (references, diagnostics) =
        demanded(feature, project, order.role, order.profile, order.files)?;
    let target = match order.role.pasted(order.profile) {
        Some(artifact) => Some(text(feature, artifact)?),
        None => None,
    };
    let prompt = prompt(&PromptParts {
        role: order.role,
        profile: order.profile,
        rubric: order.rubric,
        references: &references,
        target: target.as_deref(),
        files: order.files,
        outcome: order.outcome,
        next_phase: order.next_phase,
        iteration: order.iteration,
        returns: order.returns,
    });
    let pasted = target.as_deref().map_or(0, chars);
    let artifact_chars = pasted + listed_chars(&references);
    Ok(Dispatch { prompt, references, artifact_chars, diagnostics })
}

/// Reads an artifact that is needed.
pub(crate) fn text(feature: &Feature, artifact: &FeatureArtifact) -> Result<String, DispatchError> {
    let (artifact, dir) = (artifact.clone(), feature.dir.display().to_string());
    match feature.read(&artifact) {
        FileFinding::Text(text) => Ok(text),
        FileFinding::Absent => Err(DispatchError::NoTarget { artifact, feature: dir }),
        FileFinding::Unreadable(reason) => {
            Err(DispatchError::Unreadable { artifact, feature: dir, reason })
        }
    }
}

fn chars(text: &str) -> u64 {
    Text::new(text).chars() as u64
}

/// Sums the lengths of the listed files that can be read.
fn listed_chars(references: &[Reference]) -> u64 {
    let paths = references.iter().filter_map(|reference| reference.path.as_deref());
    let texts = paths.filter_map(|path| file::text(Path::new(path), MAX_BYTES));
    texts.map(|text| chars(&text)).sum()
}
