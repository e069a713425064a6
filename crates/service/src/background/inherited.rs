//! What a lane may give to runs that it starts: no more than is left of its own budget.

use std::fs;

use convoke_domain::lane::budget::{LaneBudget, WrittenBudget};
use convoke_domain::lane::ledger::Sum;
use convoke_store::lane::LaneQuery;

use super::folder::{Folders, KeptRequest, kept_run};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

#[derive(Debug, thiserror::Error)]
#[error("nothing is left of the budget of the lane around it: {0}")]
struct NothingLeft(LaneBudget);

impl Folders {
    /// Returns the budget of a run that a lane starts: that of the request, or what is left of the
    /// lane's own, if that is less. Budgets that the lane gave to earlier runs count as spent.
    pub(super) fn within_lane(
        &self,
        session: &Session,
        asked: WrittenBudget,
    ) -> Result<WrittenBudget, Failure> {
        let Some(around) = session.environment.surrounding_lane() else { return Ok(asked) };
        let inherited = around
            .inherit(Some(asked.budget()))
            .map_err(|error| Failure::new(ErrorClass::Refused, error))?;
        let (Some(total), Some(run)) = (around.budget, around.run) else { return Ok(asked) };
        let Workspace { store, .. } = Workspace::open(session, None)?;
        let query = LaneQuery { run: Some(&run), ..LaneQuery::default() };
        let spent = total.spent(Sum::of_all(&store.lanes(query).map_err(refused)?).usage);
        let left = total.most().saturating_sub(spent).saturating_sub(self.given_away(&run, total));
        if left == 0 {
            return Err(Failure::new(ErrorClass::OverBudget, NothingLeft(total)));
        }
        let most = inherited.map_or(left, |inherited| inherited.most().min(left));
        if most >= asked.budget().most() {
            return Ok(asked);
        }
        let text = match total {
            LaneBudget::Tokens(_) => most.to_string(),
            LaneBudget::MicroDollars(_) => format!("${}.{:06}", most / 1_000_000, most % 1_000_000),
        };
        WrittenBudget::parse(&text).map_err(|error| Failure::new(ErrorClass::Bug, error))
    }

    /// Adds up the budgets of the runs that a lane's run pays for, in the unit of its own.
    fn given_away(&self, run: &str, total: LaneBudget) -> u64 {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let kept = entries.filter_map(|entry| kept_run(entry.path())).map(|kept| kept.request);
        let paid = kept.filter(|request| request.paid_by.as_deref() == Some(run));
        paid.filter_map(|request| amount(&request, total)).fold(0, u64::saturating_add)
    }
}

fn amount(request: &KeptRequest, total: LaneBudget) -> Option<u64> {
    match (LaneBudget::parse(request.budget.as_deref()?).ok()?, total) {
        (LaneBudget::Tokens(most), LaneBudget::Tokens(_))
        | (LaneBudget::MicroDollars(most), LaneBudget::MicroDollars(_)) => Some(most),
        (LaneBudget::Tokens(_), LaneBudget::MicroDollars(_))
        | (LaneBudget::MicroDollars(_), LaneBudget::Tokens(_)) => None,
    }
}
