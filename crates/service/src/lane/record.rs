//! Lanes written down: what each is for, what it may spend, and what it spent.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use convoke_domain::lane::budget::{BudgetMeter, BudgetOwner, ExceededBudget, LaneBudget};
use convoke_domain::lane::budget_stop::BudgetStop;
use convoke_domain::lane::counted::UsageExtent;
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

use super::admission::LaneAdmission;
use super::agent::find_cassette;
use super::budget::{UncountedLanes, is_paid};
use super::ending::{
    ending, failed_ending, never_begun, not_started, refused_ending, stopped_by_budget,
};
use super::forecast::LOOKED_THROUGH;
use super::meter::LaneMeter;
use super::park::reset_time;
use super::pulse::PulseWriter;
use super::report::warnings;
use super::tree::{TreeLook, TreeWatch};
use super::{BudgetNotice, LaneProgress, LaneRequest, LaneRun, OnProgress, TreeWatching, log};
use crate::background::GivenAway;
use crate::failure::Failure;
use crate::failure::with_causes;
use crate::observer::Reporter;
use crate::session::Session;
use crate::settings::{lane, wake};
use crate::workspace::Workspace;

/// How long a lane waits for the store. After that it begins without one.
const PATIENCE: Duration = Duration::from_secs(5);

/// The store, opened for one lane.
pub(super) struct OpenLedger {
    pub(super) workspace: Workspace,
}

impl LaneRequest<'_> {
    /// Runs it, and tells the reporter what its client says.
    pub fn run(
        &self,
        session: &Session,
        scratch: &Path,
        reporter: &Reporter,
    ) -> Result<LaneRun, Failure> {
        let run = self.run_with_progress(session, scratch, reporter, &mut |progress| {
            if let LaneProgress::Said(event) = progress {
                reporter.lane(event);
            }
            ControlFlow::Continue(())
        });
        reporter.lane_over();
        run
    }

    /// Runs it once.
    pub(super) fn run_once(
        &self,
        session: &Session,
        scratch: &Path,
        reporter: &Reporter,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<LaneRun, Failure> {
        let span = log::span(self);
        let _entered = span.enter();
        let began = session.now();
        let nested = self.nested(session)?;
        let request = nested.as_ref().unwrap_or(self);
        let mut pulse = PulseWriter::new(session, request);
        let mut on_progress = |progress: LaneProgress<'_>| pulse.pass_on(progress, on_progress);
        let result = request.run_and_record(session, scratch, reporter, &span, &mut on_progress);
        log::ended(&result);
        session.telemetry.record_lane(session, self, began, &result);
        result
    }

    fn run_and_record(
        &self,
        session: &Session,
        scratch: &Path,
        reporter: &Reporter,
        span: &Span,
        on_progress: &mut OnProgress<'_>,
    ) -> Result<LaneRun, Failure> {
        // A recording that is not there is a mistake of the request, and no lane.
        find_cassette(self.agent)?;
        let ledger = OpenLedger::open(session, reporter);
        let LaneAdmission { id, refusal, uncounted } =
            self.admit(session, ledger.as_ref(), reporter)?;
        log::began(span, id, self);
        let record = ledger.as_ref().zip(id);
        if let Some(stop) = refusal {
            return Ok(not_run(stop, id, uncounted));
        }
        if self.outlook != BudgetNotice::Silent {
            uncounted.warnings().for_each(|warning| reporter.warn(warning));
        }
        if let Some(ledger) = ledger.as_ref().filter(|_| self.outlook == BudgetNotice::Forecast) {
            self.look_ahead(ledger, reporter);
        }
        let mut meter = self.meter(session, ledger.as_ref(), reporter);
        let look = TreeLook { session, reporter, limit: self.limits.wall };
        let tree = match self.watch {
            TreeWatching::Tree => TreeWatch::begin(self.rights, &look),
            TreeWatching::Nothing => TreeWatch::Off,
        };
        let pins = self.pins(session, ledger.as_ref().map(|ledger| &ledger.workspace), reporter);
        let is_unwanted =
            session.cancel().is_cancelled() || on_progress(LaneProgress::Began(id)).is_break();
        let transcript = if is_unwanted {
            Ok(never_begun())
        } else {
            self.start(session, scratch, reporter, &pins, meter.as_mut(), on_progress)
        };
        if let (Err(failure), Some((ledger, id))) = (&transcript, record) {
            kept(
                reporter,
                ledger.workspace.store.end_lane(id, &failed_ending(failure, session.now())),
            );
        }
        let mut transcript = transcript?;
        if let Some(ledger) = &ledger {
            self.record_pins(session, &ledger.workspace, &pins, &transcript, reporter);
        }
        let reached = meter.as_ref().and_then(LaneMeter::reached);
        let stop = reached.and_then(|reached| stopped_by_budget(&mut transcript, &reached));
        let spent = match record {
            Some((ledger, id)) => {
                let how = if is_unwanted {
                    refused_ending(&transcript, session.now())
                } else {
                    ending(&transcript, session.now())
                };
                kept(reporter, ledger.workspace.store.end_lane(id, &how)).flatten()
            }
            None => self.spent_alone(transcript.output.usage),
        };
        let over =
            ledger.as_ref().and_then(|ledger| self.budget_excess(ledger, spent, session, reporter));
        let tree = tree.end(&look);
        let resets_at = reset_time(&transcript, session.now());
        Ok(LaneRun { transcript, lane: id, stop, spent, over, uncounted, tree, resets_at })
    }

    /// Runs it as [`LaneRequest::run`] does, and warns if it did more than requested.
    pub fn run_and_warn(
        &self,
        session: &Session,
        scratch: &Path,
        reporter: &Reporter,
    ) -> Result<LaneRun, Failure> {
        let run = self.run(session, scratch, reporter)?;
        warnings(self.agent, &run.transcript, run.tree.as_ref())
            .for_each(|warning| reporter.warn(warning));
        Ok(run)
    }

    /// Returns the budget that it went over; its own, or that of its run, before the day's.
    fn budget_excess(
        &self,
        ledger: &OpenLedger,
        spent: Option<Usage>,
        session: &Session,
        reporter: &Reporter,
    ) -> Option<ExceededBudget> {
        // A replay costs nothing.
        if matches!(self.agent, AgentRef::Replay(_)) {
            return None;
        }
        let of_run = self.budget.and_then(|budget| {
            let sum = match self.purpose.run {
                Some(_) => kept(reporter, self.sum_of_run(ledger))?,
                None => self.sum_alone(spent?),
            };
            budget.excess(BudgetOwner::Own, sum)
        });
        of_run.or_else(|| {
            let budgets = lane::settings(session).ok()?.budgets_per_day;
            if budgets.is_empty() {
                return None;
            }
            let query =
                LaneQuery { since: day(session.now(), session).ok()?, ..LaneQuery::default() };
            let sum = kept(reporter, ledger.sum(query))?;
            budgets.iter().find_map(|budget| budget.excess(BudgetOwner::Day, sum))
        })
    }

    /// Shows the lane's forecast. An unknown forecast stops no lane.
    fn look_ahead(&self, ledger: &OpenLedger, reporter: &Reporter) {
        let Workspace { store, scope } = &ledger.workspace;
        let project = Some(scope.project.as_str());
        let query = LaneQuery { project, last: Some(LOOKED_THROUGH), ..LaneQuery::default() };
        let already = self.sum_of_run(ledger).map(|sum| sum.usage);
        if let (Ok(earlier), Ok(already)) = (store.lanes(query), already) {
            self.foresee(&earlier, already, reporter);
        }
    }

    /// Returns what the run has spent that it is part of.
    pub(super) fn sum_of_run(&self, ledger: &OpenLedger) -> Result<Sum, StoreError> {
        match self.purpose.run.as_deref() {
            Some(run) => ledger.sum(LaneQuery { run: Some(run), ..LaneQuery::default() }),
            None => Ok(Sum::default()),
        }
    }

    /// Returns what this lane alone has spent.
    fn sum_alone(&self, usage: Usage) -> Sum {
        let is_partial = self.usage_extent() == UsageExtent::LastStep;
        Sum { lanes: 1, usage, partial_usage: u64::from(is_partial), ..Sum::default() }
    }

    /// Returns what watches over a budget while it runs.
    fn meter(
        &self,
        session: &Session,
        ledger: Option<&OpenLedger>,
        reporter: &Reporter,
    ) -> Option<LaneMeter> {
        let budget = self.budget?;
        let store = ledger.map(|ledger| &ledger.workspace.store);
        let said_before = store.zip(self.resume).and_then(|(store, session)| {
            kept(reporter, store.last_count(&self.agent.to_string(), session)).flatten()
        });
        let meter = BudgetMeter {
            budget,
            already: ledger
                .and_then(|ledger| kept(reporter, self.sum_of_run(ledger)))
                .unwrap_or_default(),
            counts: self.agent.usage_scope(),
            extent: self.usage_extent(),
            before: said_before.or_else(|| self.resume.is_none().then(Usage::default)),
            given_away: 0,
            spent: Usage::default(),
            stopped: false,
        };
        Some(LaneMeter::new(meter, self.given_away(session, budget)))
    }

    /// Returns what its run gives away of its budget. A replay starts no agent that could.
    pub(super) fn given_away(&self, session: &Session, budget: LaneBudget) -> Option<GivenAway> {
        let is_free = matches!(self.agent, AgentRef::Replay(_));
        let run = self.purpose.run.as_deref().filter(|_| !is_free)?;
        GivenAway::by(session, run, budget)
    }

    pub(super) fn begun(&self, session: &Session) -> LaneStart {
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

    fn usage_extent(&self) -> UsageExtent {
        UsageExtent::of(&self.agent.to_string())
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

impl OpenLedger {
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

    pub(super) fn sum(&self, query: LaneQuery<'_>) -> Result<Sum, StoreError> {
        let lanes = self.workspace.store.lanes(query)?;
        Ok(Sum::of_all(lanes.iter().filter(|lane| is_paid(lane))))
    }
}

/// Takes a store's result; a failing store leads to a warning, and stops no lane.
pub(super) fn kept<T>(reporter: &Reporter, answer: Result<T, StoreError>) -> Option<T> {
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

/// Returns the result of a lane that may not start.
fn not_run(stop: BudgetStop, lane: Option<i64>, uncounted: UncountedLanes) -> LaneRun {
    let transcript = not_started(&stop);
    LaneRun {
        transcript,
        lane,
        stop: Some(stop),
        spent: None,
        over: None,
        uncounted,
        tree: None,
        resets_at: None,
    }
}
