//! Lanes: one supervised run of one agent on one prompt, recorded with what it spent.

mod acp;
mod admission;
mod agent;
mod around;
mod budget;
mod ending;
mod event_line;
mod fleet;
mod forecast;
mod keep;
mod ledger;
mod list;
mod log;
pub(crate) mod meter;
mod one;
mod park;
mod parked_ground;
mod pins;
mod pulse;
mod reading;
mod record;
mod report;
mod start;
mod tree;

use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_domain::lane::budget::{ExceededBudget, LaneBudget};
use convoke_domain::lane::budget_stop::BudgetStop;
use convoke_domain::lane::event::{LaneEvent, Usage};
use convoke_domain::lane::ledger::Purpose;
use convoke_domain::tree::TreeVerdict;
use convoke_engine::client::Rights;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::LaneTranscript;
use convoke_engine::lane::replay::ReplayError;
use convoke_engine::lane::supervisor::Limits;
use jiff::Timestamp;

pub(crate) use self::acp::{AcpAgent, acp_agent};
pub(crate) use self::admission::may_spend;
pub use self::agent::{check_agent, model_name, seen_by, version_of};
pub use self::budget::{CallBudget, UncountedLanes, is_paid};
pub use self::event_line::LaneEventLine;
pub(crate) use self::forecast::{LOOKED_THROUGH, amounts_in_words, forecast_of_lane};
pub use self::ledger::{LaneEntryReport, SpentReport, seconds, shown};
pub(crate) use self::list::running_in;
pub use self::list::{LaneList, StoppedLane, list, list_running, show, stop};
pub use self::one::{LaneChecks, must_be_filled, run_one};
pub(crate) use self::park::{ParkEnd, ParkVerdict, announcement, wait_until};
pub use self::park::{ParkTerms, shown as shown_reset};
pub(crate) use self::parked_ground::wait_on_ground;
pub use self::pins::PinnedRules;
pub(crate) use self::pins::pins_in_force;
pub(crate) use self::pulse::read_pulse;
pub use self::reading::ReadingReport;
pub(crate) use self::record::day;
pub use self::report::{
    LaneReport, LaneSummary, OverBudgetReport, over_budget_warning, remedy, sentence, warnings, why,
};
pub(crate) use self::tree::changes_by_others;
pub use self::tree::{TreeLook, TreeReport, TreeWatch};
use crate::failure::{ErrorClass, Failure};

/// How long a lane may take unless the user says otherwise.
pub const USUAL_LIMITS: Limits = Limits {
    wall: Duration::from_mins(20),
    first_byte: Duration::from_mins(5),
    stall: Duration::from_mins(5),
    grace: Duration::from_secs(5),
};

/// A lane that a use case wants to have run: who answers, with what, under which limits.
#[derive(Clone)]
pub struct LaneRequest<'a> {
    /// The agent that answers.
    pub agent: &'a AgentRef,
    /// The prompt's text.
    pub prompt: &'a str,
    /// The lane's label; recordings can be found by it.
    pub label: Option<&'a str>,
    /// Its place in its run, if it has no label: by run and place, a call that comes back finds the lane
    /// on another machine.
    pub place: Option<&'a str>,
    /// The cassette that it is added to.
    pub record: Option<&'a Path>,
    /// The model, instead of the client's own choice.
    pub model: Option<&'a str>,
    /// The model's effort, in the client's own words.
    pub effort: Option<&'a str>,
    /// The client's session to resume.
    pub resume: Option<&'a str>,
    /// Whether the agent may change files.
    pub rights: Rights,
    /// Whether the user's pinned rules go before the prompt.
    pub rules: PinnedRules,
    /// How long it may take.
    pub limits: Limits,
    /// The lane's purpose in the ledger.
    pub purpose: Purpose,
    /// The most that its run may spend, or it alone if it is part of none.
    pub budget: Option<LaneBudget>,
    /// The folder that keeps the client's output.
    pub kept_in: Option<String>,
    /// Which notices about the budget come before the lane begins.
    pub outlook: BudgetNotice,
    /// Whether the lane watches the working tree.
    pub watch: TreeWatching,
    /// Whether it waits for the end of its agent's limit, and asks again then.
    pub park: Option<ParkTerms>,
}

/// A lane's notices about its budget before it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BudgetNotice {
    /// Lanes that the budget cannot count.
    #[default]
    Uncounted,
    /// Those, and what earlier lanes like it needed.
    Forecast,
    /// Nothing: its caller tells it once for many lanes.
    Silent,
}

impl<'a> LaneRequest<'a> {
    /// Returns a read-only request under the usual limits, with the user's pinned rules.
    pub fn new(agent: &'a AgentRef, prompt: &'a str) -> Self {
        Self {
            agent,
            prompt,
            label: None,
            place: None,
            record: None,
            model: None,
            effort: None,
            resume: None,
            rights: Rights::ReadOnly,
            rules: PinnedRules::Before,
            limits: USUAL_LIMITS,
            purpose: Purpose::default(),
            budget: None,
            kept_in: None,
            outlook: BudgetNotice::default(),
            watch: TreeWatching::Tree,
            park: None,
        }
    }
}

/// Returns the purpose of a role's lane.
pub fn purpose_of_role(role: impl Into<String>) -> Purpose {
    Purpose { role: Some(role.into()), ..Purpose::default() }
}

/// What a running lane tells its caller.
pub enum LaneProgress<'a> {
    /// It begins, under this number if the store could record it.
    Began(Option<i64>),
    /// An event of the client.
    Said(&'a LaneEvent),
    /// Its agent's limit is reached. Convoke waits, and the lane begins once more.
    Parked,
}

/// Receives a lane's progress. Breaking off stops the lane: its reader is gone.
pub type OnProgress<'a> = dyn FnMut(LaneProgress<'_>) -> ControlFlow<()> + 'a;

/// Whether a lane watches the working tree itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeWatching {
    /// It does, if its agent may only read.
    Tree,
    /// Its caller does it for several lanes, or the user does not want it.
    Nothing,
}

/// A lane that ran and was recorded.
#[derive(Debug)]
pub struct LaneRun {
    /// The client's events and end.
    pub transcript: LaneTranscript,
    /// Its number, if the store could record it.
    pub lane: Option<i64>,
    /// The budget that did not let it start or go on, if the lane itself knows that.
    pub stop: Option<BudgetStop>,
    /// The usage, if known.
    pub spent: Option<Usage>,
    /// The budget that it exceeded.
    pub over: Option<ExceededBudget>,
    /// How many earlier lanes its budgets count less of than they used, or nothing.
    pub uncounted: UncountedLanes,
    /// Whether the working tree changed, if that was watched.
    pub tree: Option<TreeVerdict>,
    /// When the limit ends that it met, if its agent says so.
    pub resets_at: Option<Timestamp>,
}

#[derive(Debug, thiserror::Error)]
enum LaneError {
    #[error("cannot find `{program}` on the PATH")]
    NotInstalled { program: String },
    #[error("cannot run the lane: the prompt is empty")]
    Blank,
    #[error("cannot run the lane")]
    Run(#[source] io::Error),
    #[error("cannot use `{}`", path.display())]
    Keep { path: PathBuf, source: io::Error },
    #[error("there is no file `{}`", path.display())]
    NoCassette { path: PathBuf },
    #[error("cannot use cassette `{}`", path.display())]
    Cassette { path: PathBuf, source: ReplayError },
    #[error("cannot give `{agent}` {what}")]
    Unable { agent: AgentRef, what: &'static str },
}

/// Wraps an error of the system that kept a lane from running.
pub fn lane_failed(error: io::Error) -> Failure {
    Failure::new(ErrorClass::Prerequisite, LaneError::Run(error))
}
