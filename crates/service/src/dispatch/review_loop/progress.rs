//! What comes next in a loop, and whether a person had a turn.

use std::collections::BTreeSet;

use convoke_domain::dispatch::review_loop::{
    Fixed, FixedBy, LoopLimits, LoopStop, ReviewStep, next_step,
};
use convoke_domain::dispatch::role::Proof;
use convoke_store::review_loop::{AnswerUsage, LoopEntry};

use super::entry::{Grounds, answers};
use super::summary::is_by_hand;
use super::{BY_HAND, Course};
use crate::failure::Failure;
use crate::workspace::{Workspace, refused};

impl Course<'_> {
    /// A call after the loop stopped for a person means that the reviewers should answer again.
    pub(super) fn take_up(&self) -> Result<(), Failure> {
        let Workspace { store, scope } = &self.workspace;
        let name = self.feature.name();
        let stop = store.last_stop(scope, self.name(&name)).map_err(refused)?;
        let (entries, dismissed) = self.read()?;
        // Who dismisses a finding wants the loop to go on with the others.
        let Some(stop) = stop.filter(|_| self.request.dismiss.is_empty()) else { return Ok(()) };
        let after = entries.iter().map(|entry| entry.iteration).max().unwrap_or_default();
        let is_persons = matches!(stop, LoopStop::ByHand | LoopStop::NoProgress);
        let is_open = match self.step(&entries, &dismissed) {
            ReviewStep::Fix { .. } => is_persons,
            ReviewStep::Stop(LoopStop::NoProgress | LoopStop::Disputed | LoopStop::BelowFloor) => {
                is_persons || matches!(stop, LoopStop::Disputed | LoopStop::BelowFloor)
            }
            ReviewStep::Review { .. } | ReviewStep::Stop(_) => false,
        };
        if is_open {
            self.keep(&self.entry(BY_HAND, after, AnswerUsage::default()))?;
        }
        Ok(())
    }

    /// Decides what comes next, by the recorded answers.
    pub(super) fn step(&self, entries: &[LoopEntry], dismissed: &BTreeSet<String>) -> ReviewStep {
        let attempts = entries.iter().filter(|entry| entry.passed.is_none());
        let by = |entry: &LoopEntry| {
            if is_by_hand(entry) { FixedBy::Person } else { FixedBy::Agent }
        };
        let fixed: Vec<_> =
            attempts.map(|entry| Fixed { after: entry.iteration, by: by(entry) }).collect();
        // A pass without proof does not count where proof is required, so that reviewer answers
        // again.
        let needs_proof = self.request.proof == Proof::Required;
        let counts = |entry: &&LoopEntry| {
            entry.passed != Some(true) || !needs_proof || Grounds::of(entry).proven
        };
        let counted: Vec<_> = entries.iter().filter(counts).cloned().collect();
        let limits =
            LoopLimits { max: self.max, floor_from: self.floor_from, dismissed: dismissed.clone() };
        next_step(&self.reviewers, &answers(&counted), &fixed, &limits)
    }
}
