//! The recorded end of a lane; also for lanes that never began.

use std::time::Duration;

use convoke_domain::lane::cap::Reached;
use convoke_domain::lane::event::{FailureKind, LaneEvent, LaneFailure as Trouble, Usage};
use convoke_domain::lane::ledger::LaneEnding;
use convoke_domain::lane::outcome::{LaneOutcome, LaneTranscript, ProcessEnd};
use convoke_domain::text::one_line;
use convoke_engine::client::UsageScope;
use convoke_engine::lane::drive::LaneResult;
use jiff::Timestamp;

use super::LaneError;
use super::report::{unanswered, why};
use crate::failure::Failure;
use crate::failure::with_causes;

/// How much of the reason for a missing answer is recorded, in characters.
const LONGEST_WHY: usize = 300;

/// Marks a lane that went on after its budget was spent as stopped for that reason.
pub(super) fn stopped_by_budget(driven: &mut LaneResult, reached: &Reached) {
    if driven.end != ProcessEnd::Cancelled {
        return;
    }
    (driven.end, driven.outcome) = (ProcessEnd::BudgetLimit, LaneOutcome::OverBudget);
    driven.heard.take(trouble(format!("the budget is spent: {reached}")));
}

fn trouble(message: String) -> LaneEvent {
    LaneEvent::Trouble(Trouble { kind: FailureKind::OverBudget, message })
}

pub(super) fn not_started(message: String) -> LaneResult {
    let mut heard = LaneTranscript::default();
    heard.take(trouble(message));
    never_ran(LaneOutcome::OverBudget, ProcessEnd::BudgetLimit, heard)
}

/// A lane that the user cancelled before it began.
pub(super) fn never_begun() -> LaneResult {
    never_ran(LaneOutcome::Cancelled, ProcessEnd::Cancelled, LaneTranscript::default())
}

fn never_ran(outcome: LaneOutcome, end: ProcessEnd, heard: LaneTranscript) -> LaneResult {
    LaneResult {
        outcome,
        heard,
        end,
        took: Duration::ZERO,
        bytes: 0,
        stderr: String::new(),
        excess: Vec::new(),
        asked_model: None,
        difference: None,
        counts: UsageScope::RUN,
        is_recorded: false,
    }
}

/// Returns how a lane ended, as it is kept.
pub(super) fn ending(driven: &LaneResult, now: Timestamp) -> LaneEnding {
    let heard = &driven.heard;
    LaneEnding {
        outcome: driven.outcome,
        end: driven.end.to_string(),
        why: why(driven).as_deref().map(shortened),
        failure: unanswered(driven).map(|failure| failure.kind),
        session: heard.session.clone(),
        model: heard.model.clone(),
        took_ms: u64::try_from(driven.took.as_millis()).unwrap_or(u64::MAX),
        bytes: driven.bytes,
        said: said(driven),
        counts: driven.counts,
        at: now,
    }
}

/// Returns how a lane ended that might not start, or was not wanted any more before it did: it is
/// known to have spent nothing.
pub(super) fn refused_ending(driven: &LaneResult, now: Timestamp) -> LaneEnding {
    let said = Some(Usage::default());
    LaneEnding { end: ProcessEnd::NotStarted.to_string(), said, ..ending(driven, now) }
}

/// Returns the end of a lane that could not start: the reason is Convoke's own.
pub(super) fn failed_ending(failure: &Failure, now: Timestamp) -> LaneEnding {
    // A client that never started spent nothing; one that broke off may have.
    let is_broken = matches!(failure.error.downcast_ref(), Some(LaneError::Run(_)));
    let end = if is_broken { ProcessEnd::Lost } else { ProcessEnd::NotStarted };
    let driven = never_ran(LaneOutcome::NotStarted, end, LaneTranscript::default());
    let why = shortened(&with_causes(failure.error.as_ref()));
    LaneEnding { why: Some(why), ..ending(&driven, now) }
}

/// Returns the known usage. A client that was never reached spent nothing, and a replay costs
/// nothing.
fn said(driven: &LaneResult) -> Option<Usage> {
    let of_client = driven.heard.usage.filter(|_| !driven.is_recorded);
    of_client.or_else(|| (driven.end == ProcessEnd::NotStarted).then(Usage::default))
}

/// Makes why there is no answer a line of a bearable length.
fn shortened(why: &str) -> String {
    one_line(why).chars().take(LONGEST_WHY).collect()
}
