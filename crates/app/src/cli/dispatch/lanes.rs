//! The flags of dispatches that run agents.

use convoke_domain::task::id::TaskId;
use convoke_service::lane::CallBudget;
use convoke_service::session::Session;

use crate::cli::lane::{BudgetArgs, ParkArgs, PinArgs};
use crate::cli::otel::OtelArgs;
use crate::cli::sarif::SarifArgs;

#[derive(Debug, clap::Args)]
pub(super) struct LaneArgs {
    /// Pass only if the client's transcript shows that the agent read every required file completely
    #[arg(long)]
    pub(super) require_proof: bool,

    #[command(flatten)]
    pub(super) rules: PinArgs,

    /// The stored task that the role reviews or implements; Convoke records every verdict on it
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    pub(super) task: Option<TaskId>,

    #[command(flatten)]
    call_budget: BudgetArgs,

    #[command(flatten)]
    park: ParkArgs,

    #[command(flatten)]
    pub(super) sarif: SarifArgs,

    #[command(flatten)]
    pub(super) otel: OtelArgs,
}

impl LaneArgs {
    /// Settles the budget and the limits of a call of a command.
    pub(super) fn settle(&self, session: &Session, command: &str) -> CallBudget {
        CallBudget { park: self.park.terms(), ..self.call_budget.settle(session, command) }
    }
}
