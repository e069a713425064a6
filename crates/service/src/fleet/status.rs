//! What the fleet does: its workers and lanes, and what a person can ask of them.

use convoke_domain::text::one_line;
use convoke_engine::lane::fleet_offer::FleetOffer;
use convoke_store::fleet::{FleetLane, FleetWorker, FleetWorkerState, PermitLimit};
use jiff::Timestamp;
use serde::Serialize;

use super::submission::{CANCELLED, PERMIT};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::fleet;
use crate::workspace::{open_store, refused};

/// How many lanes that have ended are shown.
const ENDED: u32 = 20;

/// A worker that was not there for this long is taken for gone, in milliseconds.
const SILENT_MS: i64 = 30_000;

/// The workers and lanes of a store.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetStatus {
    /// The version of this program, with which those of workers are compared.
    pub version: &'static str,
    /// The workers, by their names.
    pub workers: Vec<FleetWorkerReport>,
    /// The open lanes and the last ones that ended, by the time of their submission.
    pub lanes: Vec<FleetLaneReport>,
    /// The limits of agents, with the lanes that are open.
    pub permits: Vec<PermitReport>,
}

/// One process that runs lanes.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetWorkerReport {
    /// The name that its user gave it; several processes may share it.
    pub name: String,
    /// The process, which no other process is called.
    pub process: String,
    /// The host name of the machine that it runs on.
    pub machine: String,
    /// The number of the process on its machine.
    pub pid: u32,
    /// The agents and repositories that it offers.
    pub offers: Vec<String>,
    /// How many lanes of each offer it runs together.
    pub slots: u32,
    /// How many lanes it runs.
    pub running: usize,
    /// Its version of Convoke.
    pub version: String,
    /// Whether that is another version than this program's.
    pub other_version: bool,
    /// `working`, `draining`, `evicted` or, without a sign of life for 30 seconds, `silent`.
    pub state: &'static str,
    /// When it was there last.
    pub beat_at: String,
}

/// One lane.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetLaneReport {
    /// The id that `convoke fleet stop` takes.
    pub id: String,
    /// The project that it belongs to.
    pub project: String,
    /// The agent and repository.
    pub offer: String,
    /// `waiting`, `running` or `ended`.
    pub state: &'static str,
    /// How it ended.
    pub outcome: Option<String>,
    /// Why it waits.
    pub waits_for: Option<String>,
    /// The worker's process of the last attempt.
    pub worker: Option<String>,
    /// How often it was submitted; answers of earlier generations do not count.
    pub generation: u64,
    /// The attempt of the generation.
    pub attempt: u64,
    /// When it was submitted.
    pub submitted_at: String,
    /// When its last attempt began.
    pub started_at: Option<String>,
    /// When it ended.
    pub ended_at: Option<String>,
}

/// The limit of one agent.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PermitReport {
    /// The agent, as this machine's configuration names it.
    pub agent: String,
    /// How many of its lanes hold a permit, in all projects, as a submission counts them.
    pub open: u32,
    /// How many may be, by this machine's configuration.
    pub most: u32,
}

/// The answer to a request to drain or to end.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DrainReport {
    /// The name of the workers.
    pub name: String,
    /// How many workers of that name get the request.
    pub workers: usize,
}

/// The answer to a request to stop a lane.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoppedFleetLane {
    /// The id of the lane.
    pub lane: String,
    /// Whether it was open until now.
    pub stopped: bool,
}

#[derive(Debug, thiserror::Error)]
enum StatusError {
    #[error("there is no worker called `{name}` that is yours")]
    NoWorker { name: String },
    #[error("there is no lane `{id}` of a worker")]
    NoLane { id: String },
}

/// Returns the workers and lanes.
pub fn fleet_status(session: &Session) -> Result<FleetStatus, Failure> {
    let store = open_store(session)?;
    let lanes = store.fleet_lanes(ENDED).map_err(refused)?;
    let workers = store.fleet_workers().map_err(refused)?;
    // What workers and submitters noted is the server's time, also where this machine's clock is wrong.
    let now = store.fleet_clock(session.now()).map_err(refused)?;
    let lanes: Vec<_> = lanes.iter().map(|lane| lane_report(lane, &workers, now)).collect();
    let permits = fleet::settings(session)?.limits.into_iter().map(|(agent, most)| {
        let permit = PermitLimit { key: &agent, most: Some(most), counts_for: PERMIT };
        let open = store.open_lanes(&permit, session.now()).map_err(refused)?;
        Ok(PermitReport { agent, open, most })
    });
    Ok(FleetStatus {
        version: env!("CARGO_PKG_VERSION"),
        permits: permits.collect::<Result<_, Failure>>()?,
        workers: workers.iter().map(|worker| worker_report(worker, &lanes, now)).collect(),
        lanes,
    })
}

/// Asks all workers of a name to take no more lanes and to end with their last one.
pub fn drain_worker(session: &Session, name: &str) -> Result<DrainReport, Failure> {
    asked(name, open_store(session)?.drain_workers(name).map_err(refused)?)
}

/// Ends all workers of a name immediately. Other workers begin their lanes again.
pub fn evict_worker(session: &Session, name: &str) -> Result<DrainReport, Failure> {
    asked(name, open_store(session)?.evict_workers(name).map_err(refused)?)
}

fn asked(name: &str, workers: usize) -> Result<DrainReport, Failure> {
    if workers == 0 {
        let error = StatusError::NoWorker { name: name.to_owned() };
        return Err(Failure::new(ErrorClass::Usage, error).hint("see `convoke fleet status`"));
    }
    Ok(DrainReport { name: name.to_owned(), workers })
}

/// Ends a lane. Its worker stops the client when it next adds to the lane, within a second or two.
pub fn stop_lane(session: &Session, id: &str) -> Result<StoppedFleetLane, Failure> {
    let store = open_store(session)?;
    let Some(lane) = store.fleet_lane(id).map_err(refused)? else {
        let error = StatusError::NoLane { id: id.to_owned() };
        return Err(Failure::new(ErrorClass::Usage, error).hint("see `convoke fleet status`"));
    };
    let stopped = store.stop_fleet_lane(id, lane.generation, CANCELLED, session.now());
    let stopped = stopped.map_err(refused)?;
    Ok(StoppedFleetLane { lane: id.to_owned(), stopped })
}

fn is_silent(worker: &FleetWorker, now: Timestamp) -> bool {
    now.as_millisecond() - worker.beat_at.as_millisecond() > SILENT_MS
}

fn state(worker: &FleetWorker, now: Timestamp) -> &'static str {
    if is_silent(worker, now) { "silent" } else { worker.state.name() }
}

/// Returns the words of the offer that a queue is for; the queue's name if a later version made it.
fn offer_of(queue: &str) -> String {
    FleetOffer::of_queue(queue).map_or_else(|| queue.to_owned(), |offer| offer.to_string())
}

/// Tells whether a worker takes lanes of a queue.
pub(super) fn is_there(worker: &FleetWorker, queue: &str, now: Timestamp) -> bool {
    let is_working = worker.state == FleetWorkerState::Working && !is_silent(worker, now);
    is_working && worker.offers.split(',').any(|offer| offer == offer_of(queue))
}

fn worker_report(
    worker: &FleetWorker,
    lanes: &[FleetLaneReport],
    now: Timestamp,
) -> FleetWorkerReport {
    let runs = |lane: &&FleetLaneReport| {
        lane.state == "running" && lane.worker.as_ref() == Some(&worker.process)
    };
    FleetWorkerReport {
        name: worker.name.clone(),
        process: worker.process.clone(),
        machine: worker.machine.clone(),
        pid: worker.pid,
        offers: worker.offers.split(',').map(str::to_owned).collect(),
        slots: worker.slots,
        running: lanes.iter().filter(runs).count(),
        version: worker.version.clone(),
        other_version: worker.version != env!("CARGO_PKG_VERSION"),
        state: state(worker, now),
        beat_at: worker.beat_at.to_string(),
    }
}

fn lane_report(lane: &FleetLane, workers: &[FleetWorker], now: Timestamp) -> FleetLaneReport {
    let offer = offer_of(&lane.queue);
    let waits_for = (lane.state.name() == "waiting").then(|| match lane.not_before {
        Some(time) if time > now => format!("its time, {time}"),
        _ if !lane.complaints.is_empty() => {
            let words =
                lane.complaints.iter().map(|(who, why)| format!("{who}: {}", one_line(why)));
            format!("another worker that offers {offer}; {}", words.collect::<Vec<_>>().join("; "))
        }
        _ if workers.iter().any(|worker| is_there(worker, &lane.queue, now)) => {
            "a free slot".to_owned()
        }
        _ => format!("a worker that offers {offer}"),
    });
    FleetLaneReport {
        id: lane.id.clone(),
        project: lane.project.clone(),
        state: lane.state.name(),
        outcome: lane.outcome.clone(),
        waits_for,
        worker: lane.worker.clone(),
        generation: lane.generation,
        attempt: lane.attempt,
        submitted_at: lane.submitted_at.to_string(),
        started_at: lane.started_at.map(|at| at.to_string()),
        ended_at: lane.ended_at.map(|at| at.to_string()),
        offer,
    }
}
