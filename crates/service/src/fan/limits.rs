//! Why a fan-out starts no further lane, and what its answers say about the budget.

use convoke_domain::fan::stop::FanStop;
use convoke_domain::lane::agent_word::AgentWord;
use convoke_domain::lane::budget::LaneBudget;
use convoke_domain::lane::event::Usage;
use convoke_domain::lane::outcome::LaneOutcome;
use jiff::Timestamp;

use super::work::{Course, Desk};
use crate::lane::ParkVerdict;

/// How many lanes may fail one after another before Convoke stops: the next ones would, too.
const MOST_FAILURES: usize = 10;

/// Whether the user was warned that the budget does not count all answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BudgetDoubt {
    Untold,
    Told,
}

impl Desk<'_, '_> {
    /// Decides whether a lane is a reason to wait for the end of the agent's limit. Lanes that ran beside
    /// it can meet the same limit.
    pub(super) fn parks(
        &mut self,
        outcome: LaneOutcome,
        resets_at: Option<Timestamp>,
        why: &str,
    ) -> bool {
        let Course { session, work, .. } = *self.course;
        let Some(terms) = work.park else { return false };
        let verdict = terms.judge(outcome, resets_at, session.now());
        match (verdict, &mut self.stop) {
            (ParkVerdict::Until(at), Some(FanStop::Parked { until, .. })) => {
                *until = at.max(*until);
            }
            (ParkVerdict::Until(until), stop @ None) => {
                *stop = Some(FanStop::Parked { until, why: why.to_owned() });
            }
            (ParkVerdict::Unknown, Some(FanStop::Parked { .. })) => {}
            _ => {
                if let Some(refusal) = terms.refusal(verdict) {
                    session.reporter().warn(refusal);
                }
                return false;
            }
        }
        true
    }

    /// Decides whether a lane without an answer is a reason to stop.
    pub(super) fn stop_after(&mut self, outcome: LaneOutcome, why: &str) {
        let why = why.to_owned();
        let stop = if outcome == LaneOutcome::OverBudget {
            FanStop::OverBudget(why)
        } else if fails_for_all(outcome) {
            FanStop::Hopeless { outcome, why }
        } else if self.failures >= MOST_FAILURES {
            FanStop::ManyFailures { count: MOST_FAILURES, outcome, why }
        } else {
            return;
        };
        // What ends the run for good counts more than a wait.
        if matches!(self.stop, None | Some(FanStop::Parked { .. })) {
            self.stop = Some(stop);
        }
    }

    pub(super) fn count_usage(&mut self, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        self.counts.tokens = self.counts.tokens.saturating_add(usage.tokens());
        if let Some(money) = usage.micro_dollars {
            let so_far = self.counts.micro_dollars.unwrap_or_default();
            self.counts.micro_dollars = Some(so_far.saturating_add(money));
        }
    }

    /// Warns once that the budget cannot stop the run, because an answer does not say what counts there.
    pub(super) fn doubt_budget(&mut self, usage: Option<Usage>) {
        let Some(budget) = &self.course.work.budget else { return };
        let budget = budget.budget();
        let run = self.journal.record().settings();
        let is_recorded = run.is_some_and(|run| AgentWord::parse(&run.agent).is_recorded());
        let missing = match (budget, usage) {
            // A recording costs nothing.
            _ if is_recorded => return,
            (_, None) => "usage",
            (LaneBudget::MicroDollars(_), Some(Usage { micro_dollars: None, .. })) => "cost",
            (LaneBudget::Tokens(_) | LaneBudget::MicroDollars(_), Some(_)) => return,
        };
        if self.told == BudgetDoubt::Untold {
            self.told = BudgetDoubt::Told;
            self.course.session.reporter().warn(format!(
                "answers come without their {missing}, so the budget of {budget} does not count them"
            ));
        }
    }
}

/// Tells whether a lane of the same agent would fail in the same way.
const fn fails_for_all(outcome: LaneOutcome) -> bool {
    matches!(
        outcome,
        LaneOutcome::Auth
            | LaneOutcome::RateLimited
            | LaneOutcome::RefusedFlags
            | LaneOutcome::NotStarted
    )
}
