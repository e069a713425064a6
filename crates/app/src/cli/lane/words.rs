//! Words and flags that several commands read: agents, names, budgets, pinned rules.

use std::ffi::OsStr;
use std::time::Duration;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use convoke_domain::client::Client;
use convoke_domain::lane::budget::LaneBudget;
use convoke_engine::lane::agent_ref::AgentRef;
pub(in crate::cli) use convoke_service::lane::model_name;
use convoke_service::lane::{CallBudget, ParkTerms, PinnedRules, TreeWatching};
use convoke_service::session::Session;

use super::seconds;

/// Flags of every command that runs lanes.
#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct BudgetArgs {
    /// Stop after this many tokens or dollars, such as `200k` or `$2.50`; with `--run`, all lanes
    /// of that run count
    #[arg(long, value_name = "AMOUNT", value_parser = LaneBudget::parse)]
    pub(in crate::cli) budget: Option<LaneBudget>,

    /// Group the lanes under this name; `convoke usage --by run` adds them up
    #[arg(long, value_name = "NAME", value_parser = model_name)]
    run: Option<String>,

    /// Stop each agent after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "1200", value_parser = seconds())]
    limit: Duration,
}

impl BudgetArgs {
    /// Settles the budget of a call of a command.
    pub(in crate::cli) fn settle(&self, session: &Session, command: &str) -> CallBudget {
        CallBudget::settle(session, command, self.budget, self.run.clone(), self.limit)
    }
}

/// How many seconds a command waits at most for the end of a limit: a day.
const USUAL_PARK_LIMIT: &str = "86400";

/// The flags of every command that can outlive an agent's limit.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(in crate::cli) struct ParkArgs {
    /// If the agent's limit is reached, wait until it ends and go on then
    #[arg(long)]
    park: bool,

    /// With `--park`, wait for no end that is more than this many seconds away
    #[arg(long, value_name = "SECONDS", default_value = USUAL_PARK_LIMIT, value_parser = seconds())]
    park_limit: Duration,
}

impl ParkArgs {
    pub(in crate::cli) fn terms(self) -> Option<ParkTerms> {
        self.park.then_some(ParkTerms { longest: self.park_limit, tree: TreeWatching::Tree })
    }
}

/// The flag of every command whose lanes work on the project.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(in crate::cli) struct PinArgs {
    /// Leave your pinned rules out of the prompt
    #[arg(long)]
    no_pins: bool,
}

impl PinArgs {
    pub(in crate::cli) const fn rules(self) -> PinnedRules {
        if self.no_pins { PinnedRules::LeftOut } else { PinnedRules::Before }
    }
}

/// Parses the agent of a lane.
#[derive(Debug, Clone, Copy)]
pub(in crate::cli) struct AgentWord;

impl TypedValueParser for AgentWord {
    type Value = AgentRef;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<AgentRef, clap::Error> {
        let read = |word: String| {
            let clients = Client::ALL.map(Client::name).join(", ");
            AgentRef::parse(&word).ok_or_else(|| {
                format!("it must be `acp:NAME`, `http:NAME`, `replay:FILE` or one of {clients}")
            })
        };
        StringValueParser::new().try_map(read).parse_ref(command, argument, value)
    }

    /// The values that a shell can complete.
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Client::ALL.into_iter().map(|agent| PossibleValue::new(agent.name()))))
    }
}
