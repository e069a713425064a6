//! The decision whether a lane may begin, by all budgets that it is under.

use convoke_domain::lane::budget::SpentAmount;
use convoke_domain::lane::budget_stop::BudgetStop;
use convoke_domain::lane::ledger::{LaneEntry, Sum};
use convoke_domain::lane::reservation::TakenBudget;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::owner::is_gone;
use convoke_store::lane::LedgerLook;
use jiff::Timestamp;

use super::LaneRequest;
use super::around::around_budget;
use super::budget::{UncountedLanes, is_paid};
use super::ending::{not_started, refused_ending};
use super::record::{OpenLedger, day, kept};
use crate::failure::Failure;
use crate::observer::Reporter;
use crate::session::Session;
use crate::settings::lane::{self, Settings};

/// Makes the stop of a budget from the amount that was spent.
type StopOf = fn(SpentAmount) -> BudgetStop;

/// Whether a lane may begin.
#[derive(Default)]
pub(super) struct LaneAdmission {
    /// The lane's number, if it could be recorded.
    pub(super) id: Option<i64>,
    /// Why it may not start: too much was spent already.
    pub(super) refusal: Option<BudgetStop>,
    /// How many lanes under the same budgets these cannot count.
    pub(super) uncounted: UncountedLanes,
}

impl LaneRequest<'_> {
    /// Decides whether it may start, and records it in either case.
    pub(super) fn admit(
        &self,
        session: &Session,
        ledger: Option<&OpenLedger>,
        reporter: &Reporter,
    ) -> Result<LaneAdmission, Failure> {
        let settings = lane::settings(session)?;
        // A replay costs nothing.
        let is_free = matches!(self.agent, AgentRef::Replay(_));
        let Some(ledger) = ledger else {
            let has_budget = !settings.budgets_per_day.is_empty() || self.budget.is_some();
            let refusal = (has_budget && !is_free).then_some(BudgetStop::Unknown);
            return Ok(LaneAdmission { refusal, ..LaneAdmission::default() });
        };
        if is_free {
            return Ok(self.record_start(session, ledger, None, reporter));
        }
        let (refusal, uncounted) = self.check_run(session, ledger, reporter);
        let admission = if settings.budgets_per_day.is_empty() {
            self.record_start(session, ledger, refusal, reporter)
        } else {
            let since = day(session.now(), session)?;
            self.start_within_day(session, ledger, &settings, since, refusal.as_ref(), reporter)
        };
        Ok(LaneAdmission { uncounted: uncounted.or(admission.uncounted), ..admission })
    }

    /// Checks the budgets of its run and of the lane around it.
    fn check_run(
        &self,
        session: &Session,
        ledger: &OpenLedger,
        reporter: &Reporter,
    ) -> (Option<BudgetStop>, UncountedLanes) {
        let around = session.environment.surrounding_lane();
        let (own, around_it): (StopOf, StopOf) = (BudgetStop::Own, BudgetStop::Around);
        let mut budgets = Vec::new();
        if let Some(budget) = self.budget {
            let sum = kept(reporter, self.sum_of_run(ledger)).unwrap_or_default();
            let given = self.given_away(session, budget).map_or(0, |mut given| given.amount());
            budgets.push((budget, sum, given, own));
        }
        if let Some((budget, query)) = around_budget(around.as_ref()) {
            let sum = kept(reporter, ledger.sum(query)).unwrap_or_default();
            // What the lane around it gave away is this very run's, or another's that may go on.
            budgets.push((budget, sum, 0, around_it));
        }
        let reached = budgets.iter().find_map(|(budget, sum, given, stop)| {
            budget.allows_beside(*sum, *given).err().map(|reached| stop(reached.amount()))
        });
        let uncounted = budgets.iter().map(|(budget, sum, ..)| UncountedLanes::of(*budget, *sum));
        (reached, uncounted.fold(UncountedLanes::default(), UncountedLanes::or))
    }

    /// Records it without a look at the day's budgets.
    fn record_start(
        &self,
        session: &Session,
        ledger: &OpenLedger,
        refusal: Option<BudgetStop>,
        reporter: &Reporter,
    ) -> LaneAdmission {
        let store = &ledger.workspace.store;
        let id = kept(reporter, store.begin_lane(&ledger.workspace.scope, &self.begun(session)));
        if let Some((stop, id)) = refusal.as_ref().zip(id) {
            let ending = refused_ending(&not_started(stop), session.now());
            kept(reporter, store.end_lane(id, &ending));
        }
        LaneAdmission { id, refusal, ..LaneAdmission::default() }
    }

    /// Checks the day's budgets and records it in one change of the store, so that no other process or
    /// machine takes the same rest of a budget.
    fn start_within_day(
        &self,
        session: &Session,
        ledger: &OpenLedger,
        settings: &Settings,
        since: Option<Timestamp>,
        refusal: Option<&BudgetStop>,
        reporter: &Reporter,
    ) -> LaneAdmission {
        let mut admission = LaneAdmission::default();
        let mut refuse = |look: &LedgerLook| {
            let sum = Sum::of_all(look.lanes.iter().filter(|lane| is_paid(lane)));
            let running: Vec<_> = look.lanes.iter().filter(|lane| may_spend(lane)).collect();
            let budgets = &settings.budgets_per_day;
            let taken = budgets
                .iter()
                .find_map(|budget| TakenBudget::find(*budget, sum, &running, &look.earlier));
            let uncounted = budgets.iter().map(|budget| UncountedLanes::of(*budget, sum));
            admission.uncounted = uncounted.fold(UncountedLanes::default(), UncountedLanes::or);
            let taken = taken.as_ref().map(BudgetStop::from);
            admission.refusal = taken.or_else(|| refusal.cloned());
            let stop = admission.refusal.as_ref()?;
            Some(refused_ending(&not_started(stop), session.now()))
        };
        let store = &ledger.workspace.store;
        let scope = &ledger.workspace.scope;
        let begun = self.begun(session);
        let id = kept(reporter, store.begin_lane_unless(scope, &begun, since, &mut refuse));
        if id.is_none() && admission.refusal.is_none() {
            admission.refusal = Some(BudgetStop::Unknown);
        }
        LaneAdmission { id, ..admission }
    }
}

/// Tells whether a lane runs that can cost something: its process is not known to be gone.
pub(crate) fn may_spend(lane: &LaneEntry) -> bool {
    lane.over.is_none() && is_paid(lane) && !is_gone(&lane.begun.owner)
}
