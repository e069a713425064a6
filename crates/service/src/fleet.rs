//! Lanes on other machines: what a submitter and a worker do with the store. An engine beside them hands
//! lanes out; it knows an id and a generation, and nothing that was written by a person or an agent.

mod attempt;
mod lines;
mod order;
mod patience;
mod status;
mod submission;
mod submitter_watch;
mod worker;

pub use self::attempt::{AttemptEnd, AttemptRequest, run_attempt};
pub use self::order::FleetOrder;
pub use self::status::{
    DrainReport, FleetLaneReport, FleetStatus, FleetWorkerReport, PermitReport, StoppedFleetLane,
    drain_worker, evict_worker, fleet_status, stop_lane,
};
pub use self::submission::{LaneLook, LaneSubmission, StopReason, SubmittedLane};
pub use self::worker::{WorkerIdentity, WorkerOrders};
