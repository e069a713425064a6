//! Lanes that workers on other machines run, and the fence that keeps two of them from answering for
//! one lane.
//!
//! A lane's row names the generation and the attempt that may add to it. Everything that a worker writes
//! names both, in the same transaction as the check, so a worker that was frozen, cut off or replaced
//! cannot add a line or an answer, even if it believes that it is the last one.

mod worker;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

pub use self::worker::{FleetWorker, FleetWorkerState};
use crate::error::StoreError;

/// A lane to be run by a worker.
#[derive(Debug, Clone, Copy)]
pub struct NewFleetLane<'a> {
    /// Its id, which the submitter draws or derives from a name.
    pub id: &'a str,
    /// The project that it belongs to.
    pub project: &'a str,
    /// The queue whose workers can run it.
    pub queue: &'a str,
    /// What the worker needs beside the prompt, as JSON.
    pub request: &'a str,
    /// What the agent receives. It stays in the store: Temporal never sees it.
    pub prompt: &'a str,
    /// The limit for several lanes.
    pub permit: PermitLimit<'a>,
    /// How often it may be begun in a generation.
    pub most_attempts: u32,
}

/// How many lanes of one key may be open together.
#[derive(Debug, Clone, Copy)]
pub struct PermitLimit<'a> {
    /// The key, such as an agent.
    pub key: &'a str,
    /// The greatest number; `None` for any.
    pub most: Option<u32>,
    /// A lane counts as long as its submitter or its worker was there within this time.
    pub counts_for: SignedDuration,
}

/// The answer to a submission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmitAnswer {
    /// The lane waits for a worker, in its first generation.
    Submitted,
    /// There is a lane of this id, of the same queue and prompt. Its request may be another one: the
    /// caller decides what of it must be the same.
    Known(Box<FleetLane>),
    /// There is a lane of this id, of another queue or prompt.
    Different,
    /// As many lanes of its key are open as may be.
    Full {
        /// The number of open lanes of the key.
        open: u32,
    },
}

/// The answer to a submission of a lane that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResubmitAnswer {
    /// The lane waits for a worker, in this generation.
    Submitted(u64),
    /// The lane is in another generation or state: another submitter was faster.
    Moved,
    /// As many lanes of its key are open as may be.
    Full {
        /// The number of open lanes of the key.
        open: u32,
    },
}

/// Why an attempt ends without an end of its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReturnKind {
    /// Its worker cannot begin the lane, and the lane loses no attempt by it.
    Unfit,
    /// It failed on its way.
    Failed,
    /// Its worker drains and waits no longer, and the lane loses no attempt by it.
    Drained,
}

/// Where a lane is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FleetLaneState {
    /// It waits for a worker.
    Waiting,
    /// A worker runs it.
    Running,
    /// It has ended.
    Ended,
}

impl FleetLaneState {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Waiting, Self::Running, Self::Ended];

    /// Returns the word that is stored and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Ended => "ended",
        }
    }

    /// Returns the state stored as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A lane as the store has it, without its prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetLane {
    /// The id that submitter and workers name it by.
    pub id: String,
    /// The project that it belongs to.
    pub project: String,
    /// The queue whose workers can run it.
    pub queue: String,
    /// What the worker needs beside the prompt, as JSON.
    pub request: String,
    /// How many times it was submitted or ended by a person.
    pub generation: u64,
    /// The attempt of the generation that may add to it; 0 before the first.
    pub attempt: u64,
    /// Where it is.
    pub state: FleetLaneState,
    /// The worker of the last attempt.
    pub worker: Option<String>,
    /// How it ended.
    pub outcome: Option<String>,
    /// The report of the attempt that ended it, as JSON.
    pub report: Option<String>,
    /// How often it may be begun in a generation.
    pub most_attempts: u32,
    /// How many attempts of the generation were given back by workers that cannot begin it.
    pub returned: u64,
    /// What workers that gave it back, or failed, said last in this generation, by their processes.
    pub complaints: BTreeMap<String, String>,
    /// When it was submitted first.
    pub submitted_at: Timestamp,
    /// The engine hands it out no earlier.
    pub not_before: Option<Timestamp>,
    /// When the last attempt began.
    pub started_at: Option<Timestamp>,
    /// When the last attempt's worker was there last.
    pub beat_at: Option<Timestamp>,
    /// When its submitter was there last.
    pub watched_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

/// An attempt of a worker at a lane. All that the worker writes names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptFence {
    /// The lane's id.
    pub lane: String,
    /// The lane's generation that the attempt is for.
    pub generation: u64,
    /// The number of the attempt in its generation, from 1.
    pub attempt: u64,
}

/// Whether an attempt may still add to its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FenceAnswer {
    /// It may, and what it wrote is kept.
    Current,
    /// It may not, and nothing is changed: a later attempt has begun, or the lane has ended.
    Superseded,
}

/// The answer to an attempt whose worker says that it is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RenewAnswer {
    /// It may still add to its lane.
    Current {
        /// The store's time.
        now: Timestamp,
        /// When the lane's submitter was there last, by the same clock.
        watched_at: Timestamp,
    },
    /// It may not.
    Superseded,
}

/// The answer to an attempt that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeginAnswer {
    /// The attempt may add to the lane; earlier ones may not any more.
    Begun {
        /// The lane that the worker runs.
        lane: Box<FleetLane>,
        /// What its agent receives.
        prompt: String,
    },
    /// The attempt comes too late, or is one more than the lane may have, which has ended it.
    Superseded,
    /// The store has no such lane for its user: it is another store's, or of a project of others.
    Hidden,
}

/// One line of a lane that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetEvent {
    /// Where it is among all lines of its lane; readers continue after it.
    pub place: EventPlace,
    /// What the worker printed, without the line ending.
    pub line: String,
}

/// The place of a line among all lines of its lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct EventPlace {
    /// Which submission of the lane it belongs to.
    pub generation: u64,
    /// The attempt of the generation.
    pub attempt: u64,
    /// The number of the line in its attempt, from 1.
    pub number: u64,
}

/// Keeps lanes of workers. Times are the server's where there is one, because the clocks of machines
/// differ; `now` counts for a file.
pub trait FleetStore {
    /// Puts a lane in, unless its permit has no room or a lane of its id is there.
    fn submit_fleet_lane(
        &self,
        lane: &NewFleetLane<'_>,
        now: Timestamp,
    ) -> Result<SubmitAnswer, StoreError>;

    /// Gives a lane that has ended in a generation another one, with this request, unless its permit has no
    /// room. With a delay, the engine hands it out later; until then it holds no permit, and asks for none.
    fn resubmit_fleet_lane(
        &self,
        id: &str,
        generation: u64,
        request: &str,
        permit: &PermitLimit<'_>,
        delay: SignedDuration,
        now: Timestamp,
    ) -> Result<ResubmitAnswer, StoreError>;

    /// Ends a generation of a lane for its submitter or a person, so that no attempt may add to it; tells
    /// whether it was open. A later generation belongs to those who submitted it, and goes on.
    fn stop_fleet_lane(
        &self,
        id: &str,
        generation: u64,
        outcome: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Counts the lanes of a key that hold a permit, of all projects, as a submission counts them.
    fn open_lanes(&self, permit: &PermitLimit<'_>, now: Timestamp) -> Result<u32, StoreError>;

    /// Returns the time by which lanes and workers are noted.
    fn fleet_clock(&self, now: Timestamp) -> Result<Timestamp, StoreError>;

    /// Notes that a lane's submitter is there, and returns the lane.
    fn watch_fleet_lane(&self, id: &str, now: Timestamp) -> Result<Option<FleetLane>, StoreError>;

    /// Returns a lane.
    fn fleet_lane(&self, id: &str) -> Result<Option<FleetLane>, StoreError>;

    /// Returns the lanes that are open, and the last ones that ended.
    fn fleet_lanes(&self, ended: u32) -> Result<Vec<FleetLane>, StoreError>;

    /// Returns a lane's lines after a place, in their order.
    fn fleet_events(&self, id: &str, after: EventPlace) -> Result<Vec<FleetEvent>, StoreError>;

    /// Lets an attempt begin, unless it comes too late or another worker began it. From then on, earlier
    /// attempts are superseded. `worker` names one process; to say the same again changes nothing.
    fn begin_attempt(
        &self,
        fence: &AttemptFence,
        worker: &str,
        now: Timestamp,
    ) -> Result<BeginAnswer, StoreError>;

    /// Notes that an attempt's worker is there, and tells whether the submitter is.
    fn renew_attempt(
        &self,
        fence: &AttemptFence,
        now: Timestamp,
    ) -> Result<RenewAnswer, StoreError>;

    /// Ends an attempt without an end of its lane, which waits again, and keeps what its worker says.
    fn return_attempt(
        &self,
        fence: &AttemptFence,
        kind: ReturnKind,
        why: &str,
        now: Timestamp,
    ) -> Result<FenceAnswer, StoreError>;

    /// Adds lines of an attempt, the first of which has the number `first`. Lines that are there already
    /// stay as they are, so that a writer that does not know whether it succeeded can repeat itself.
    fn append_fleet_events(
        &self,
        fence: &AttemptFence,
        first: u64,
        lines: &[String],
    ) -> Result<FenceAnswer, StoreError>;

    /// Ends a lane with an attempt's report. To say the same again changes nothing.
    fn end_attempt(
        &self,
        fence: &AttemptFence,
        outcome: &str,
        report: &str,
        now: Timestamp,
    ) -> Result<FenceAnswer, StoreError>;

    /// Notes that a worker is there, and returns what it should do: a person may have asked it to drain, or
    /// evicted it.
    fn beat_worker(
        &self,
        worker: &FleetWorker,
        now: Timestamp,
    ) -> Result<FleetWorkerState, StoreError>;

    /// Removes a worker that ends.
    fn end_worker(&self, process: &str) -> Result<(), StoreError>;

    /// Asks every worker of a name to drain, and returns how many there are. A member of a team asks its
    /// own ones.
    fn drain_workers(&self, name: &str) -> Result<usize, StoreError>;

    /// Ends every worker of a name, and returns how many there are. One that is silent hears of it if it comes
    /// back. A member of a team evicts its own ones.
    fn evict_workers(&self, name: &str) -> Result<usize, StoreError>;

    /// Returns all workers, by their names.
    fn fleet_workers(&self) -> Result<Vec<FleetWorker>, StoreError>;

    /// Removes lanes that ended before a span of time, open ones whose submitter and worker were not there
    /// since, and workers that were not there since.
    fn prune_fleet(&self, older_than: SignedDuration, now: Timestamp) -> Result<(), StoreError>;
}
