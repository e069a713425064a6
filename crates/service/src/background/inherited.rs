//! What a lane may give to runs that it starts: no more than is left of its own budget.

use std::{fs, io};

use convoke_domain::lane::budget::{LaneBudget, WrittenBudget};
use convoke_domain::lane::ledger::Sum;
use convoke_store::lane::LaneQuery;

use super::folder::{Folders, budget_paid_by, unusable};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

#[derive(Debug, thiserror::Error)]
#[error("nothing is left of the budget of the lane around it: {0}")]
struct NothingLeft(LaneBudget);

/// A run of the lane counted tokens, and the lane counts money, or the other way round.
#[derive(Debug, thiserror::Error)]
#[error(
    "the budget {given} of an earlier run cannot be compared with that of the lane around it: {total}"
)]
struct OtherUnit {
    given: String,
    total: LaneBudget,
}

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
        let left = total.most().saturating_sub(spent).saturating_sub(self.given_away(&run, total)?);
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
    fn given_away(&self, run: &str, total: LaneBudget) -> Result<u64, Failure> {
        let entries = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
            entries => entries.map_err(unusable(&self.root))?,
        };
        let mut sum = 0_u64;
        for entry in entries {
            let folder = entry.map_err(unusable(&self.root))?.path();
            if let Some(budget) = budget_paid_by(&folder, run)? {
                let amount = amount(budget.budget(), total).ok_or_else(|| {
                    let error = OtherUnit { given: budget.text().to_owned(), total };
                    Failure::new(ErrorClass::Refused, error)
                        .hint("let the user start the run outside of the lane")
                })?;
                sum = sum.saturating_add(amount);
            }
        }
        Ok(sum)
    }
}

const fn amount(given: LaneBudget, total: LaneBudget) -> Option<u64> {
    match (given, total) {
        (LaneBudget::Tokens(most), LaneBudget::Tokens(_))
        | (LaneBudget::MicroDollars(most), LaneBudget::MicroDollars(_)) => Some(most),
        (LaneBudget::Tokens(_), LaneBudget::MicroDollars(_))
        | (LaneBudget::MicroDollars(_), LaneBudget::Tokens(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // What a lane gave away cannot be known as long as one record of it cannot be read.
    #[test]
    fn a_budget_that_cannot_be_read_is_not_counted_as_nothing() {
        let root = tempfile::tempdir().unwrap();
        let put = |run: &str, request: &str| {
            fs::create_dir_all(root.path().join(run)).unwrap();
            fs::write(root.path().join(run).join("request.json"), request).unwrap();
        };
        let folders = Folders::at(root.path().to_owned(), String::new());
        let total = LaneBudget::parse("2k").unwrap();
        let given = || folders.given_away("outer", total);
        fs::create_dir(root.path().join(".keys")).unwrap();
        fs::create_dir(root.path().join("without-a-request")).unwrap();
        put("one", r#"{"budget":"1k","paid_by":"outer"}"#);
        put("other", r#"{"budget":"a lot","paid_by":"another run"}"#);
        put("free", r#"{"budget":null,"paid_by":"outer"}"#);
        assert_eq!(given().unwrap(), 1000);
        for (request, said) in [
            (r#"{"budget":"a lot","paid_by":"outer"}"#, "cannot read the budget `a lot` in `"),
            (r#"{"budget":"$1","paid_by":"outer"}"#, "cannot be compared"),
            (r#"{"budget":1000,"paid_by":"outer"}"#, "cannot read `"),
            ("", "cannot read `"),
        ] {
            put("two", request);
            let failure = given().unwrap_err();
            assert!(failure.error.to_string().contains(said), "{request}: {failure:?}");
            assert!(!failure.hints.is_empty(), "{failure:?}");
        }
        put("two", r#"{"budget":"500","paid_by":"outer"}"#);
        assert_eq!(given().unwrap(), 1500);
    }
}
