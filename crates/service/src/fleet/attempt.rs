//! One attempt of a worker at a lane: it takes the lane's row, runs the lane in a working tree of its
//! own, and gives lines and report to the store, which refuses them once another attempt has begun.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use convoke_engine::git::attempt_checkout::check_out;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::cancel::Cancel;
use convoke_engine::lane::fleet_offer::FleetOffer;
use convoke_engine::scratch;
use convoke_store::error::StoreError;
use convoke_store::fleet::{AttemptFence, BeginAnswer, FenceAnswer, ReturnKind};
use jiff::SignedDuration;
use serde::Serialize;
use serde_json::Value;
use tempfile::TempDir;

use super::lines::{AttemptLines, FenceView};
use super::order::{FleetOrder, OrderError};
use super::patience::{LONGEST, patiently};
use super::submission::{ANSWERED, CANCELLED, is_named};
use crate::failure::{ErrorClass, Failure, with_causes};
use crate::interruption::CallerInterruption;
use crate::lane::{
    LaneChecks, LaneEventLine, LaneProgress, LaneRequest, PinnedRules, lane_failed, run_one,
};
use crate::session::Session;
use crate::settings::fleet;
use crate::workspace::{open_store, refused};

/// How long a worker tries to say that it stopped a lane whose submitter is gone.
const FAREWELL: Duration = Duration::from_secs(30);

/// An attempt that the engine hands to a worker.
#[derive(Debug, Clone)]
pub struct AttemptRequest {
    /// The lane, its generation and the number of the attempt.
    pub fence: AttemptFence,
    /// The worker's process, which no other process is called.
    pub worker: String,
    /// The store for the worker's own record of its lanes.
    pub ledger: PathBuf,
    /// Whether a lane that is stopped goes to another worker.
    pub gives_back: Arc<AtomicBool>,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptEnd {
    /// The store has its report, with this outcome.
    Reported(String),
    /// Another attempt has begun, or the lane has ended; the store took nothing.
    Superseded,
    /// The worker stops; the store took no report.
    Stopped,
    /// This worker cannot begin the lane, and another one may: what is missing here.
    Unfit(String),
}

#[derive(Debug, thiserror::Error)]
enum AttemptError {
    #[error("cannot read the request of lane {lane}")]
    Order {
        lane: String,
        #[source]
        source: OrderError,
    },
    #[error(
        "the store of this worker has no lane {lane}, or its user is not of the lane's project"
    )]
    Hidden { lane: String },
    #[error("this worker has no repository `{name}`")]
    NoRepository { name: String },
    #[error("cannot run a lane in repository `{name}` without a commit")]
    NoCommit { name: String },
}

/// The report of a lane that did not begin.
#[derive(Serialize)]
struct UnstartedLane {
    outcome: &'static str,
    answer: Option<String>,
    trouble: String,
    trouble_kind: Option<&'static str>,
}

/// Runs an attempt until it ends or is stopped. The first act is to take the lane's row.
pub fn run_attempt(
    session: &Session,
    request: &AttemptRequest,
    cancel: &Cancel,
) -> Result<AttemptEnd, Failure> {
    let store = open_store(session)?;
    let AttemptRequest { fence, worker, .. } = request;
    let span = tracing::info_span!("fleet_lane", lane = %fence.lane);
    let _entered = span.enter();
    let attempt = || store.begin_attempt(fence, worker, session.now());
    let begun = patiently(LONGEST, cancel, attempt).map_err(refused)?;
    let (lane, prompt) = match begun {
        BeginAnswer::Begun { lane, prompt } => (lane, prompt),
        BeginAnswer::Superseded => return Ok(AttemptEnd::Superseded),
        BeginAnswer::Hidden => {
            let lane = fence.lane.clone();
            return Ok(AttemptEnd::Unfit(AttemptError::Hidden { lane }.to_string()));
        }
    };
    let patience = fleet::settings(session)?.submitter_patience;
    let silence = SignedDuration::try_from(patience).ok().filter(|_| !is_named(&fence.lane));
    let lines = AttemptLines::new(&*store, &*session.clock, fence, cancel, silence);
    let run = thread::scope(|threads| {
        let writer = threads.spawn(|| lines.write());
        let result = run_lane(session, request, &lane.request, &prompt, &lines);
        lines.finish();
        // It only ends with the lane.
        writer.join().ok();
        result
    });
    match lines.view() {
        FenceView::Superseded => return Ok(AttemptEnd::Superseded),
        FenceView::Abandoned => {
            let ended = run.unwrap_or_else(|failure| not_started(&failure));
            let (outcome, report) = abandoned(ended, patience);
            let end = || store.end_attempt(fence, &outcome, &report, session.now());
            let ended = patiently(FAREWELL, &Cancel::default(), end).map_err(refused)?;
            return Ok(reported(ended, outcome));
        }
        FenceView::Current => {}
    }
    if cancel.is_cancelled() {
        if request.gives_back.load(Ordering::SeqCst) {
            let why = "the worker drains";
            let back = || store.return_attempt(fence, ReturnKind::Drained, why, session.now());
            // Without it, another worker begins the lane as well, and the lane has lost an attempt.
            patiently(LONGEST, cancel, back).ok();
        }
        return Ok(AttemptEnd::Stopped);
    }
    let (outcome, report) = match run {
        Ok(ended) => ended,
        Err(unfit) => {
            let why = with_causes(unfit.error.as_ref());
            let back = || store.return_attempt(fence, ReturnKind::Unfit, &why, session.now());
            let answer = patiently(LONGEST, cancel, back).map_err(refused)?;
            return Ok(match answer {
                FenceAnswer::Current => AttemptEnd::Unfit(why),
                FenceAnswer::Superseded => AttemptEnd::Superseded,
            });
        }
    };
    let end = || store.end_attempt(fence, &outcome, &report, session.now());
    let ended: Result<_, StoreError> = patiently(LONGEST, cancel, end);
    Ok(reported(ended.map_err(refused)?, outcome))
}

fn reported(answer: FenceAnswer, outcome: String) -> AttemptEnd {
    match answer {
        FenceAnswer::Current => AttemptEnd::Reported(outcome),
        FenceAnswer::Superseded => AttemptEnd::Superseded,
    }
}

/// Returns the outcome and report of a lane that was stopped because its submitter is gone, unless it has
/// answered nevertheless.
fn abandoned((outcome, report): (String, String), patience: Duration) -> (String, String) {
    if outcome == ANSWERED {
        return (outcome, report);
    }
    let mut report: Value = serde_json::from_str(&report).unwrap_or_default();
    let seconds = patience.as_secs();
    report["outcome"] = CANCELLED.into();
    report["trouble"] = format!("its submitter was silent for more than {seconds} s").into();
    (CANCELLED.to_owned(), report.to_string())
}

/// Runs the lane, and returns its outcome and report. A lane whose agent cannot begin has ended as well:
/// the next worker of the same offer would not fare better. A request that an older worker cannot read,
/// and a working tree that this machine cannot make, are failures of this worker alone.
fn run_lane(
    session: &Session,
    request: &AttemptRequest,
    order: &str,
    prompt: &str,
    lines: &AttemptLines<'_>,
) -> Result<(String, String), Failure> {
    let (order, offer) = FleetOrder::read(order).map_err(|source| {
        let lane = request.fence.lane.clone();
        Failure::new(ErrorClass::Prerequisite, AttemptError::Order { lane, source })
    })?;
    let tree = working_tree(session, &order, &offer, lines.cancel)?;
    let agent = &offer.agent;
    let run = run_order(session, request, (&order, agent), prompt, tree.path(), lines);
    Ok(run.unwrap_or_else(|failure| not_started(&failure)))
}

/// Returns the outcome and report of a lane that did not begin.
fn not_started(failure: &Failure) -> (String, String) {
    let outcome = "not_started";
    let trouble = with_causes(failure.error.as_ref());
    let report = UnstartedLane { outcome, answer: None, trouble, trouble_kind: None };
    (outcome.to_owned(), serde_json::to_string(&report).unwrap_or_default())
}

fn run_order(
    session: &Session,
    request: &AttemptRequest,
    (order, agent): (&FleetOrder, &AgentRef),
    prompt: &str,
    tree: &Path,
    lines: &AttemptLines<'_>,
) -> Result<(String, String), Failure> {
    let of_lane = session
        .in_project(tree.to_owned())
        .for_call()
        .stopped_by(Arc::new(CallerInterruption::new(lines.cancel.clone())));
    // The submitter's ledger counts the lane; this record is the worker's own.
    let environment = of_lane.environment.with_store(&request.ledger);
    let of_lane = Session { environment, ..of_lane };
    let lane = LaneRequest {
        model: order.model.as_deref(),
        effort: order.effort.as_deref(),
        limits: order.limits(),
        // The prompt has those of its submitter.
        rules: PinnedRules::LeftOut,
        ..LaneRequest::new(agent, prompt)
    };
    let mut report = run_one(&of_lane, &lane, &LaneChecks::default(), &mut |progress| {
        if let LaneProgress::Said(event) = progress {
            let said = LaneEventLine::said(event, session.now());
            lines.add(serde_json::to_string(&said).unwrap_or_default());
        }
        ControlFlow::Continue(())
    })?;
    // Numbers of the worker's own record mean nothing elsewhere.
    report.lane = None;
    Ok((report.outcome.to_owned(), serde_json::to_string(&report).unwrap_or_default()))
}

/// Checks the asked commit out, or makes an empty folder for a lane without a repository.
fn working_tree(
    session: &Session,
    order: &FleetOrder,
    offer: &FleetOffer,
    cancel: &Cancel,
) -> Result<TempDir, Failure> {
    let refuse = |error| Failure::new(ErrorClass::Prerequisite, error);
    let Some(name) = &offer.repository else {
        return scratch::lane().map_err(lane_failed);
    };
    let settings = fleet::settings(session)?;
    let Some(folder) = settings.repositories.get(name) else {
        return Err(refuse(AttemptError::NoRepository { name: name.clone() }));
    };
    let Some(commit) = &order.commit else {
        return Err(refuse(AttemptError::NoCommit { name: name.clone() }));
    };
    check_out(folder, commit, cancel).map_err(|error| Failure::new(ErrorClass::Prerequisite, error))
}
