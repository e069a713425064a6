//! The journal that a report names: whether it is here, and what the report's run was then.

use convoke_domain::run::RunId;
use convoke_store::error::StoreError;
use convoke_store::journal::Integrity;
use serde::Serialize;

use super::report::RunShowReport;
use super::show::show_run_at;
use crate::failure::Failure;
use crate::run::integrity::journal_integrity;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// What is known about a report's journal.
pub enum JournalAtHand {
    /// The project has no such run.
    Missing,
    /// Its journal was changed at this event.
    Changed(u64),
    /// It has only so many events.
    Shorter(u64),
    /// The run as it was after the event.
    Found(Box<RunShowReport>),
}

/// Looks for a run's journal, up to an event.
pub fn journal_at_hand(
    session: &Session,
    run: &RunId,
    event: u64,
) -> Result<JournalAtHand, Failure> {
    let workspace = Workspace::open(session, None)?;
    let found = match workspace.store.run(&workspace.scope.project, run) {
        // The beginning of an id names a run, too, but a report has all of it.
        Ok(found) if found.id == *run => found,
        Ok(_) | Err(StoreError::NoRun { .. } | StoreError::ManyRuns { .. }) => {
            return Ok(JournalAtHand::Missing);
        }
        Err(error) => return Err(refused(error)),
    };
    if let Integrity::BrokenAt(event) = journal_integrity(&workspace, &found.id)? {
        return Ok(JournalAtHand::Changed(event));
    }
    if event == 0 || event > found.last_seq {
        return Ok(JournalAtHand::Shorter(found.last_seq));
    }
    let report = show_run_at(session, Some(run), Some(event))?;
    Ok(JournalAtHand::Found(Box::new(report)))
}

/// Whether a report that travelled belongs to a journal at hand.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReportVerdict {
    /// The path of the checked report, as the user gave it.
    pub file: String,
    /// `genuine`, `altered`, `journal-not-here` or `cannot-tell`.
    pub verdict: &'static str,
    /// The complete reason.
    pub reason: String,
    /// The run that the report names; nothing without a header.
    pub run: Option<String>,
    /// The last event of the journal that the report follows from.
    pub event: Option<u64>,
    /// The version of Convoke that made the report.
    pub made_by: Option<String>,
}
