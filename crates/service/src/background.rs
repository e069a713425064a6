//! Background runs: designs, dispatches and lanes in a process of their own, which goes on when the
//! program that started it ends.
//!
//! Each has a folder in the state folder with its request and what its process printed. A caller
//! names a key with its request: the same key and request give the same run, however often they come.

mod answer;
mod attempt;
mod expiry;
mod folder;
mod inherited;
mod outcome;
mod progress;
mod resumption;
mod state;
mod words;
mod work;

use convoke_domain::lane::budget::WrittenBudget;
use convoke_domain::run::RunId;
use serde::Serialize;

pub use self::answer::{AnsweredRunReport, answer_question, answer_run, rule_run};
use self::folder::{Claim, Folders, NewRun};
pub(crate) use self::inherited::GivenAway;
pub use self::outcome::{RunOutputReport, run_output};
pub use self::progress::{
    RunProgressReport, RunQuestionReport, RunSeatReport, RunSpentReport, run_mark, run_progress,
};
use self::resumption::{RepeatedDesign, named_design};
pub use self::state::{BackgroundKind, BackgroundState};
pub use self::words::{DesignWork, DispatchWork, LaneWork, RunWork};
pub use self::work::{BackgroundWork, begin_work, leave_session};
use crate::design::forecast_of_run;
use crate::failure::{ErrorClass, Failure};
use crate::lane::forecast_of_lane;
use crate::session::Session;
use crate::settings::mcp::{BudgetRefusal, settings};
use crate::status::SpentToday;
use crate::workspace::Workspace;

/// How long a caller should wait before it looks at a run that has just begun, in seconds.
const POLL_AFTER: u64 = 5;

/// The longest key, in bytes.
const LONGEST_KEY: usize = 200;

/// A run to start.
#[derive(Debug, Clone)]
pub struct StartRunRequest {
    /// Names the request: the same key starts nothing twice.
    pub key: String,
    /// What to do.
    pub work: RunWork,
    /// What it may spend; without it, what the settings say.
    pub budget: Option<WrittenBudget>,
}

/// A run that was started, now or by an earlier call with the same key.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StartedRunReport {
    /// The run's id, by which later calls ask for it.
    pub run: String,
    /// The kind of the run.
    pub kind: BackgroundKind,
    /// Whether an earlier call with the same key started it.
    pub was_started_before: bool,
    /// Whether this call had a stopped design go on, or a run begin again that failed without a lane.
    pub was_resumed: bool,
    /// What it may spend; nothing where it costs nothing.
    pub budget: Option<String>,
    /// What earlier runs of this kind needed, or why that is unknown; nothing where it costs nothing.
    pub forecast: Option<String>,
    /// After how many seconds it is worth looking.
    pub poll_after_s: u64,
}

#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error("a run needs a key: any word that names this request, such as `login-plan-1`")]
    NoKey,
    #[error("the key has {0} bytes, but {LONGEST_KEY} is the most")]
    LongKey(usize),
    #[error("the key `{key}` belongs to run {run}, which was asked for something else")]
    OtherRequest { key: String, run: RunId },
    #[error("the key `{key}` belongs to run {run}, whose folder is gone")]
    LostRun { key: String, run: RunId },
    #[error("the budget of today is used up: {0}")]
    DayUsedUp(String),
    #[error("agents in lanes may start no run")]
    InLane,
    #[error("run {0} was not started by the lane around it, which cannot pay for it")]
    ForeignRun(String),
}

/// Starts a run in a process of its own, and returns without waiting for it.
pub fn start_run(
    session: &Session,
    request: &StartRunRequest,
) -> Result<StartedRunReport, Failure> {
    let key = usable_key(&request.key)?;
    if session.environment.is_in_lane() && !settings(session)?.in_lanes {
        return Err(Failure::new(ErrorClass::Refused, StartError::InLane));
    }
    if let Some(design) = named_design(session, key) {
        return request.go_on_with(session, &design);
    }
    request.work.check(session)?;
    let folders = Folders::of(session)?;
    // Two calls in parallel must neither start a run twice nor give the same budget away twice.
    let lock = folders.lock_starts()?;
    let mut new = NewRun::of(session, key, &request.work, request.budget.as_ref());
    let claim = if let Some(claim) = folders.known(&new)? {
        claim
    } else {
        new.set_budget(request.settle_budget(session, &folders)?.as_ref());
        request.work.check_agents(session)?;
        folders.claim(&new)?
    };
    let (run, was_started_before) = match claim {
        Claim::Ours(run) => (run, false),
        Claim::Known(run) => (run, true),
        Claim::Other(run) => {
            let error = StartError::OtherRequest { key: key.to_owned(), run };
            return Err(Failure::new(ErrorClass::Refused, error)
                .hint("use another key for another request"));
        }
        Claim::Lost(run) => {
            let error = StartError::LostRun { key: key.to_owned(), run };
            return Err(Failure::new(ErrorClass::Refused, error)
                .hint("use another key, which starts the work again"));
        }
    };
    let kept = folders.open(&run)?;
    let budget = kept.budget()?;
    let mut was_resumed = false;
    // A server that was killed after it chose the id has started nothing.
    if !was_started_before || !kept.was_ever_started(session.now()) {
        let words = request.work.words(&session.project, &run, budget.as_ref());
        work::start(session, &kept, &words)?;
    } else if let Some(repeated) = RepeatedDesign::find(session, &kept) {
        was_resumed = repeated.resume(session, || Ok(budget.clone()))?;
    } else {
        was_resumed = kept.begin_again(session, &run, &request.work, budget.as_ref())?;
    }
    drop(lock);
    Ok(StartedRunReport {
        run: run.to_string(),
        kind: request.work.kind(),
        was_started_before,
        was_resumed,
        forecast: request.forecast(session, &run, budget.as_ref())?,
        budget: budget.map(|budget| budget.text().to_owned()),
        poll_after_s: POLL_AFTER,
    })
}

fn usable_key(key: &str) -> Result<&str, Failure> {
    let usage = |error| Failure::new(ErrorClass::Usage, error);
    match key.trim() {
        "" => Err(usage(StartError::NoKey)),
        long if long.len() > LONGEST_KEY => Err(usage(StartError::LongKey(long.len()))),
        key => Ok(key),
    }
}

fn refuse_used_up_day(session: &Session) -> Result<(), Failure> {
    let today = SpentToday::of(session, &Workspace::open(session, None)?)?;
    if today.is_used_up {
        let error = StartError::DayUsedUp(today.budgets.join(", "));
        return Err(Failure::new(ErrorClass::OverBudget, error));
    }
    Ok(())
}

impl StartRunRequest {
    /// Returns what the run may spend; nothing where it costs nothing.
    fn settle_budget(
        &self,
        session: &Session,
        folders: &Folders,
    ) -> Result<Option<WrittenBudget>, Failure> {
        if !self.work.is_paid() {
            return Ok(self.budget.clone());
        }
        refuse_used_up_day(session)?;
        let budget = settings(session)?.budget(self.budget.clone()).map_err(refused_budget)?;
        folders.within_lane(session, budget).map(Some)
    }

    fn forecast(
        &self,
        session: &Session,
        run: &RunId,
        budget: Option<&WrittenBudget>,
    ) -> Result<Option<String>, Failure> {
        if !self.work.is_paid() {
            return Ok(None);
        }
        let budget = budget.map(WrittenBudget::budget);
        let forecast = match &self.work {
            RunWork::Design(_) => forecast_of_run(session, run, budget),
            RunWork::Dispatch(DispatchWork { agent, role, .. }) => {
                forecast_of_lane(session, Some(agent), Some(&role.to_string()), budget)
            }
            RunWork::Lane(LaneWork { agent, role, .. }) => {
                forecast_of_lane(session, agent.as_ref(), role.as_deref(), budget)
            }
        };
        forecast.map(Some)
    }
}

fn refused_budget(error: BudgetRefusal) -> Failure {
    let (class, hint) = match error {
        BudgetRefusal::Missing => (
            ErrorClass::Usage,
            "name one, such as `200k` tokens or `$2`, or set `budget` in the section `[mcp]` of \
             your config.toml",
        ),
        BudgetRefusal::TooHigh { .. } => (ErrorClass::OverBudget, "ask for less"),
        BudgetRefusal::OtherUnit { .. } => {
            (ErrorClass::OverBudget, "name it in the same unit: tokens, or dollars")
        }
    };
    Failure::new(class, error).hint(hint)
}
