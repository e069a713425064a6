//! The files that a loop reviews, and whether they are still the approved ones.

use std::path::PathBuf;

use convoke_domain::dispatch::review_loop::LoopStop;
use convoke_domain::dispatch::role::{DispatchRole, Noun, PromptForm};
use convoke_domain::tree::TreeVerdict;
use convoke_engine::dispatch::feature::Feature;
use convoke_engine::git::diff::{WatchedFiles, look};
use convoke_store::review_loop::LoopEntry;

use super::Course;
use super::entry::Grounds;
use crate::lane::changes_by_others;
use crate::observer::Reporter;
use crate::settings::dispatch::Settings;

/// Returns the documents that a command's reviewers review, if each reviews one and no files.
pub(super) fn documents(
    command: &str,
    settings: &Settings,
    feature: &Feature,
) -> Option<Vec<PathBuf>> {
    let roles = settings.roles.all().iter().filter(|role| role.name.command == command);
    let reviewers =
        roles.filter(|role| role.noun == Noun::Review && role.form == PromptForm::Review);
    let document = |role: &DispatchRole| {
        let target = role.target.as_ref().filter(|_| !role.takes_files && !role.reads_diff)?;
        Some(feature.dir.join(target.file()))
    };
    reviewers.map(document).collect()
}

/// Warns if files changed while all agents were read-only, except Convoke's own files.
pub(super) fn warn_of_changes(verdict: Option<TreeVerdict>, reporter: &Reporter) {
    let changes = verdict.and_then(changes_by_others);
    if let Some(warning) = changes.and_then(|changes| changes.warning("the reviewers")) {
        reporter.warn(warning);
    }
}

impl Course<'_> {
    /// Returns the reviewed files as they are now: all of them, or only the documents where every
    /// reviewer reviews one.
    pub(super) fn tree(&self) -> Option<String> {
        let watched = self.documents.clone().map_or(WatchedFiles::Everything, WatchedFiles::Files);
        look(&self.session.project, &watched)
    }

    /// Tells whether the files that an earlier call approved are still the reviewed ones.
    pub(super) fn still_approved(&self, entries: &[LoopEntry]) -> LoopStop {
        let last = entries.iter().filter(|entry| entry.passed.is_some());
        let last = last.max_by_key(|entry| (entry.iteration, entry.at));
        let reviewed = last.and_then(|entry| Grounds::of(entry).tree);
        match (reviewed, self.tree()) {
            (Some(reviewed), Some(now)) if reviewed == now => LoopStop::Approved,
            (Some(_), Some(_)) => LoopStop::Outdated,
            (None, _) | (_, None) => {
                let note = "approved by an earlier call; Convoke cannot tell whether files changed \
                            since";
                self.session.reporter().remark(note);
                LoopStop::Approved
            }
        }
    }
}
