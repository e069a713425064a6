//! The budget of a lane while it runs, with what the lane gives away meanwhile.

use convoke_domain::lane::budget::{BudgetMeter, SpentBudget};
use convoke_domain::lane::event::LaneEvent;

use crate::background::GivenAway;

/// Watches a lane's budget: what the client spends, and the budgets of runs that its agent starts.
pub(crate) struct LaneMeter {
    spent: BudgetMeter,
    given: Option<GivenAway>,
}

impl LaneMeter {
    /// Without a run, the lane has nothing that another run could be paid by.
    pub(crate) const fn new(spent: BudgetMeter, given: Option<GivenAway>) -> Self {
        Self { spent, given }
    }

    /// Takes in an event, and tells whether the lane must stop now.
    pub(crate) fn stops_at(&mut self, event: &LaneEvent) -> bool {
        if let Some(given) = &mut self.given {
            self.spent.given_away = given.amount();
        }
        self.spent.stops_at(event)
    }

    /// Returns the budget that was reached, if the lane was stopped for it.
    pub(crate) fn reached(&self) -> Option<SpentBudget> {
        self.spent.reached()
    }
}
