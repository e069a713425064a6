//! The budget that the lanes of one call share, and what it cannot count.

use convoke_domain::lane::budget::LaneBudget;
use convoke_domain::lane::ledger::{LaneEntry, Purpose};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::supervisor::Limits;

use super::USUAL_LIMITS;
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

/// Returns the warning about earlier lanes that a budget does not include.
pub fn without_usage_warning(without_usage: u64) -> String {
    match without_usage {
        1 => "1 earlier lane reported no usage and is not counted".to_owned(),
        more => format!("{more} earlier lanes reported no usage and are not counted"),
    }
}
