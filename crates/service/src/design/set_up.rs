//! Where a run begins: its branch and its working tree.

use std::time::Duration;

use convoke_domain::design::event::{Reply, Settings};
use convoke_domain::design::setup::SetUp;
use convoke_domain::design::setup::ground::{BranchRule, DirtyTree};
use convoke_engine::design::setup::{self, SetUpError, UnrelatedBranch};
use convoke_engine::git::branch::WorkTree;

use super::question;
use super::stage::{Stage, stopped, unanswered};
use crate::failure::{ErrorClass, Failure};
use crate::init::own_files;
use crate::session::Session;

/// How long a remote may take.
const FETCH_LIMIT: Duration = Duration::from_secs(30);

/// Tells whether the working tree has changes, which can be only those of Convoke's own setup.
fn begins_on_own_files(session: &Session) -> bool {
    let tree = || WorkTree::at(&session.project).ok();
    !own_files(session).is_empty() && tree().and_then(|tree| tree.is_clean()) == Some(false)
}

/// Refuses a design where git has nothing to begin at, before Convoke records a run: no `resume`
/// could go on with it.
pub(super) fn check_repository(session: &Session, settings: &Settings) -> Result<(), Failure> {
    let keeps_branch = settings.branch_rule == BranchRule::Seed && settings.no_branch;
    let rule = if keeps_branch { BranchRule::Stay } else { settings.branch_rule };
    setup::find_tree(&session.project, rule).map(drop).map_err(failed)
}

fn failed(error: SetUpError) -> Failure {
    let hint = error.hint();
    Failure::new(ErrorClass::Prerequisite, error).hint(hint)
}

impl Stage<'_> {
    /// Gets the branch and the folder ready.
    pub(super) fn set_up(&mut self, settings: &Settings) -> Result<SetUp, Failure> {
        let mut set_up = self.find_ground(settings)?;
        if let SetUp::Ready(ready) = &mut set_up {
            self.ready = Some(ready.clone());
            if settings.dirty_tree == DirtyTree::Allowed || begins_on_own_files(self.session) {
                ready.tree_before = Some(self.tree_digest()?);
                self.ready = Some(ready.clone());
            }
        }
        Ok(set_up)
    }

    fn set_up_with(&self, settings: &Settings, doubt: UnrelatedBranch) -> Result<SetUp, Failure> {
        let own_files = own_files(self.session);
        let request = setup::SetUpRequest {
            folder: &self.session.project,
            feature: &settings.feature,
            branch_info: self.beginning.branch_info.as_deref(),
            branch_rule: settings.branch_rule,
            dirty_tree: settings.dirty_tree,
            own_files: &own_files,
            no_branch: self.beginning.no_branch,
            doubt,
            strict_fetch: false,
            fetch_limit: FETCH_LIMIT,
        };
        setup::set_up(&request).map_err(failed)
    }

    /// Finds the run's starting point, and asks a person if it is doubtful.
    fn find_ground(&mut self, settings: &Settings) -> Result<SetUp, Failure> {
        let doubt = if settings.auto { UnrelatedBranch::Create } else { UnrelatedBranch::Ask };
        self.front_end.works(Some("preparing the branch"));
        let found = self.set_up_with(settings, doubt);
        self.front_end.works(None);
        let found = found?;
        let SetUp::Undecided { branch } = &found else { return Ok(found) };
        let question = question::branch(branch);
        let keeps = match self.ask(&question) {
            Some(Reply::Words(words)) => words == question.options[1],
            Some(Reply::Recommended) => false,
            None if self.session.is_stopped() => return Err(stopped(&self.run)),
            None => return Err(unanswered(&self.run)),
        };
        self.set_up_with(
            settings,
            if keeps { UnrelatedBranch::Keep } else { UnrelatedBranch::Create },
        )
    }
}
