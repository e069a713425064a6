//! The record of a finished run: what its files are, and who made them.

use convoke_domain::run::RunId;

use super::show::named_run;
use crate::failure::Failure;
use crate::manifest::run_record;
use crate::session::Session;

/// Returns the text of the named run's record, or of the last run's.
pub fn record_text(session: &Session, run: Option<&RunId>) -> Result<String, Failure> {
    let known = named_run(session, run)?;
    Ok(run_record(&known.workspace, &known.run, &known.facts, &known.progress)?.text())
}
