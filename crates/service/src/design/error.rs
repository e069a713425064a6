//! Why a design cannot begin or go on.

use std::error::Error;
use std::io;
use std::path::PathBuf;

use convoke_domain::run::RunId;

use super::MAX_FEATURE;

/// Why a design cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum DesignError {
    /// There is nothing to design.
    #[error("cannot start a design without a feature: describe it in a sentence")]
    NoFeature,
    /// The feature is described at too great a length.
    #[error("the feature has {length} bytes, but {MAX_FEATURE} is the most")]
    LongFeature {
        /// How long it is, in bytes.
        length: usize,
    },
    /// Another process, on this machine or another that shares the store, works on the run.
    #[error("cannot work on run {run}: process {pid} on `{machine}` works on it")]
    WorkedOn {
        /// The run's id.
        run: RunId,
        /// The number of the process.
        pid: u32,
        /// The name of its machine.
        machine: String,
    },
    /// Ids of fan-outs say what they are.
    #[error("cannot name a design `{run}`: only fan-outs have such ids")]
    FanId {
        /// The given id.
        run: RunId,
    },
    /// The original's gate judges the branch, and knows no such option.
    #[error(
        "cannot use `{option}` here: with `--policy seed`, or called by a workflow, the original's \
         gate chooses the branch"
    )]
    SeedGround {
        /// The option's name.
        option: &'static str,
    },
    /// The original asks every judge and voter.
    #[error(
        "cannot use `--adaptive` with `--policy seed`: the original asks all judges and voters"
    )]
    AdaptiveSeed,
    /// The original asks every judge once.
    #[error("cannot use `--both-orders` with `--policy seed`: the original asks each judge once")]
    BothOrdersSeed,
    /// Changes by an agent could not be distinguished from those before it.
    #[error(
        "cannot plan on uncommitted changes: Convoke cannot take a snapshot of the working tree"
    )]
    NoSnapshot,
    /// No client is installed.
    #[error("cannot find any agent; looked for {looked_for} on the PATH")]
    NoClient {
        /// The programs that were searched for.
        looked_for: String,
    },
    /// The agent that writes the plan cannot answer until a person does something.
    #[error("cannot start the design: {host}, its host, did not pass the probe: it {why}")]
    HostCannotAnswer {
        /// The client that writes the plan, as the user writes it.
        host: String,
        /// What it did instead of an answer, in words that follow its name.
        why: String,
    },
    /// An agent that the run names does not exist.
    #[error("cannot use `{name}`: unknown agent")]
    NoAgent {
        /// The agent's name in the run.
        name: String,
    },
    /// A file or folder cannot be used.
    #[error("cannot use `{}`", path.display())]
    Folder {
        /// The path of the file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The calling workflow's folder does not exist.
    #[error("cannot write the results: the folder `{}` does not exist", path.display())]
    NoParent {
        /// The path of the folder.
        path: PathBuf,
    },
    /// The worker of an earlier process still writes.
    #[error("cannot resume the run: its worker process {pid} still writes to it")]
    WorkerLives {
        /// The worker's process.
        pid: u32,
    },
    /// The journal has no first event.
    #[error("cannot resume `{run}`: it never started")]
    NotBegun {
        /// The run's id.
        run: RunId,
    },
    /// A question needs a person, and none can answer.
    #[error("cannot ask you a question: there is no terminal")]
    NoTerminal,
    /// The user stopped it.
    #[error("the run was interrupted")]
    Stopped,
    /// The project is not as the run left it.
    #[error("cannot continue the run: {0}")]
    OtherGround(String),
    /// There is no folder for runs.
    #[error("cannot find the runs: HOME is not set")]
    NoHome,
    /// The journal cannot be read.
    #[error("cannot continue the run")]
    Journal(#[source] Box<dyn Error + Send + Sync>),
}
