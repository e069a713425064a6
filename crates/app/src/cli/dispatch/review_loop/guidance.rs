//! What a loop checks before it spends anything, and what it advises at its end.

use std::collections::BTreeMap;
use std::path::Path;

use convoke_domain::dispatch::review_loop::LoopStop;
use convoke_domain::dispatch::role::RoleName;

use super::Course;
use crate::cli::dispatch::say_changes;
use crate::config::dispatch::{ChangedBy, Settings};
use crate::failure::Failure;
use crate::output::Output;

impl Course<'_> {
    /// Tells the user what committed files change of the roles that the loop asks, and returns it.
    pub(super) fn say_changes(
        &self,
        settings: &Settings,
        output: &Output,
    ) -> BTreeMap<String, ChangedBy> {
        let command = &self.args.command;
        let roles = self.reviewers.iter().chain(&self.fixer);
        let full_name = |role: &String| RoleName { command: command.clone(), role: role.clone() };
        let names: Vec<_> = roles.map(full_name).collect();
        say_changes(&names, settings, output);
        let changed = names.iter().map(|name| (name.to_string(), settings.changed_by(name)));
        changed.filter(|(_, by)| !by.is_empty()).collect()
    }

    /// Checks every reviewer, and the fixer if there is one, as far as that needs no agent. One that
    /// cannot be asked must not be found out after others were paid.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let fix_client = self.args.fix_client.as_ref().unwrap_or(&self.args.client);
        let reviewers = self.reviewers.iter().map(|role| (role, &self.args.client));
        let fixer = self.fixer.iter().map(|role| (role, fix_client));
        for (role, client) in reviewers.chain(fixer) {
            let next = self.next(role, 1, None, Path::new(""))?;
            self.assigned(next, client).check(self.app)?;
        }
        Ok(())
    }

    /// Says what to do after a loop that ended without an approval.
    pub(super) fn hint(&self, stop: LoopStop, settings: &Settings) -> Option<String> {
        let reset = match &self.args.feature.feature {
            Some(feature) => format!("convoke dispatch reset --feature {}", feature.display()),
            None => "convoke dispatch reset".to_owned(),
        };
        match stop {
            LoopStop::ByHand if !self.args.write && !self.args.no_fix => {
                Some(self.unwritten(settings))
            }
            LoopStop::ByHand => Some("fix what is open, then run this command again".to_owned()),
            LoopStop::NoProgress => Some(
                "the fix left the same findings; fix what is open by hand, then run this command \
                 again"
                    .to_owned(),
            ),
            LoopStop::Capped => Some(format!(
                "allow another round with `--max {}`, or begin again with `{reset}`",
                self.max.saturating_add(1)
            )),
            LoopStop::Outdated => {
                Some(format!("files changed since the reviewers approved; `{reset}` begins again"))
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
    fn unwritten(&self, settings: &Settings) -> String {
        match self.args.fixer(settings) {
            Some(fixer) => format!(
                "fix what is open, then run this command again; with `--write`, `{fixer}` fixes it"
            ),
            None => "fix what is open, then run this command again".to_owned(),
        }
    }
}
