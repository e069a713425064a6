//! A lane inside another: it counts as one more, and spends the budget of the one around it.

use convoke_domain::lane::around::SurroundingLane;
use convoke_domain::lane::budget::LaneBudget;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_store::lane::LaneQuery;

use super::LaneRequest;
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

impl LaneRequest<'_> {
    /// Returns the request as it holds in the lane around it; nothing where there is no such lane. A
    /// replay costs nothing.
    pub(super) fn nested(&self, session: &Session) -> Result<Option<Self>, Failure> {
        let Some(around) = session.environment.surrounding_lane() else { return Ok(None) };
        if matches!(self.agent, AgentRef::Replay(_)) {
            return Ok(None);
        }
        let budget = around
            .inherit(self.budget)
            .map_err(|error| Failure::new(ErrorClass::Refused, error))?;
        let mut nested = Self { budget, ..self.clone() };
        nested.purpose.run = nested.purpose.run.or(around.run);
        Ok(Some(nested))
    }

    /// Returns what the processes of its client learn about it.
    pub(super) fn inside(&self, session: &Session) -> SurroundingLane {
        let around = session.environment.surrounding_lane();
        SurroundingLane {
            hops: around.map_or(0, |around| around.hops) + 1,
            budget: self.budget,
            run: self.purpose.run.clone(),
        }
    }
}

/// Returns the budget of the lane around, and which lanes share it.
pub(super) fn around_budget(
    around: Option<&SurroundingLane>,
) -> Option<(LaneBudget, LaneQuery<'_>)> {
    let around = around?;
    let query = LaneQuery { run: Some(around.run.as_deref()?), ..LaneQuery::default() };
    Some((around.budget?, query))
}
