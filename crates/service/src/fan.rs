//! Fan-outs: one prompt for many items. A journal keeps every answer, so Convoke asks for none twice.

mod ask;
mod begin;
mod error;
mod forecast;
mod limits;
mod listing;
mod report;
mod results;
mod show;
mod work;

use std::num::NonZeroUsize;

use convoke_domain::fan::record::Retry;
use convoke_domain::lane::budget::WrittenBudget;
use convoke_domain::lane::event::LaneEvent;
use convoke_domain::lane::ledger::Purpose;
use convoke_domain::run::RunId;
use convoke_engine::fan::journal::FanJournal;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::supervisor::Limits;

pub use self::begin::{fan, resume_fan};
pub use self::error::FanError;
pub use self::forecast::{FanForecastReport, forecast_fan};
pub use self::listing::FanInput;
pub use self::report::{FanReport, FanResultLine};
pub use self::show::{resolve_fan, show_fan, show_fan_results};
use crate::design::journal_hint;
use crate::failure::{ErrorClass, Failure};
use crate::lane::{ParkTerms, PinnedRules, TreeWatching};
use crate::workspace::Workspace;

/// The most bytes of a file or of stdin with items.
pub const MOST_INPUT: u64 = 64 * 1024 * 1024;

/// The role of its lanes in the ledger.
const ROLE: &str = "fan";

/// A fan-out that a user wants.
#[derive(Debug, Clone)]
pub struct FanRequest {
    /// The prompt, with places for an item.
    pub template: String,
    /// The items.
    pub input: FanInput,
    /// The agent; without one, Convoke chooses.
    pub agent: Option<AgentRef>,
    /// The model, instead of the client's own choice.
    pub model: Option<String>,
    /// The model's effort, in the client's own words.
    pub effort: Option<String>,
    /// The JSON Schema that answers have to fit.
    pub schema: Option<String>,
    /// Whether earlier answers count.
    pub start: FanStart,
    /// The terms of the work.
    pub work: FanWork,
}

/// Whether a fan-out takes up an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FanStart {
    /// It does.
    Continue,
    /// It begins anew, as a run of its own.
    Fresh,
}

/// The terms that one process works under.
#[derive(Debug, Clone)]
pub struct FanWork {
    /// The budget of all lanes of the run.
    pub budget: Option<WrittenBudget>,
    /// How many lanes run in parallel.
    pub parallel: NonZeroUsize,
    /// How long each may take.
    pub limits: Limits,
    /// Whether the user's pinned rules go before the prompts.
    pub rules: PinnedRules,
    /// Whether Convoke watches the working tree.
    pub watch: TreeWatching,
    /// Which items Convoke asks for again.
    pub retry: Retry,
    /// When results are shown.
    pub results: ResultTime,
    /// Whether Convoke waits for the end of the agent's limit, and goes on then.
    pub park: Option<ParkTerms>,
}

/// When a fan-out shows results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultTime {
    /// As soon as all before them are there.
    AsTheyCome,
    /// After the work and the check of the working tree, so that a file of results in the project does
    /// not count as a change by an agent.
    AtTheEnd,
}

/// How far the work of one process is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FanCounts {
    /// How many different items it asks for.
    pub to_ask: usize,
    /// Of these, those that have an answer.
    pub answered: usize,
    /// Those whose answers do not fit.
    pub unfit: usize,
    /// Those whose lanes gave no answer.
    pub failed: usize,
    /// Tokens of its lanes, as far as agents report them.
    pub tokens: u64,
    /// Millionths of a dollar, as far as agents report them.
    pub micro_dollars: Option<u64>,
}

impl FanCounts {
    /// Returns how many of the items are settled.
    pub const fn done(self) -> usize {
        self.answered + self.unfit + self.failed
    }
}

/// What happens while a fan-out works.
#[derive(Debug)]
pub enum FanNews<'a> {
    /// The work begins.
    Opened {
        /// The run that keeps its answers.
        run: &'a RunId,
        /// The agent that answers.
        agent: &'a str,
        /// All items.
        items: usize,
        /// Different items that have an answer already.
        kept: usize,
        /// The work ahead.
        counts: FanCounts,
    },
    /// A lane begins.
    Started {
        /// Which of the parallel workers runs it.
        worker: usize,
        /// The item's place in the list, from 1.
        index: usize,
        /// The item's name in the list.
        item: &'a str,
    },
    /// An event of a client.
    Said {
        /// Which of the parallel workers runs it.
        worker: usize,
        /// What the client said.
        event: &'a LaneEvent,
    },
    /// A worker has no lane now.
    Ended {
        /// Which of the parallel workers.
        worker: usize,
        /// The item's place in the list, from 1.
        index: usize,
        /// Why there is no answer that counts.
        trouble: Option<&'a str>,
        /// How far the work is.
        counts: FanCounts,
    },
}

/// Shows a fan-out to its user.
pub trait FanFrontEnd {
    /// Takes in what happens.
    fn hear(&mut self, news: &FanNews<'_>);

    /// Takes the next result, in the order of the items. An error stops the run, which can go on later.
    fn result(&mut self, result: &FanResultLine) -> Result<(), Failure>;
}

/// Opens a fan-out's journal.
fn open_fan_journal<'w>(workspace: &'w Workspace, id: &RunId) -> Result<FanJournal<'w>, Failure> {
    FanJournal::open(&*workspace.store, id.clone()).map_err(|error| {
        let hint = journal_hint(&error);
        Failure::new(ErrorClass::Prerequisite, error).maybe_hint(hint)
    })
}

fn purpose(run: &RunId) -> Purpose {
    Purpose { run: Some(run.to_string()), role: Some(ROLE.to_owned()), phase: None }
}
