//! Whether a run's journal is as it was written, checked before Convoke relies on it.

use convoke_domain::run::RunId;
use convoke_store::journal::Integrity;

use super::known::KnownRun;
use crate::failure::{ErrorClass, Failure};
use crate::observer::Reporter;
use crate::workspace::{Workspace, refused};

#[derive(Debug, thiserror::Error)]
#[error("cannot resume `{run}`: its journal was changed at event {event}")]
struct Changed {
    run: RunId,
    event: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read `{run}`: its journal was changed, first at event {event}")]
struct Illegible {
    run: RunId,
    event: u64,
}

/// What a user can do about a changed journal.
const RESTORE: &str = "restore the store from a backup, or start another run: `convoke design`";

/// How often Convoke reads a journal again while another process writes to it.
const LOOKS: usize = 5;

/// Checks a journal. A verdict counts only if no process wrote meanwhile; a journal that a process
/// keeps writing to is checked when that process has ended.
pub(crate) fn journal_integrity(workspace: &Workspace, id: &RunId) -> Result<Integrity, Failure> {
    let Workspace { store, scope } = workspace;
    let last = || store.run(&scope.project, id).map(|run| run.last_seq).map_err(refused);
    for _ in 0..LOOKS {
        let before = last()?;
        let found = store.verify(&scope.project, id).map_err(refused)?;
        if found == Integrity::Sound || last()? == before {
            return Ok(found);
        }
    }
    Ok(Integrity::Sound)
}

/// Refuses a run whose journal was changed, because its answers may be forged.
pub(crate) fn must_be_sound(id: &RunId, integrity: Integrity) -> Result<(), Failure> {
    match integrity {
        Integrity::Sound => Ok(()),
        Integrity::BrokenAt(event) => {
            let failure = Failure::new(ErrorClass::Refused, Changed { run: id.clone(), event });
            Err(failure.hint(format!("compare the journal: `convoke recount {id}`")).hint(RESTORE))
        }
    }
}

/// Returns why a journal cannot be read: a change to it, if there was one, else what reading said.
pub(super) fn illegible(id: &RunId, integrity: Integrity, failure: Failure) -> Failure {
    match integrity {
        Integrity::Sound => failure,
        Integrity::BrokenAt(event) => {
            Failure::new(ErrorClass::Refused, Illegible { run: id.clone(), event }).hint(RESTORE)
        }
    }
}

impl KnownRun {
    /// Warns that the run's journal was changed, or that other rules count it now.
    pub fn warn_if_changed(&self, reporter: &Reporter) {
        if let Some(difference) = self.facts.rules().difference() {
            reporter.remark(difference);
        }
        if let Integrity::BrokenAt(event) = self.integrity {
            let run = &self.run.id;
            reporter.warn(format!(
                "the journal of {run} was changed at event {event}; the results below may be wrong"
            ));
        }
    }
}
