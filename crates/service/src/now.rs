//! What happens in a project at the moment: lanes and designs that run, and today's spending. It asks
//! neither git nor an agent, so that a dashboard can look several times a second.

mod one_run;
mod tree;

use std::path::PathBuf;

use convoke_domain::lane::budget::LaneBudget;
use convoke_domain::lane::event::Usage;
use convoke_domain::lane::ledger::{LaneEntry, Sum};
use convoke_domain::run::RunState;
use convoke_store::journal::Run;
use convoke_store::lane::LaneQuery;
use jiff::Timestamp;
use serde::Serialize;

pub use self::one_run::{RunNowReport, run_now, stop_design};
pub use self::tree::{TreeNowReport, TreeNowState, tree_of, with_trees};
use crate::agents::{AgentReport, AgentsRequest, HealthSource, agents};
use crate::failure::Failure;
use crate::lane::{day, is_paid, read_pulse, running_in};
use crate::run::{RunStateReport, worked_on};
use crate::session::Session;
use crate::settings::lane as lane_settings;
use crate::status::{ClientHooks, hooks_of_clients};
use crate::workspace::{Workspace, refused};

/// How many stopped designs are shown beside those that run.
const MOST_STOPPED: usize = 5;

/// What happens in a project at the moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NowReport {
    /// The lanes of this project that run.
    pub lanes: Vec<LiveLaneReport>,
    /// The designs of this project that run or were stopped, the last one first.
    pub designs: Vec<LiveDesignReport>,
    /// Today's spending of all projects against each budget of a day.
    pub spending: SpendingTodayReport,
}

/// A lane that runs, and what its client last said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LiveLaneReport {
    /// The lane's number.
    pub id: i64,
    /// The agent that answers.
    pub agent: String,
    /// The agent's role.
    pub role: Option<String>,
    /// The seat in a panel, or the label.
    pub seat: Option<String>,
    /// The phase of the run.
    pub phase: Option<String>,
    /// The run that the lane is part of.
    pub run: Option<String>,
    /// The model that answers, else the requested one.
    pub model: Option<String>,
    /// `read` or `write`: whether the agent may change files.
    pub rights: &'static str,
    /// When it began.
    pub started_at: String,
    /// Tokens so far, as far as the client says.
    pub tokens: Option<u64>,
    /// Money so far, in millionths of a dollar, as far as the client says.
    pub micro_dollars: Option<u64>,
    /// The tool that the agent used last.
    pub last_tool: Option<String>,
    /// How many tools it used.
    pub tools: u64,
    /// When the client last said something.
    pub heard_at: Option<String>,
    /// The folder in which its client works; nothing for a lane of another machine.
    pub folder: Option<PathBuf>,
    /// The working tree of that folder; nothing while Convoke has not asked git.
    pub tree: Option<TreeNowReport>,
}

/// A design that runs or was stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LiveDesignReport {
    /// The run's id, which `convoke show`, `resume` and `recount` take.
    pub run: String,
    /// `running` or `stopped`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub state: RunStateReport,
    /// The first line of the requested feature.
    pub feature: String,
    /// When it began.
    pub started_at: String,
    /// How many events its journal has.
    pub events: u64,
    /// How many of its lanes run.
    pub running_lanes: u64,
    /// How many lanes it had.
    pub lanes: u64,
    /// Tokens that its ended lanes have used.
    pub tokens: u64,
    /// Money that they have cost, in millionths of a dollar, as far as clients say.
    pub micro_dollars: Option<u64>,
}

/// Today's spending of the lanes of all projects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpendingTodayReport {
    /// How many lanes there were.
    pub lanes: u64,
    /// How many of them reported no usage.
    pub without_usage: u64,
    /// Tokens of prompts and answers together, cached ones too.
    pub tokens: u64,
    /// Money, in millionths of a dollar, as far as clients say.
    pub micro_dollars: Option<u64>,
    /// The budgets of a day that hold here.
    pub budgets: Vec<BudgetTodayReport>,
}

/// A budget of a day, and what is spent of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetTodayReport {
    /// The budget, in words.
    pub budget: String,
    /// `tokens` or `micro_dollars`.
    pub unit: &'static str,
    /// How much is spent, in the unit.
    pub spent: u64,
    /// How much may be spent, in the unit.
    pub most: u64,
    /// Whether it is used up.
    pub is_used_up: bool,
}

/// What the agents of this machine are able to do, as far as it is known without asking them.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AgentsNowReport {
    /// Every agent, and whether it answered when it was last asked.
    pub agents: Vec<AgentReport>,
    /// Clients on the PATH or with hooks, and what their hooks did.
    pub hooks: Vec<ClientHooks>,
}

/// Returns what happens in the project.
pub fn now(session: &Session) -> Result<NowReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    let Workspace { store, scope } = &workspace;
    let lanes = running_in(session, &**store, &scope.project)?;
    Ok(NowReport {
        lanes: lanes.iter().map(|lane| LiveLaneReport::new(session, lane)).collect(),
        designs: designs(session, &workspace)?,
        spending: SpendingTodayReport::of(session, &workspace)?,
    })
}

/// Returns what is known about agents and hooks. It starts programs for their versions, but asks no
/// model.
pub fn agents_now(session: &Session) -> Result<AgentsNowReport, Failure> {
    let source = HealthSource::Remembered;
    let request = AgentsRequest { source, ..AgentsRequest::presence() };
    Ok(AgentsNowReport {
        agents: agents(session, &request)?.agents,
        hooks: hooks_of_clients(session),
    })
}

impl LiveLaneReport {
    fn new(session: &Session, lane: &LaneEntry) -> Self {
        let pulse = read_pulse(session, lane.id).unwrap_or_default();
        let heard_at = (pulse.at_ms > 0).then(|| Timestamp::from_millisecond(pulse.at_ms));
        let begun = &lane.begun;
        Self {
            id: lane.id,
            agent: begun.agent.clone(),
            role: begun.purpose.role.clone(),
            seat: pulse.label,
            phase: begun.purpose.phase.clone(),
            run: begun.purpose.run.clone(),
            model: pulse.model.or_else(|| begun.asked_model.clone()),
            rights: if begun.writes { "write" } else { "read" },
            started_at: begun.at.to_string(),
            tokens: pulse.tokens,
            micro_dollars: pulse.micro_dollars,
            last_tool: pulse.last_tool,
            tools: pulse.tools,
            folder: pulse.folder,
            tree: None,
            heard_at: heard_at.and_then(Result::ok).map(|at| at.to_string()),
        }
    }
}

fn designs(session: &Session, workspace: &Workspace) -> Result<Vec<LiveDesignReport>, Failure> {
    let Workspace { store, scope } = workspace;
    let works = worked_on(session, &**store);
    let runs = store.runs(&scope.project).map_err(refused)?;
    let mut stopped = 0;
    let is_shown = |run: &&Run| match run.state.seen(&run.id, &works) {
        _ if run.id.is_fan() => false,
        RunState::Running => true,
        RunState::Stopped => {
            stopped += 1;
            stopped <= MOST_STOPPED
        }
        RunState::Ended | RunState::Refused => false,
    };
    let open: Vec<_> = runs.iter().filter(is_shown).collect();
    let report = |run: &Run| {
        let query = LaneQuery { run: Some(run.id.as_str()), ..LaneQuery::default() };
        let sum = Sum::of_all(&store.lanes(query).map_err(refused)?);
        Ok(LiveDesignReport {
            run: run.id.to_string(),
            state: run.state.seen(&run.id, &works).into(),
            feature: run.feature.clone(),
            started_at: run.started_at.to_string(),
            events: run.last_seq,
            running_lanes: sum.running,
            lanes: sum.lanes,
            tokens: sum.usage.tokens(),
            micro_dollars: sum.usage.micro_dollars,
        })
    };
    open.into_iter().map(report).collect()
}

impl SpendingTodayReport {
    /// Adds up what the lanes of today have spent.
    pub(crate) fn of(session: &Session, workspace: &Workspace) -> Result<Self, Failure> {
        let query = LaneQuery { since: day(session.now(), session)?, ..LaneQuery::default() };
        let mut lanes = workspace.store.lanes(query).map_err(refused)?;
        // A rehearsal asks no model.
        lanes.retain(is_paid);
        let sum = Sum::of_all(&lanes);
        let budgets = lane_settings::settings(session)?.budgets_per_day;
        let budget = |budget: &LaneBudget| BudgetTodayReport::new(*budget, sum.usage);
        Ok(Self {
            lanes: sum.lanes,
            without_usage: sum.without_usage,
            tokens: sum.usage.tokens(),
            micro_dollars: sum.usage.micro_dollars,
            budgets: budgets.iter().map(budget).collect(),
        })
    }
}

impl BudgetTodayReport {
    fn new(budget: LaneBudget, usage: Usage) -> Self {
        let unit = match budget {
            LaneBudget::Tokens(_) => "tokens",
            LaneBudget::MicroDollars(_) => "micro_dollars",
        };
        Self {
            budget: budget.to_string(),
            unit,
            spent: budget.spent(usage),
            most: budget.most(),
            is_used_up: budget.is_reached(usage),
        }
    }
}
