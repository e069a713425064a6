//! A loop's checks before it spends anything, and its hint at the end.

use std::collections::BTreeMap;

use convoke_domain::dispatch::review_loop::LoopStop;
use convoke_domain::dispatch::role::RoleName;
use convoke_engine::client::Rights;

use super::Course;
use crate::dispatch::post::say_changes;
use crate::failure::Failure;
use crate::settings::dispatch::ChangedBy;

impl Course<'_> {
    /// Warns of keys that committed files change in the loop's roles, and returns them.
    pub(super) fn say_changes(&self) -> BTreeMap<String, ChangedBy> {
        let command = &self.request.command;
        let roles = self.reviewers.iter().chain(&self.fixer);
        let full_name = |role: &String| RoleName { command: command.clone(), role: role.clone() };
        let names: Vec<_> = roles.map(full_name).collect();
        say_changes(&names, self.settings, self.session);
        let changed = names.iter().map(|name| (name.to_string(), self.settings.changed_by(name)));
        changed.filter(|(_, by)| !by.is_empty()).collect()
    }

    /// Checks every reviewer, and the fixer if there is one, as far as that needs no agent. An
    /// unusable agent must not come to light after others were paid.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let fix_client = self.request.fix_client();
        let reviewers = self.reviewers.iter().map(|role| (role, &self.request.client));
        let fixer = self.fixer.iter().map(|role| (role, fix_client));
        for (role, client) in reviewers.chain(fixer) {
            self.assigned(self.next(role, 1, Vec::new()), client)?.check()?;
        }
        Ok(())
    }

    /// Returns the hint after a loop that ended without an approval.
    pub(super) fn hint(&self, stop: LoopStop) -> Option<String> {
        let reset = match &self.request.feature {
            Some(feature) => format!("convoke dispatch reset --feature {}", feature.display()),
            None => "convoke dispatch reset".to_owned(),
        };
        let is_writing = self.request.rights == Rights::Write;
        match stop {
            LoopStop::ByHand if !is_writing && !self.request.stops_for_fix => {
                Some(self.unwritten())
            }
            LoopStop::ByHand => {
                Some("fix the open findings, then run this command again".to_owned())
            }
            LoopStop::NoProgress => Some(
                "the fix left the same findings; fix them by hand, then run this command again"
                    .to_owned(),
            ),
            LoopStop::Disputed => Some(
                "two fixes left a finding that its reviewer returned; fix it by hand and run this \
                 command again, or settle it with `--dismiss ID`"
                    .to_owned(),
            ),
            LoopStop::BelowFloor => Some(
                "only warnings are left; fix them by hand and run this command again, dismiss one \
                 with `--dismiss ID`, or go on with `--floor-from 0`"
                    .to_owned(),
            ),
            LoopStop::Capped => Some(format!(
                "allow another round with `--max {}`, or start over with `{reset}`",
                self.max.saturating_add(1)
            )),
            LoopStop::Outdated => {
                Some(format!("files changed since the reviewers approved; `{reset}` starts over"))
            }
            LoopStop::Ambiguous | LoopStop::Unproven => {
                Some("run this command again to ask that reviewer again".to_owned())
            }
            LoopStop::Approved
            | LoopStop::LaneFailed
            | LoopStop::OverBudget
            | LoopStop::Cancelled => None,
        }
    }

    /// Names the fixer that would have worked with `--write`.
    fn unwritten(&self) -> String {
        match self.request.fixer(self.settings) {
            Some(fixer) => format!(
                "fix the open findings, then run this command again; with `--write`, `{fixer}` fixes them"
            ),
            None => "fix the open findings, then run this command again".to_owned(),
        }
    }
}
