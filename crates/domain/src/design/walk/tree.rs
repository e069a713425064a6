//! The working tree at the boundaries of a design.

use super::{DesignEnding, Halt, Need, Walk, Walked};
use crate::design::event::{Boundary, Recovery, Tree};
use crate::design::outline::SuspectTree;
use crate::design::warning::DesignWarning;

impl Walk<'_> {
    /// Goes on only if agents that may read left the tree as it was.
    pub(super) fn check_tree(&mut self, boundary: Boundary) -> Walked<()> {
        for round in 0.. {
            let Some((at, tree)) = self.facts.trees(boundary).get(round) else {
                return Err(Halt::Need(Need::Tree(boundary)));
            };
            self.state.at(*at);
            let Tree::Suspect { status, evidence } = tree else {
                if round > 0 {
                    self.results().tree = None;
                }
                return Ok(());
            };
            self.results().tree = Some(SuspectTree { status: *status, boundary });
            self.warn(DesignWarning::TreeChanged {
                status: *status,
                boundary,
                evidence: evidence.clone(),
            });
            let decided = self.facts.recoveries(boundary).get(round);
            let Some((at, recovery)) = decided else {
                return Err(Halt::Need(Need::Recover(boundary)));
            };
            self.state.at(*at);
            if *recovery == Recovery::Cancelled {
                return Err(Halt::End(DesignEnding::DirtyTree));
            }
        }
        Ok(())
    }
}
