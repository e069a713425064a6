//! Workers: processes that run lanes of other machines.

use jiff::Timestamp;

/// Whether a worker takes lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FleetWorkerState {
    /// It does.
    Working,
    /// It ends what it runs, and takes no more.
    Draining,
    /// It ends immediately, with its clients, and other workers begin its lanes again.
    Evicted,
}

impl FleetWorkerState {
    /// Returns the word that is stored and shown.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Draining => "draining",
            Self::Evicted => "evicted",
        }
    }

    /// Returns the state stored as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Working, Self::Draining, Self::Evicted]
            .into_iter()
            .find(|state| state.name() == name)
    }
}

/// A process that runs lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetWorker {
    /// Its own id, which it drew when it started.
    pub process: String,
    /// Its name, which other processes may have as well.
    pub name: String,
    /// The machine that it runs on, as it calls itself.
    pub machine: String,
    /// The number of the process on its machine.
    pub pid: u32,
    /// The queues that it serves, in words.
    pub offers: String,
    /// How many lanes of each offer it runs together.
    pub slots: u32,
    /// Its version of Convoke.
    pub version: String,
    /// Whether it takes lanes.
    pub state: FleetWorkerState,
    /// When it started.
    pub started_at: Timestamp,
    /// When it was there last.
    pub beat_at: Timestamp,
}
