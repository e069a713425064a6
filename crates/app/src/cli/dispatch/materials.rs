//! The materials of a prompt, as the user names them.

use std::path::PathBuf;

use convoke_domain::dispatch::role::PromptProfile;
use convoke_service::dispatch::{ChangedFiles, PromptMaterials, read_issues};
use convoke_service::failure::Failure;

use super::{profile, read, read_named};

#[derive(Debug, clap::Args)]
pub(super) struct ChangedArgs {
    /// The changed files
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "changed_since")]
    files: Vec<String>,

    /// Take the files that changed since this commit
    #[arg(long, value_name = "REV")]
    changed_since: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(super) struct MaterialArgs {
    /// The style of the prompt [default: seed]
    #[arg(long, value_parser = profile())]
    profile: Option<PromptProfile>,

    /// The number of the round, starting at 1
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    iteration: u32,

    /// Stop after this many rounds [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max: Option<u32>,

    /// Issues from earlier rounds, as JSON: a review, a list of reviews, or a list of issues
    #[arg(long, value_name = "FILE")]
    issues: Option<PathBuf>,

    #[command(flatten)]
    changed: ChangedArgs,

    /// Use this rubric instead of the built-in one
    #[arg(long, value_name = "FILE")]
    rubric: Option<PathBuf>,

    /// Use this answer format instead of the built-in one
    #[arg(long, value_name = "FILE")]
    returns: Option<PathBuf>,

    /// The result of the review before a phase's review: text, or a review as JSON
    #[arg(long, value_name = "FILE")]
    outcome: Option<PathBuf>,

    /// What the next phase expects; for a phase's reviewer
    #[arg(long, value_name = "FILE")]
    next_phase: Option<PathBuf>,
}

impl MaterialArgs {
    /// Reads every file that the user named.
    pub(super) fn read(&self) -> Result<PromptMaterials, Failure> {
        Ok(PromptMaterials {
            profile: self.profile,
            iteration: self.iteration,
            max: self.max,
            rubric: read_named(self.rubric.as_ref())?,
            returns: read_named(self.returns.as_ref())?,
            changed: self.changed.files(),
            outcome: read_named(self.outcome.as_ref())?,
            next_phase: read_named(self.next_phase.as_ref())?,
            issues: match &self.issues {
                Some(path) => read_issues(path, &read(path)?)?,
                None => Vec::new(),
            },
        })
    }
}

impl ChangedArgs {
    pub(super) fn files(&self) -> ChangedFiles {
        match &self.changed_since {
            Some(commit) => ChangedFiles::Since(commit.clone()),
            None => ChangedFiles::Listed(self.files.clone()),
        }
    }
}
