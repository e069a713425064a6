//! Designs: from a feature sentence to a reviewed plan.

mod begin;
mod cost;
mod course;
mod ending;
mod error;
mod estimate;
mod event_loop;
mod front_end;
mod ground;
mod held_run;
mod hold;
mod host;
mod lane;
mod lasting_failure;
mod nested;
mod parking;
mod person;
mod probe;
mod question;
mod rehearsal;
mod resume;
mod seats;
mod set_up;
mod stage;
mod watched;
mod worker;
mod worker_report;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use convoke_domain::design::event::Stamped;
use convoke_domain::run::RunId;
use convoke_engine::design::journal::{Journal, JournalError};
use convoke_engine::lane::supervisor::Limits;

pub use self::begin::{DesignRequest, RehearsalSource, design};
pub use self::cost::{amount, forecast_of_run, spent_in_words};
pub use self::course::CourseRequest;
pub use self::ending::{DesignOverview, DesignReport, EndedDesign};
pub use self::error::DesignError;
pub(crate) use self::estimate::SINGLE_PASS;
pub use self::estimate::{
    DesignEstimateReport, EstimateRangeReport, WayEstimateReport, estimate_design,
};
pub use self::front_end::{DesignFrontEnd, TypedAnswer, UnattendedFrontEnd, WorkerLane};
pub(crate) use self::ground::is_there as is_ground_there;
pub(crate) use self::held_run::HeldRun;
pub(crate) use self::hold::{hold_only_run, hold_run};
pub use self::resume::resume_run;
pub use self::worker::{report_as_worker, run_worker};
pub use self::worker_report::PrintLine;
use crate::failure::{ErrorClass, Failure};
use crate::workspace::Workspace;

/// The longest description of a feature, in bytes: every agent receives all of it, most of them
/// several times, and some on a command line.
pub const MAX_FEATURE: usize = 64 * 1024;

/// Opens a run's journal.
pub(crate) fn open_journal<'w>(
    workspace: &'w Workspace,
    id: &RunId,
) -> Result<(Journal<'w>, Vec<Stamped>), Failure> {
    Journal::open(&*workspace.store, id.clone()).map_err(journal_failed)
}

fn journal_failed(error: JournalError) -> Failure {
    let hint = journal_hint(&error);
    Failure::new(ErrorClass::Prerequisite, DesignError::Journal(Box::new(error))).maybe_hint(hint)
}

/// Returns the next step for a journal with an event that this program cannot read.
pub(crate) fn journal_hint(error: &JournalError) -> Option<String> {
    let is_foreign = matches!(error, JournalError::Codec(_));
    is_foreign.then(|| {
        "a later version of Convoke wrote the event, or the store is damaged: `convoke store check`"
            .to_owned()
    })
}

/// Returns how long a lane may take, and how long it may be silent.
pub(crate) const fn lane_limits(wall: Duration) -> Limits {
    let silence = Duration::from_mins(10);
    Limits { wall, first_byte: silence, stall: silence, grace: Duration::from_secs(5) }
}

/// Returns artifacts as plain texts, by name.
pub(crate) fn texts(files: &BTreeMap<String, Arc<str>>) -> BTreeMap<String, String> {
    files.iter().map(|(name, text)| (name.clone(), text.to_string())).collect()
}

/// Renders the number of warnings.
pub fn warning_count(count: usize) -> String {
    format!("{count} warning{}", if count == 1 { "" } else { "s" })
}
