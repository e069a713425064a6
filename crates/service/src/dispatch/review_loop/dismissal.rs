//! Findings that a person dismissed: they keep no loop from its end.

use std::collections::BTreeSet;

use convoke_store::review_loop::{AnswerUsage, LoopEntry};

use super::Course;
use super::entry::findings;
use crate::dispatch::DispatchFailure;
use crate::failure::{ErrorClass, Failure};
use crate::person::refuse_decision;
use crate::workspace::refused;

/// What the record of a dismissal has in place of a role, before the finding's id. No role's name has
/// a space in it, so that no agent's answer can look like one.
const DISMISSED: &str = "dismissed ";

/// Returns the finding that an entry dismisses, if it is one of a person's dismissals.
fn dismissed_by(entry: &LoopEntry) -> Option<&str> {
    entry.role.strip_prefix(DISMISSED)
}

impl Course<'_> {
    /// Returns all entries of reviewers and fixers, and the findings that a person dismissed.
    pub(super) fn read(&self) -> Result<(Vec<LoopEntry>, BTreeSet<String>), Failure> {
        let store = &self.workspace.store;
        let name = self.feature.name();
        let entries = store.answers(&self.workspace.scope, self.name(&name)).map_err(refused)?;
        let (dismissals, entries): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| dismissed_by(entry).is_some());
        let dismissed = dismissals.iter().filter_map(dismissed_by).map(str::to_owned);
        Ok((entries, dismissed.collect()))
    }

    /// Records the findings that the person dismisses in this call. Each must have been found.
    pub(super) fn dismiss(&self) -> Result<(), Failure> {
        if self.request.dismiss.is_empty() {
            return Ok(());
        }
        refuse_decision(self.session)?;
        let (entries, _) = self.read()?;
        let reviews = entries.iter().filter(|entry| entry.passed.is_some());
        let known: BTreeSet<_> = reviews.flat_map(findings).map(|(id, _)| id).collect();
        for id in &self.request.dismiss {
            if !known.contains(id) {
                let error = DispatchFailure::NoFinding { id: id.clone() };
                return Err(Failure::new(ErrorClass::Usage, error)
                    .hint("the summary of the loop begins each finding with its id"));
            }
        }
        let last = entries.iter().map(|entry| entry.iteration).max().unwrap_or_default();
        for id in &self.request.dismiss {
            self.keep(&self.entry(&format!("{DISMISSED}{id}"), last, AnswerUsage::default()))?;
        }
        Ok(())
    }
}
