//! The budget that the lanes of one call share, and what it cannot count.

use convoke_domain::lane::budget::LaneBudget;
use convoke_domain::lane::ledger::{LaneEntry, Purpose, Sum};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::supervisor::Limits;

use super::{ParkTerms, USUAL_LIMITS};
use crate::session::Session;

/// The budget of one call's lanes, and the time limit of each.
#[derive(Debug, Clone)]
pub struct CallBudget {
    /// The most that all of them may spend together.
    pub budget: Option<LaneBudget>,
    /// The name that the ledger sums them up under.
    pub run: Option<String>,
    /// How long each may take.
    pub limits: Limits,
    /// Whether each waits for the end of its agent's limit.
    pub park: Option<ParkTerms>,
}

impl CallBudget {
    /// Settles the budget of one call of a command. Lanes share a budget under a name, so a budget
    /// without a run gets one.
    pub fn settle(
        session: &Session,
        command: &str,
        budget: Option<LaneBudget>,
        run: Option<String>,
        wall: std::time::Duration,
    ) -> Self {
        let unnamed = || format!("{command} {} {}", session.now(), std::process::id());
        Self {
            budget,
            run: run.or_else(|| budget.map(|_| unnamed())),
            limits: Limits { wall, ..USUAL_LIMITS },
            park: None,
        }
    }

    /// Returns what the ledger records a role's lane under.
    pub fn purpose(&self, role: impl Into<String>) -> Purpose {
        Purpose { run: self.run.clone(), role: Some(role.into()), phase: None }
    }
}

/// Tells whether a lane can have cost tokens: a replayed one did not.
pub fn is_paid(lane: &LaneEntry) -> bool {
    !matches!(AgentRef::parse(&lane.begun.agent), Some(AgentRef::Replay(_)))
}

/// The earlier lanes that a budget does not include, or not with all that they used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UncountedLanes {
    /// How many reported no usage.
    pub without_usage: u64,
    /// How many reported a part of their usage.
    pub partial_usage: u64,
}

impl UncountedLanes {
    /// Returns those that a budget cannot count.
    pub const fn of(budget: LaneBudget, sum: Sum) -> Self {
        let without_usage = budget.lanes_without_usage(sum);
        Self { without_usage, partial_usage: sum.partial_usage }
    }

    /// Returns the larger numbers of two budgets.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            without_usage: self.without_usage.max(other.without_usage),
            partial_usage: self.partial_usage.max(other.partial_usage),
        }
    }

    /// Returns a warning for each kind that there is.
    pub fn warnings(self) -> impl Iterator<Item = String> {
        let without = match self.without_usage {
            0 => None,
            1 => Some("1 earlier lane reported no usage and is not counted".to_owned()),
            more => Some(format!("{more} earlier lanes reported no usage and are not counted")),
        };
        let partial = match self.partial_usage {
            0 => None,
            1 => Some("1 earlier lane reported a part of its usage; only that is counted".into()),
            more => {
                let words = "earlier lanes reported a part of their usage; only that is counted";
                Some(format!("{more} {words}"))
            }
        };
        without.into_iter().chain(partial)
    }
}
