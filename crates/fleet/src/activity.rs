//! The lane as an activity of Temporal's: one attempt, with a heartbeat.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use convoke_engine::lane::cancel::Cancel;
use convoke_engine::scratch::has_room_for_lanes;
use convoke_service::failure::with_causes;
use convoke_service::fleet::{AttemptEnd, AttemptRequest, run_attempt};
use convoke_service::session::Session;
use convoke_store::fleet::AttemptFence;
use temporalio_macros::activities;
use temporalio_sdk::activities::{ActivityContext, ActivityError};
use tokio::time::{MissedTickBehavior, interval};

use crate::temporal::LaneTicket;

/// How often a worker says that it is there; Temporal answers with a request to cancel.
const BEAT: Duration = Duration::from_secs(1);

/// An attempt that another worker should make instead.
#[derive(Debug, thiserror::Error)]
enum Unfinished {
    #[error("the worker ends before its lane")]
    WorkerEnds,
    #[error("{0}")]
    Failed(String),
}

/// What all lanes of a worker share.
#[derive(Clone)]
pub(crate) struct FleetLanes {
    pub(crate) session: Session,
    /// The worker's process.
    pub(crate) worker: String,
    /// The store for the worker's own record.
    pub(crate) ledger: PathBuf,
    /// Whether the worker gives its lanes back.
    pub(crate) gives_back: Arc<AtomicBool>,
    /// Whether its machine had no room for a working tree.
    pub(crate) is_full: Arc<AtomicBool>,
}

#[activities]
impl FleetLanes {
    /// Makes one attempt at a lane.
    #[activity(name = "convoke-lane")]
    pub(crate) async fn run_lane(
        self: Arc<Self>,
        context: ActivityContext,
        ticket: LaneTicket,
    ) -> Result<String, ActivityError> {
        let attempt = u64::from(context.info().attempt);
        let fence = AttemptFence { lane: ticket.lane, generation: ticket.generation, attempt };
        let request =
            AttemptRequest { fence, worker: self.worker.clone(), ledger: self.ledger.clone() };
        let cancel = Cancel::default();
        let (session, stops) = (self.session.clone(), cancel.clone());
        let mut lane = tokio::task::spawn_blocking(move || run_attempt(&session, &request, &stops));
        let mut beats = interval(BEAT);
        // A worker that was frozen has missed many.
        beats.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let end = loop {
            tokio::select! {
                end = &mut lane => break end,
                () = context.cancelled(), if !cancel.is_cancelled() => cancel.cancel(),
                _ = beats.tick() => {
                    // It only fails if nothing can be turned into JSON.
                    context.record_heartbeat(()).await.ok();
                }
            }
        };
        let end = match end {
            Ok(Ok(end)) => end,
            Ok(Err(failure)) => {
                // Temporal hands the lane out again immediately, and would choose this machine.
                if !has_room_for_lanes() {
                    self.is_full.store(true, Ordering::SeqCst);
                }
                return Err(Unfinished::Failed(with_causes(failure.error.as_ref())).into());
            }
            Err(panic) => return Err(Unfinished::Failed(panic.to_string()).into()),
        };
        match end {
            AttemptEnd::Reported(outcome) => Ok(outcome),
            AttemptEnd::Superseded => Ok("superseded".to_owned()),
            AttemptEnd::Stopped if self.gives_back.load(Ordering::SeqCst) => {
                Err(Unfinished::WorkerEnds.into())
            }
            AttemptEnd::Stopped => Err(ActivityError::cancelled()),
        }
    }
}
