//! The materials of a prompt, as the user names them.

use std::path::{Path, PathBuf};

use convoke_domain::dispatch::prompt::{Iteration, ReviewerOutcome, outcome};
use convoke_domain::dispatch::review::{Issue, Review};
use convoke_domain::dispatch::role::{DispatchRole, PromptForm, PromptProfile};
use convoke_domain::dispatch::texts;
use convoke_domain::finding::FileFinding;
use convoke_engine::dispatch::DispatchOrder;
use convoke_engine::dispatch::answer::{failed_issues, kept};
use convoke_engine::file;
use convoke_engine::git::diff::{WatchedFiles, changes_since};
use serde_json::Value;

use super::DispatchFailure;
use super::post::FoundPost;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::dispatch::Settings;

/// No rubric a person writes is larger.
const MAX_RUBRIC: u64 = 1024 * 1024;

/// The files that were changed, as a caller names them.
#[derive(Debug, Clone)]
pub enum ChangedFiles {
    /// These, relative to the project.
    Listed(Vec<String>),
    /// All that changed since a commit.
    Since(String),
}

/// What a caller chooses for one prompt of a role.
#[derive(Debug, Clone)]
pub struct PromptMaterials {
    /// The generation of prompts, instead of the settings' own.
    pub profile: Option<PromptProfile>,
    /// The round, from one.
    pub iteration: u32,
    /// The most rounds, instead of the settings' own.
    pub max: Option<u32>,
    /// The reviews of earlier rounds.
    pub issues: Vec<Review>,
    /// The changed files.
    pub changed: ChangedFiles,
    /// The role's instructions, instead of the settings' or the built-in text.
    pub rubric: Option<String>,
    /// The form of the answer, instead of the settings' or the built-in text.
    pub returns: Option<String>,
    /// The earlier reviewer's result, for a phase's reviewer: text, or its review as JSON.
    pub outcome: Option<String>,
    /// The next phase's expectations, for a phase's reviewer.
    pub next_phase: Option<String>,
}

/// The same, settled for one role.
pub(super) struct Materials {
    pub(super) profile: PromptProfile,
    rubric: String,
    pub(super) returns: String,
    pub(super) files: Vec<String>,
    outcome: Option<String>,
    next_phase: Option<String>,
    issues: Vec<Issue>,
    pub(super) iteration: u32,
    max: u32,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot tell what changed since `{commit}`")]
struct NoChanges {
    commit: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot dispatch `{role}`: it reviews what changed and needs `--changed-since COMMIT`")]
struct NoCommit {
    role: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot start round {iteration}: the limit is {max}")]
struct BeyondLast {
    iteration: u32,
    max: u32,
}

impl PromptMaterials {
    /// Returns what a round of a loop is made of.
    pub(super) fn of_round(
        iteration: u32,
        max: u32,
        issues: Vec<Review>,
        changed: ChangedFiles,
    ) -> Self {
        Self {
            profile: None,
            iteration,
            max: Some(max),
            issues,
            changed,
            rubric: None,
            returns: None,
            outcome: None,
            next_phase: None,
        }
    }

    /// Resolves all materials for a role.
    pub(super) fn settle(&self, post: &FoundPost<'_>) -> Result<Materials, Failure> {
        let FoundPost { session, settings, role, .. } = post;
        let own = |named: &Option<String>, configured: Option<&PathBuf>, built_in: &str| match (
            named, configured,
        ) {
            (Some(text), _) => Ok(text.clone()),
            (None, Some(path)) => configured_text(session, path),
            (None, None) => Ok(built_in.to_owned()),
        };
        let max = self.max.unwrap_or(settings.max_iterations);
        if self.iteration > max {
            let error = BeyondLast { iteration: self.iteration, max };
            let hint = format!("allow more rounds with `--max {}`", self.iteration);
            return Err(Failure::new(ErrorClass::Usage, error).hint(hint));
        }
        let outcome = self.outcome.as_ref();
        let next_phase = self.next_phase.as_ref();
        Ok(Materials {
            profile: self.profile.unwrap_or(settings.profile),
            rubric: own(&self.rubric, settings.rubrics.get(&role.name), texts::rubric(role))?,
            returns: own(&self.returns, settings.returns.get(&role.name), texts::returns(role))?,
            files: self.changed.files(role, session)?,
            outcome: outcome.map(|text| outcome_text(text, before(settings, role), max)),
            next_phase: next_phase.map(|text| text.trim().to_owned()),
            issues: self.issues(role),
            iteration: self.iteration,
            max,
        })
    }

    /// Returns the failed issues for an author; a reviewer sees all its issues again.
    fn issues(&self, role: &DispatchRole) -> Vec<Issue> {
        match role.form {
            PromptForm::Fix => failed_issues(&self.issues),
            PromptForm::Review | PromptForm::PhaseReview => {
                self.issues.iter().flat_map(|review| review.issues.clone()).collect()
            }
        }
    }
}

/// Parses a file with earlier reviews: a review, a list of reviews, or a list of issues, as JSON.
pub fn read_issues(path: &Path, text: &str) -> Result<Vec<Review>, Failure> {
    kept(text).ok_or_else(|| {
        let expected = "reviews or issues";
        let error = DispatchFailure::Unexpected { path: path.to_owned(), expected };
        Failure::new(ErrorClass::Usage, error)
            .hint("a review reads {\"approved\": false, \"issues\": [{\"severity\": \"blocker\", \"description\": \"…\"}]}")
    })
}

impl ChangedFiles {
    /// Returns the files that were changed, relative to the project. A role that must read them
    /// needs a commit, or names of files.
    pub(super) fn files(
        &self,
        role: &DispatchRole,
        session: &Session,
    ) -> Result<Vec<String>, Failure> {
        let commit = match self {
            Self::Listed(files) if files.is_empty() && role.reads_diff => {
                let error = NoCommit { role: role.name.to_string() };
                return Err(Failure::new(ErrorClass::Usage, error)
                    .hint("`--changed-since HEAD` names your uncommitted changes")
                    .hint("`--changed-since main` names all that this branch changed"));
            }
            Self::Listed(files) => return Ok(files.clone()),
            Self::Since(commit) => commit,
        };
        let changes = changes_since(&session.project, commit, &WatchedFiles::Everything)
            .ok_or_else(|| {
                let error = NoChanges { commit: commit.clone() };
                Failure::new(ErrorClass::Prerequisite, error)
                    .hint("name a commit of this repository")
            })?;
        Ok(changes.files)
    }
}

impl Materials {
    pub(super) fn order<'a>(&'a self, role: &'a DispatchRole) -> DispatchOrder<'a> {
        DispatchOrder {
            role,
            profile: self.profile,
            rubric: &self.rubric,
            returns: &self.returns,
            files: &self.files,
            outcome: self.outcome.as_deref(),
            next_phase: self.next_phase.as_deref(),
            iteration: Iteration {
                number: self.iteration,
                max: self.max,
                issues: &self.issues,
                note: None,
            },
        }
    }
}

/// Reads a text that a project's configuration names; it may not lead out of the project.
fn configured_text(session: &Session, path: &Path) -> Result<String, Failure> {
    let path = session.project.join(path);
    let error = match file::read_below(&session.project, &path, MAX_RUBRIC) {
        FileFinding::Text(text) => return Ok(text),
        FileFinding::Absent => DispatchFailure::Absent { path },
        FileFinding::Unreadable(reason) => DispatchFailure::Unreadable { path, reason },
    };
    Err(Failure::new(ErrorClass::Usage, error).hint("`dispatch.roles` names it"))
}

/// Returns who reviews a phase's document before its phase reviewer does.
fn before<'a>(settings: &'a Settings, role: &DispatchRole) -> Option<&'a str> {
    let of_command =
        |other: &&DispatchRole| other.name.command == role.name.command && other.target.is_some();
    settings.roles.all().iter().find(of_command).map(|other| other.name.role.as_str())
}

/// A review becomes the three bullets; other text stays as it is.
fn outcome_text(text: &str, before: Option<&str>, max: u32) -> String {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let reviewer = value["reviewer"].as_str().or(before);
    let is_review = value["approved"].is_boolean();
    let (Some(reviews), Some(reviewer)) = (kept(text).filter(|_| is_review), reviewer) else {
        return text.trim().to_owned();
    };
    let number = |name: &str| value[name].as_u64().and_then(|number| u32::try_from(number).ok());
    let max = number("max").unwrap_or(max);
    let review = &reviews[0];
    outcome(&ReviewerOutcome {
        reviewer,
        approved: review.passes(),
        iteration: number("iteration").unwrap_or(1),
        max,
        issues: &review.issues,
    })
}
