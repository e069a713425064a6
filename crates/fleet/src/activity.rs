//! The lane as an activity of Temporal's: one attempt, with a heartbeat.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use convoke_engine::lane::cancel::Cancel;
use convoke_engine::scratch::has_room_for_lanes;
use convoke_service::failure::with_causes;
use convoke_service::fleet::{AttemptEnd, AttemptRequest, run_attempt};
use convoke_service::session::Session;
use convoke_store::fleet::AttemptFence;
use temporalio_common::error::ApplicationFailure;
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

/// The most that a failure says through Temporal, in characters. The store has the whole report.
const MOST_WORDS: usize = 500;

/// Between two tries of a lane that this worker gave back: the first pause, and the longest. Another
/// worker must be the first to see the lane again.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(15));

/// Returns what goes through Temporal of words that can be of any length.
fn bounded(words: &str) -> String {
    words.chars().take(MOST_WORDS).collect()
}

fn failed(words: &str) -> ActivityError {
    Unfinished::Failed(bounded(words)).into()
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
    /// The lanes that it gave back.
    pub(crate) returned: Arc<Mutex<ReturnedLanes>>,
}

/// Lanes that this worker cannot begin.
#[derive(Default)]
pub(crate) struct ReturnedLanes {
    times: HashMap<String, u32>,
    /// What the worker has not said yet.
    pub(crate) unsaid: Vec<String>,
}

impl ReturnedLanes {
    /// Notes a lane and what is missing for it, and returns the pause before its next try.
    fn note(&mut self, lane: &str, why: &str) -> Duration {
        let times = self.times.entry(lane.to_owned()).or_default();
        if *times == 0 {
            self.unsaid.push(format!("gave lane {lane} back: {}", bounded(why)));
        }
        let pause = PAUSES.0.saturating_mul(1 << (*times).min(5));
        *times = times.saturating_add(1);
        pause.min(PAUSES.1)
    }
}

impl FleetLanes {
    /// Gives a lane back to other workers.
    fn give_back(&self, lane: &str, why: &str) -> ActivityError {
        // The lane comes back, and would come back to this machine.
        if !has_room_for_lanes() {
            self.is_full.store(true, Ordering::SeqCst);
        }
        let pause = self.returned.lock().unwrap_or_else(PoisonError::into_inner).note(lane, why);
        let failure = ApplicationFailure::builder(Unfinished::Failed(bounded(why)));
        ActivityError::application(failure.next_retry_delay(pause).build())
    }
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
        let name = ticket.lane.clone();
        let fence = AttemptFence { lane: ticket.lane, generation: ticket.generation, attempt };
        let request = AttemptRequest {
            fence,
            worker: self.worker.clone(),
            ledger: self.ledger.clone(),
            gives_back: Arc::clone(&self.gives_back),
        };
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
            Ok(Err(failure)) => return Err(failed(&with_causes(failure.error.as_ref()))),
            Err(panic) => return Err(failed(&panic.to_string())),
        };
        match end {
            AttemptEnd::Reported(outcome) => Ok(outcome),
            AttemptEnd::Superseded => Ok("superseded".to_owned()),
            AttemptEnd::Unfit(why) => Err(self.give_back(&name, &why)),
            AttemptEnd::Stopped if self.gives_back.load(Ordering::SeqCst) => {
                Err(Unfinished::WorkerEnds.into())
            }
            AttemptEnd::Stopped => Err(ActivityError::cancelled()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Temporal takes at most.
    const MOST_BYTES: usize = 64 * 1024;

    #[test]
    fn nothing_large_goes_through_temporal() {
        let long = "\u{1f980}".repeat(MOST_BYTES);
        assert!(Unfinished::Failed(bounded(&long)).to_string().len() < MOST_BYTES / 16);
        let ActivityError::Application(failure) = failed(&long) else { panic!("another error") };
        assert!(failure.to_string().len() < MOST_BYTES / 16);
        let lane = format!("n-{}", "f".repeat(24));
        let ticket = LaneTicket { lane, generation: u64::MAX };
        assert!(serde_json::to_string(&ticket).unwrap().len() < 200);
    }

    #[test]
    fn a_worker_that_gave_a_lane_back_lets_others_be_first() {
        let mut returned = ReturnedLanes::default();
        let pauses: Vec<_> = (0..8).map(|_| returned.note("f-1", "no commit").as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 15, 15, 15, 15]);
        assert_eq!(returned.note("f-2", "no commit").as_secs(), 1);
        assert_eq!(returned.unsaid.len(), 2, "each lane is told of once: {:?}", returned.unsaid);
    }
}
