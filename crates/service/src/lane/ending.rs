//! The recorded end of a lane; also for lanes that never began.

use std::time::Duration;

use convoke_domain::lane::budget::SpentBudget;
use convoke_domain::lane::budget_stop::BudgetStop;
use convoke_domain::lane::event::{FailureKind, LaneEvent, LaneFailure as Trouble, Usage};
use convoke_domain::lane::ledger::LaneEnding;
use convoke_domain::lane::outcome::{ClientOutput, LaneOutcome, ProcessEnd};
use convoke_domain::text::one_line;
use convoke_engine::client::UsageScope;
use convoke_engine::lane::drive::LaneTranscript;
use convoke_engine::lane::supervisor::ExitReport;
use jiff::Timestamp;

use super::LaneError;
use super::report::{unanswered, why};
use crate::failure::Failure;
use crate::failure::with_causes;

/// How much of the reason for a missing answer is recorded, in characters.
const LONGEST_WHY: usize = 300;

/// Marks a lane that went on after its budget was spent as stopped for that reason.
/// Returns the budget, unless the lane ended otherwise.
pub(super) fn stopped_by_budget(
    transcript: &mut LaneTranscript,
    reached: &SpentBudget,
) -> Option<BudgetStop> {
    if transcript.exit.end != ProcessEnd::Cancelled {
        return None;
    }
    let stop = BudgetStop::Own(reached.amount());
    (transcript.exit.end, transcript.outcome) = (ProcessEnd::BudgetLimit, LaneOutcome::OverBudget);
    transcript.output.take(trouble(&stop));
    Some(stop)
}

fn trouble(stop: &BudgetStop) -> LaneEvent {
    let (kind, message) = (FailureKind::OverBudget, stop.to_string());
    LaneEvent::Trouble(Trouble { kind, message, reset: None })
}

/// Returns the result of a lane that a budget does not let start.
pub(super) fn not_started(stop: &BudgetStop) -> LaneTranscript {
    let mut output = ClientOutput::default();
    output.take(trouble(stop));
    never_ran(LaneOutcome::OverBudget, ProcessEnd::BudgetLimit, output)
}

/// A lane that the user cancelled before it began.
pub(super) fn never_begun() -> LaneTranscript {
    never_ran(LaneOutcome::Cancelled, ProcessEnd::Cancelled, ClientOutput::default())
}

fn never_ran(outcome: LaneOutcome, end: ProcessEnd, output: ClientOutput) -> LaneTranscript {
    LaneTranscript {
        outcome,
        output,
        exit: ExitReport { end, took: Duration::ZERO, bytes: 0, stderr: String::new() },
        excess: Vec::new(),
        asked_model: None,
        difference: None,
        counts: UsageScope::RUN,
        is_recorded: false,
        doubts: Vec::new(),
    }
}

/// Returns how a lane ended, as it is kept.
pub(super) fn ending(transcript: &LaneTranscript, now: Timestamp) -> LaneEnding {
    let output = &transcript.output;
    LaneEnding {
        outcome: transcript.outcome,
        end: transcript.exit.end.to_string(),
        why: why(transcript).as_deref().map(shortened),
        failure: unanswered(transcript).map(|failure| failure.kind),
        session: output.session.clone(),
        model: output.model.clone(),
        took_ms: u64::try_from(transcript.exit.took.as_millis()).unwrap_or(u64::MAX),
        bytes: transcript.exit.bytes,
        said: said(transcript),
        counts: transcript.counts,
        at: now,
    }
}

/// Returns how a lane ended that might not start, or was not wanted any more before it did: it is
/// known to have spent nothing.
pub(super) fn refused_ending(transcript: &LaneTranscript, now: Timestamp) -> LaneEnding {
    let said = Some(Usage::default());
    LaneEnding { end: ProcessEnd::NotStarted.to_string(), said, ..ending(transcript, now) }
}

/// Returns the end of a lane that could not start: the reason is Convoke's own.
pub(super) fn failed_ending(failure: &Failure, now: Timestamp) -> LaneEnding {
    // A client that never started spent nothing; one that broke off may have.
    let is_broken = matches!(failure.error.downcast_ref(), Some(LaneError::Run(_)));
    let end = if is_broken { ProcessEnd::Lost } else { ProcessEnd::NotStarted };
    let transcript = never_ran(LaneOutcome::NotStarted, end, ClientOutput::default());
    let why = shortened(&with_causes(failure.error.as_ref()));
    LaneEnding { why: Some(why), ..ending(&transcript, now) }
}

/// Returns the known usage. A client that was never reached spent nothing, and a replay costs
/// nothing.
fn said(transcript: &LaneTranscript) -> Option<Usage> {
    let of_client = transcript.output.usage.filter(|_| !transcript.is_recorded);
    of_client.or_else(|| (transcript.exit.end == ProcessEnd::NotStarted).then(Usage::default))
}

/// Makes why there is no answer a line of a bearable length.
fn shortened(why: &str) -> String {
    one_line(why).chars().take(LONGEST_WHY).collect()
}
