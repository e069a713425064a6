//! What the lanes of one call may spend, and how long each may take.

use std::time::Duration;

use convoke_domain::lane::cap::Cap;
use convoke_domain::lane::ledger::{LaneEntry, Purpose};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::supervisor::Limits;

use super::{Account, USUAL_LIMITS, model_name, seconds};
use crate::clock::now;

/// Flags of every command that runs lanes by itself.
#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct Allowance {
    /// What this call may spend, such as 200k tokens or $2.50: with `--run` all lanes of the run
    /// together
    #[arg(long, value_name = "CAP", value_parser = Cap::parse)]
    pub(in crate::cli) budget: Option<Cap>,

    /// The run that this is part of, in any words: `convoke usage --by run` sums it up
    #[arg(long, value_name = "NAME", value_parser = model_name)]
    run: Option<String>,

    /// How long each agent may take in all, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1200", value_parser = seconds())]
    limit: Duration,
}

/// The same, settled for one call.
#[derive(Debug, Clone)]
pub(in crate::cli) struct Purse {
    budget: Option<Cap>,
    run: Option<String>,
    pub(in crate::cli) limits: Limits,
}

impl Allowance {
    /// Settles it for a call of a command. Several lanes can only share a budget under a name, so
    /// there is one where the user gave none.
    pub(in crate::cli) fn settle(&self, command: &str) -> Purse {
        let unnamed = || format!("{command} {} {}", now(), std::process::id());
        Purse {
            budget: self.budget,
            run: self.run.clone().or_else(|| self.budget.map(|_| unnamed())),
            limits: Limits { wall: self.limit, ..USUAL_LIMITS },
        }
    }
}

impl Purse {
    /// Accounts for the work of a role.
    pub(in crate::cli) fn account(&self, role: impl Into<String>) -> Account {
        let purpose = Purpose { run: self.run.clone(), role: Some(role.into()), phase: None };
        Account { purpose, budget: self.budget, ..Account::default() }
    }
}

/// Tells whether a lane can have cost anything: what is played does not.
pub(in crate::cli) fn is_paid(lane: &LaneEntry) -> bool {
    !matches!(AgentRef::parse(&lane.begun.agent), Some(AgentRef::Replay(_)))
}

/// Says that a budget is not all that stands between a user and a bill.
pub(in crate::cli) fn blind(uncounted: u64) -> String {
    let (lanes, them) = if uncounted == 1 { ("lane", "it") } else { ("lanes", "them") };
    format!(
        "warning: what {uncounted} {lanes} spent is unknown; the budget cannot be held against {them}"
    )
}
