//! What a prompt is made of, as the user names it.

use std::path::{Path, PathBuf};

use convoke_domain::dispatch::prompt::{Iteration, ReviewerOutcome, outcome};
use convoke_domain::dispatch::review::Issue;
use convoke_domain::dispatch::role::{DispatchRole, PromptForm, PromptProfile};
use convoke_domain::dispatch::texts;
use convoke_engine::dispatch::Order;
use convoke_engine::dispatch::answer::{failed_issues, kept};
use convoke_engine::file;
use convoke_engine::git::diff::{Watched, changes_since};
use serde_json::Value;

use super::{DispatchFailure, profile, read};
use crate::app::App;
use crate::config::dispatch::Settings;
use crate::exit::Exit;
use crate::failure::Failure;

/// No rubric a person writes is larger.
const MAX_RUBRIC: u64 = 1024 * 1024;

#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct ChangedArgs {
    /// Files that were changed
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "changed_since")]
    files: Vec<String>,

    /// List the files that changed since a commit
    #[arg(long, value_name = "REV")]
    changed_since: Option<String>,
}

#[derive(Debug, Clone, clap::Args)]
pub(super) struct MaterialArgs {
    /// Which generation of prompts [default: seed]
    #[arg(long, value_parser = profile())]
    pub(super) profile: Option<PromptProfile>,

    /// The round, from one
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) iteration: u32,

    /// The most rounds [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max: Option<u32>,

    /// What was found before: a review, a list of reviews, or a list of issues, as JSON
    #[arg(long, value_name = "FILE")]
    issues: Option<PathBuf>,

    #[command(flatten)]
    pub(super) changed: ChangedArgs,

    /// What the role is asked, instead of the built-in text
    #[arg(long, value_name = "FILE")]
    rubric: Option<PathBuf>,

    /// How it is to answer, instead of the built-in text
    #[arg(long, value_name = "FILE")]
    returns: Option<PathBuf>,

    /// How the reviewer before a phase's reviewer ended: text, or its review as JSON
    #[arg(long, value_name = "FILE")]
    outcome: Option<PathBuf>,

    /// What the next phase expects, for a phase's reviewer
    #[arg(long, value_name = "FILE")]
    next_phase: Option<PathBuf>,
}

/// The same, read and settled.
pub(super) struct Materials {
    pub(super) profile: PromptProfile,
    rubric: String,
    pub(super) returns: String,
    files: Vec<String>,
    outcome: Option<String>,
    next_phase: Option<String>,
    issues: Vec<Issue>,
    iteration: u32,
    max: u32,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot tell what changed since `{commit}`")]
struct NoChanges {
    commit: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot begin iteration {iteration}: the last one is {max}")]
struct BeyondLast {
    iteration: u32,
    max: u32,
}

impl MaterialArgs {
    /// Returns what a round of a loop is made of.
    pub(super) fn of_round(
        iteration: u32,
        max: u32,
        issues: Option<PathBuf>,
        changed_since: Option<String>,
    ) -> Self {
        Self {
            profile: None,
            iteration,
            max: Some(max),
            issues,
            changed: ChangedArgs { files: Vec::new(), changed_since },
            rubric: None,
            returns: None,
            outcome: None,
            next_phase: None,
        }
    }

    pub(super) fn read(
        &self,
        app: &App,
        settings: &Settings,
        role: &DispatchRole,
    ) -> Result<Materials, Failure> {
        let own = |named: &Option<PathBuf>, configured: Option<&PathBuf>, built_in: &str| match (
            named, configured,
        ) {
            (Some(path), _) => read(path),
            (None, Some(path)) => configured_text(app, path),
            (None, None) => Ok(built_in.to_owned()),
        };
        let text = |path: &Option<PathBuf>| path.as_ref().map(|path| read(path)).transpose();
        let max = self.max.unwrap_or(settings.max_iterations);
        if self.iteration > max {
            let error = BeyondLast { iteration: self.iteration, max };
            let hint = format!("let there be more with `--max {}`", self.iteration);
            return Err(Failure::new(Exit::Usage, error).hint(hint));
        }
        Ok(Materials {
            profile: self.profile.unwrap_or(settings.profile),
            rubric: own(&self.rubric, settings.rubrics.get(&role.name), texts::rubric(role))?,
            returns: own(&self.returns, settings.returns.get(&role.name), texts::returns(role))?,
            files: self.changed.files(app)?,
            outcome: text(&self.outcome)?
                .map(|text| outcome_text(&text, before(settings, role), max)),
            next_phase: text(&self.next_phase)?.map(|text| text.trim().to_owned()),
            issues: self.issues(role)?,
            iteration: self.iteration,
            max,
        })
    }

    fn issues(&self, role: &DispatchRole) -> Result<Vec<Issue>, Failure> {
        let Some(path) = &self.issues else { return Ok(Vec::new()) };
        let reviews = kept(&read(path)?).ok_or_else(|| {
            let expected = "reviews or issues";
            let error = DispatchFailure::Unexpected { path: path.clone(), expected };
            Failure::new(Exit::Usage, error)
                .hint("a review reads {\"approved\": false, \"issues\": [{\"severity\": \"blocker\", \"description\": \"…\"}]}")
        })?;
        // Only what failed is fixed; a reviewer is reminded of everything it said.
        Ok(match role.form {
            PromptForm::Fix => failed_issues(&reviews),
            PromptForm::Review | PromptForm::PhaseReview => {
                reviews.into_iter().flat_map(|review| review.issues).collect()
            }
        })
    }
}

impl ChangedArgs {
    /// Returns the files that were changed, relative to the project.
    pub(super) fn files(&self, app: &App) -> Result<Vec<String>, Failure> {
        let Some(commit) = &self.changed_since else { return Ok(self.files.clone()) };
        let changes =
            changes_since(&app.project, commit, &Watched::Everything).ok_or_else(|| {
                let error = NoChanges { commit: commit.clone() };
                Failure::new(Exit::Surroundings, error).hint("name a commit of this repository")
            })?;
        Ok(changes.files)
    }
}

impl Materials {
    pub(super) fn order<'a>(&'a self, role: &'a DispatchRole) -> Order<'a> {
        Order {
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
fn configured_text(app: &App, path: &Path) -> Result<String, Failure> {
    use convoke_domain::finding::FileFinding;
    let path = app.project.join(path);
    let error = match file::read_below(&app.project, &path, MAX_RUBRIC) {
        FileFinding::Text(text) => return Ok(text),
        FileFinding::Absent => DispatchFailure::Absent { path },
        FileFinding::Unreadable(reason) => DispatchFailure::Unreadable { path, reason },
    };
    Err(Failure::new(Exit::Usage, error).hint("`dispatch.roles` names it"))
}

/// Returns who reviews a phase's document before its phase reviewer does.
fn before<'a>(settings: &'a Settings, role: &DispatchRole) -> Option<&'a str> {
    let of_command =
        |it: &&DispatchRole| it.name.command == role.name.command && it.target.is_some();
    settings.roles.all().iter().find(of_command).map(|it| it.name.role.as_str())
}

/// A review becomes the three bullets; other text stays as it is.
fn outcome_text(text: &str, before: Option<&str>, max: u32) -> String {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    let reviewer = value["reviewer"].as_str().or(before);
    let is_review = value["approved"].is_boolean();
    let (Some(reviews), Some(reviewer)) = (kept(text).filter(|_| is_review), reviewer) else {
        return text.trim().to_owned();
    };
    let number = |name: &str| value[name].as_u64().and_then(|it| u32::try_from(it).ok());
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
