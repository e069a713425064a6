//! The record of a finished run: what its files are, and who made them.

use convoke_domain::design::facts::Facts;
use convoke_domain::design::walk::Progress;
use convoke_domain::run::RunId;
use convoke_engine::manifest::record::{NoRecord, Record};
use convoke_store::journal::{Integrity, Run};

use super::show::named_run;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

#[derive(Debug, thiserror::Error)]
#[error("cannot vouch for the files of `{run}`: its journal was changed at event {event}")]
struct Unsound {
    run: RunId,
    event: u64,
}

/// Makes the record of a run whose journal is sound.
pub fn run_record(
    workspace: &Workspace,
    run: &Run,
    facts: &Facts,
    progress: &Progress,
) -> Result<Record, Failure> {
    let Workspace { store, scope } = workspace;
    if let Integrity::BrokenAt(event) = store.verify(&scope.project, &run.id).map_err(refused)? {
        let failure = Failure::new(ErrorClass::Refused, Unsound { run: run.id.clone(), event });
        return Err(failure.hint(format!("look closer: `convoke recount {}`", run.id)));
    }
    Record::of_run(run, facts, progress).map_err(|error| {
        let hint = match &error {
            NoRecord::Unfinished { run } => format!("go on with it: `convoke resume {run}`"),
            NoRecord::Differs { run, .. } | NoRecord::OtherRules { run, .. } => {
                format!("look closer: `convoke recount {run}`")
            }
        };
        Failure::new(ErrorClass::Refused, error).hint(hint)
    })
}

/// Returns the text of the named run's record, or of the last run's.
pub fn record_text(session: &Session, run: Option<&RunId>) -> Result<String, Failure> {
    let known = named_run(session, run)?;
    Ok(run_record(&known.workspace, &known.run, &known.facts, &known.progress)?.text())
}
