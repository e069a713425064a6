//! Lanes written down: what each is for, what it may spend, and what it spent.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use convoke_domain::lane::cap::{Meter, Overdraft, Whose};
use convoke_domain::lane::event::Usage;
use convoke_domain::lane::ledger::{LaneStart, Sum};
use convoke_engine::client::{Rights, UsageScope};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::owner::myself;
use convoke_engine::skill::hash;
use convoke_store::error::StoreError;
use convoke_store::lane::LaneQuery;
use jiff::Timestamp;
use jiff::civil::Time;
use tracing::Span;

use super::budget::{is_paid, uncounted_warning};
use super::ending::{
    ending, failed_ending, never_begun, not_started, refused_ending, stopped_by_budget,
};
use super::forecast::LOOKED_THROUGH;
use super::report::warnings;
use super::tree::{TreeLook, TreeWatch};
use super::{BudgetNotice, LaneProgress, LaneRequest, LaneRun, OnProgress, TreeWatching, log};
use crate::failure::Failure;
use crate::failure::with_causes;
use crate::observer::Reporter;
use crate::session::Session;
use crate::settings::{lane, wake};
use crate::workspace::Workspace;

/// How long a lane waits for the store. After that it begins without one.
const PATIENCE: Duration = Duration::from_secs(5);

/// The reasons against the start of a lane.
#[derive(Default)]
struct Admission {
    /// Why it may not start: too much was spent already.
    refusal: Option<String>,
    /// How many lanes under the same budgets reported no usage.
    uncounted: u64,
}

/// The store, opened for one lane.
struct Books {
    workspace: Workspace,
}

impl LaneRequest<'_> {
    /// Runs it, and tells the reporter what its client says.
    pub fn run(
        &self,
        session: &Session,
        scratch: &Path,
        reporter: &Reporter,
        watch: TreeWatching,
    ) -> Result<LaneRun, Failure> {
        self.run_told(session, scratch, reporter, watch, &mut |progress| {
            if let LaneProgress::Said(event) = progress {
                reporter.lane(event);
            }
            ControlFlow::Continue(())
        })
    }

    /// Runs it in the project, tells a caller what happens meanwhile, and records it. Under a
    /// budget that is used up it is not started.
    pub fn run_told(
        &self,
        session: &Session,
        scratch: &Path,
        reporter: &Reporter,
        watch: TreeWatching,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<LaneRun, Failure> {
        let span = log::span(self);
        let _entered = span.enter();
        let result = self.run_recorded(session, scratch, reporter, watch, &span, on_progress);
        log::ended(&result);
        result
    }

    fn run_recorded(
        &self,
        session: &Session,
        scratch: &Path,
        reporter: &Reporter,
        watch: TreeWatching,
        span: &Span,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<LaneRun, Failure> {
        let books = Books::open(session, reporter);
        let Admission { refusal, uncounted } = self.admission(session, books.as_ref(), reporter)?;
        let id = books.as_ref().and_then(|books| {
            let scope = &books.workspace.scope;
            kept(reporter, books.workspace.store.begin_lane(scope, &self.begun(session)))
        });
        log::began(span, id, self);
        let record = books.as_ref().zip(id);
        if let Some(why) = refusal {
            return Ok(refused_run(session, record, why, uncounted, reporter));
        }
        if uncounted > 0 && self.outlook != BudgetNotice::Silent {
            reporter.warn(uncounted_warning(uncounted));
        }
        if let Some(books) = books.as_ref().filter(|_| self.outlook == BudgetNotice::Forecast) {
            self.look_ahead(books, reporter);
        }
        let mut meter = self.meter(books.as_ref(), reporter);
        let look = TreeLook { session, reporter, limit: self.limits.wall };
        let tree = match watch {
            TreeWatching::Tree => TreeWatch::begin(self.rights, &look),
            TreeWatching::Nothing => TreeWatch::Off,
        };
        let pins = self.pins(session, books.as_ref().map(|books| &books.workspace), reporter);
        let is_unwanted =
            session.cancel().is_asked() || on_progress(LaneProgress::Began(id)).is_break();
        let driven = if is_unwanted {
            Ok(never_begun())
        } else {
            self.start(session, scratch, reporter, &pins, meter.as_mut(), on_progress)
        };
        if let (Err(failure), Some((books, id))) = (&driven, record) {
            kept(
                reporter,
                books.workspace.store.end_lane(id, &failed_ending(failure, session.now())),
            );
        }
        let mut driven = driven?;
        if let Some(books) = &books {
            self.record_pins(session, &books.workspace, &pins, &driven, reporter);
        }
        if let Some(reached) = meter.as_ref().and_then(Meter::reached) {
            stopped_by_budget(&mut driven, &reached);
        }
        let spent = match record {
            Some((books, id)) => {
                let how = if is_unwanted {
                    refused_ending(&driven, session.now())
                } else {
                    ending(&driven, session.now())
                };
                kept(reporter, books.workspace.store.end_lane(id, &how)).flatten()
            }
            None => self.spent_alone(driven.heard.usage),
        };
        let over = books.as_ref().and_then(|books| self.overdraft(books, spent, session, reporter));
        Ok(LaneRun { driven, lane: id, spent, over, uncounted, tree: tree.end(&look) })
    }

    /// Runs it as [`LaneRequest::run`] does, and warns if it did more than requested.
    pub fn run_watched(
        &self,
        session: &Session,
        scratch: &Path,
        reporter: &Reporter,
    ) -> Result<LaneRun, Failure> {
        let run = self.run(session, scratch, reporter, TreeWatching::Tree)?;
        warnings(self.agent, &run.driven, run.tree.as_ref())
            .for_each(|warning| reporter.warn(warning));
        Ok(run)
    }

    /// Decides whether it may start, and counts lanes that its budgets do not include.
    fn admission(
        &self,
        session: &Session,
        books: Option<&Books>,
        reporter: &Reporter,
    ) -> Result<Admission, Failure> {
        let settings = lane::settings(session)?;
        // A replay costs nothing.
        if matches!(self.agent, AgentRef::Replay(_)) {
            return Ok(Admission::default());
        }
        let Some(books) = books else {
            let is_capped = !settings.budgets_per_day.is_empty() || self.budget.is_some();
            let why = "a budget is set, but Convoke cannot look up what was spent";
            return Ok(Admission { refusal: is_capped.then(|| why.to_owned()), uncounted: 0 });
        };
        let mut budgets = Vec::new();
        if !settings.budgets_per_day.is_empty() {
            let since = day(session.now(), session)?;
            let sum = kept(reporter, books.sum(LaneQuery { since, ..LaneQuery::default() }));
            let of_day = |sum| {
                settings
                    .budgets_per_day
                    .iter()
                    .map(move |cap| (*cap, sum, "the day's budget is spent"))
            };
            budgets.extend(sum.into_iter().flat_map(of_day));
        }
        if let Some(cap) = self.budget {
            let sum = kept(reporter, self.sum_of_run(books)).unwrap_or_default();
            budgets.push((cap, sum, "the budget is spent"));
        }
        let reached = budgets.iter().find_map(|(cap, sum, what)| {
            cap.allows(*sum).err().map(|reached| format!("{what}: {reached}"))
        });
        let blind = budgets.iter().map(|(cap, sum, _)| cap.blind_to(*sum));
        Ok(Admission { refusal: reached, uncounted: blind.max().unwrap_or_default() })
    }

    /// Returns the budget that it went over; its own, or that of its run, before the day's.
    fn overdraft(
        &self,
        books: &Books,
        spent: Option<Usage>,
        session: &Session,
        reporter: &Reporter,
    ) -> Option<Overdraft> {
        // A replay costs nothing.
        if matches!(self.agent, AgentRef::Replay(_)) {
            return None;
        }
        let of_run = self.budget.and_then(|cap| {
            let usage = match self.purpose.run {
                Some(_) => kept(reporter, self.sum_of_run(books))?.usage,
                None => spent?,
            };
            cap.overdraft(Whose::Own, usage)
        });
        of_run.or_else(|| {
            let caps = lane::settings(session).ok()?.budgets_per_day;
            if caps.is_empty() {
                return None;
            }
            let query =
                LaneQuery { since: day(session.now(), session).ok()?, ..LaneQuery::default() };
            let usage = kept(reporter, books.sum(query))?.usage;
            caps.iter().find_map(|cap| cap.overdraft(Whose::Day, usage))
        })
    }

    /// Shows the lane's forecast. An unknown forecast stops no lane.
    fn look_ahead(&self, books: &Books, reporter: &Reporter) {
        let Workspace { store, scope } = &books.workspace;
        let project = Some(scope.project.as_str());
        let query = LaneQuery { project, last: Some(LOOKED_THROUGH), ..LaneQuery::default() };
        let already = self.sum_of_run(books).map(|sum| sum.usage);
        if let (Ok(earlier), Ok(already)) = (store.lanes(query), already) {
            self.foresee(&earlier, already, reporter);
        }
    }

    /// Returns what the run has spent that it is part of.
    fn sum_of_run(&self, books: &Books) -> Result<Sum, StoreError> {
        match self.purpose.run.as_deref() {
            Some(run) => books.sum(LaneQuery { run: Some(run), ..LaneQuery::default() }),
            None => Ok(Sum::default()),
        }
    }

    /// Returns what watches over a budget while it runs.
    fn meter(&self, books: Option<&Books>, reporter: &Reporter) -> Option<Meter> {
        let cap = self.budget?;
        let store = books.map(|books| &books.workspace.store);
        let said_before = store.zip(self.resume).and_then(|(store, session)| {
            kept(reporter, store.last_count(&self.agent.to_string(), session)).flatten()
        });
        Some(Meter {
            cap,
            already: books
                .and_then(|books| kept(reporter, self.sum_of_run(books)))
                .unwrap_or_default(),
            counts: self.agent.usage_scope(),
            before: said_before.or_else(|| self.resume.is_none().then(Usage::default)),
            spent: Usage::default(),
            stopped: false,
        })
    }

    fn begun(&self, session: &Session) -> LaneStart {
        LaneStart {
            agent: self.agent.to_string(),
            purpose: self.purpose.clone(),
            asked_model: self.asked_model(session),
            writes: self.rights == Rights::Write,
            resumed_from: self.resume.map(str::to_owned),
            owner: myself(),
            kept_in: self.kept_in.clone(),
            prompt_chars: self.prompt.chars().count() as u64,
            prompt_hash: hash(self.prompt),
            at: session.now(),
        }
    }

    fn counts(&self) -> UsageScope {
        self.agent.usage_scope()
    }

    /// Returns the lane's usage as far as it is known without the store.
    fn spent_alone(&self, said: Option<Usage>) -> Option<Usage> {
        let before = self.resume.is_none().then(Usage::default);
        said.and_then(|said| self.counts().of_run(said, before))
    }
}

impl Books {
    /// Opens the store. A lane is not worth less because it cannot be written down.
    fn open(session: &Session, reporter: &Reporter) -> Option<Self> {
        match Workspace::open_in_a_hurry(session, None, PATIENCE) {
            Ok(workspace) => Some(Self { workspace }),
            Err(failure) => {
                let why = with_causes(failure.error.as_ref());
                reporter.warn(format!("Convoke cannot record the lane: {why}"));
                failure.hints.into_iter().for_each(|hint| reporter.hint(hint));
                None
            }
        }
    }

    fn sum(&self, query: LaneQuery<'_>) -> Result<Sum, StoreError> {
        let lanes = self.workspace.store.lanes(query)?;
        Ok(Sum::of_all(lanes.iter().filter(|lane| is_paid(lane))))
    }
}

/// Records that a lane may not start, and returns its result.
fn refused_run(
    session: &Session,
    record: Option<(&Books, i64)>,
    why: String,
    uncounted: u64,
    reporter: &Reporter,
) -> LaneRun {
    let driven = not_started(why);
    if let Some((books, id)) = record {
        let ending = refused_ending(&driven, session.now());
        kept(reporter, books.workspace.store.end_lane(id, &ending));
    }
    let lane = record.map(|(_, id)| id);
    LaneRun { driven, lane, spent: None, over: None, uncounted, tree: None }
}

/// Takes a store's result; a failing store leads to a warning, and stops no lane.
fn kept<T>(reporter: &Reporter, answer: Result<T, StoreError>) -> Option<T> {
    answer
        .map_err(|error| {
            let why = with_causes(&error);
            reporter.warn(format!("Convoke cannot record the lane: {why}"));
        })
        .ok()
}

/// Returns when the day began.
pub(crate) fn day(now: Timestamp, session: &Session) -> Result<Option<Timestamp>, Failure> {
    let clock = wake::settings(session)?.clock;
    let midnight = clock.to_datetime(now).date().to_datetime(Time::midnight());
    Ok(clock.to_timestamp(midnight).ok())
}
