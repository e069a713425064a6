//! Everything about a project that fits on one screen.

mod hooks;
mod mcp;

use convoke_domain::client::Client;
use convoke_domain::design::setup::SetUp;
use convoke_domain::lane::ledger::{LaneEntry, Sum};
use convoke_domain::run::RunId;
use convoke_domain::scope::AgentName;
use convoke_engine::client::adapter;
use convoke_engine::git::branch::WorkTree;
use convoke_engine::git::checkout;
use convoke_store::lane::LaneQuery;
use convoke_store::message::InboxFilter;
use jiff::Timestamp;
use serde::Serialize;

use crate::design::is_ground_there;
use crate::elsewhere::{self, missed_folder};
use crate::failure::Failure;
use crate::hooks::agent_of_sessions;
use crate::init::plans;
use crate::lane::{LaneList, day, is_paid, list, read_pulse};
use crate::next_command::{NextCommand, ProjectState, next_commands};
use crate::replica::{StoreCopyReport, copy_report};
use crate::run::{
    KnownRun, RunStateReport, RunSummaryReport, is_rehearsal, list_runs, parked_until,
};
use crate::session::Session;
use crate::settings::lane;
use crate::task::{TaskDesk, TaskPlace, TaskProgress, task_progress};
use crate::wake::hook_settings;
use crate::workspace::{Workspace, reader, refused};

pub use self::hooks::{ClientHooks, hooks_of_clients};
pub use self::mcp::ClientMcp;
use self::mcp::mcp_of_clients;

/// Everything about a project that fits on one screen.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusReport {
    /// The project's name.
    pub project: String,
    /// The project's folder.
    pub folder: String,
    /// The branch; `main` in a folder without git.
    pub branch: String,
    /// Whether the folder is in a git repository.
    pub has_git: bool,
    /// The agent that the project's sessions belong to.
    pub agent: Option<String>,
    /// The source of that agent's name.
    pub agent_from: Option<&'static str>,
    /// The current task, and how many are closed.
    pub tasks: TaskProgress,
    /// Where else this project has tasks, rules or messages, each with the command that shows them or
    /// brings them here.
    pub elsewhere: Vec<String>,
    /// Unread messages, by reader: you or the agent of this session, and the project's agent.
    pub unread: Vec<UnreadMessages>,
    /// Clients on the PATH or with hooks, and what their hooks did.
    pub hooks: Vec<ClientHooks>,
    /// Entries of Convoke's MCP server in clients' settings.
    pub mcp: Vec<ClientMcp>,
    /// The copy of the server's store that hooks use; `None` without one.
    pub copy: Option<StoreCopyReport>,
    /// The lanes of this project that run.
    pub lanes: Vec<RunningLane>,
    /// The designs of this project that run or were stopped.
    pub designs: Vec<OpenDesign>,
    /// The fan-outs of this project that run or were stopped.
    pub fans: Vec<OpenFan>,
    /// The feature of the design that ended last.
    pub last_design: Option<String>,
    /// Today's usage of the lanes of all projects.
    pub today: SpentToday,
    /// The next commands.
    pub next: Vec<NextCommand>,
}

/// How many messages a reader has not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UnreadMessages {
    /// The agent that has not read them.
    pub reader: String,
    /// The number of messages.
    pub count: usize,
}

/// A lane that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunningLane {
    /// The lane's number.
    pub id: i64,
    /// The agent that answers.
    pub agent: String,
    /// The agent's role.
    pub role: Option<String>,
    /// The run that the lane is part of.
    pub run: Option<String>,
    /// How long it has run, in milliseconds.
    pub elapsed_ms: u64,
    /// Tokens that it has used so far, as far as the client says.
    pub tokens: Option<u64>,
    /// Money that it has cost so far, in millionths of a dollar, as far as the client says.
    pub micro_dollars: Option<u64>,
}

/// A design that is not at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenDesign {
    /// The run's id, which `convoke show`, `resume` and `recount` take.
    pub run: String,
    /// `running` or `stopped`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub state: RunStateReport,
    /// The first line of the requested feature.
    pub feature: String,
    /// How long ago it began, in milliseconds.
    pub elapsed_ms: u64,
    /// How many of its lanes have answered; a resumed run keeps these answers.
    pub answers: usize,
    /// Whether the branch or commit on which it began still exists.
    pub has_ground: bool,
    /// Tokens that its lanes have used so far.
    pub tokens: u64,
    /// Money that its lanes have cost so far, in millionths of a dollar, as far as clients say.
    pub micro_dollars: Option<u64>,
    /// When the limit ends that it waits for, or waited for when its process ended.
    pub parked_until: Option<String>,
}

impl OpenDesign {
    /// Tells whether resuming it is worthwhile: it has answers to keep, and a place to go on.
    pub fn is_worth_resuming(&self) -> bool {
        self.state == RunStateReport::Stopped && self.answers > 0 && self.has_ground
    }
}

/// A fan-out that is not at its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenFan {
    /// The run's id.
    pub run: String,
    /// `running` or `stopped`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub state: RunStateReport,
    /// The first line of its template.
    pub template: String,
    /// How long ago it began, in milliseconds.
    pub elapsed_ms: u64,
    /// Tokens that its lanes have used so far.
    pub tokens: u64,
    /// Money that its lanes have cost so far, in millionths of a dollar, as far as clients say.
    pub micro_dollars: Option<u64>,
    /// When the limit ends that it waits for, or waited for when its process ended.
    pub parked_until: Option<String>,
    /// The command that asks for what is missing, if the fan-out was stopped.
    pub resume: Option<String>,
}

impl OpenFan {
    fn new(run: OpenDesign) -> Self {
        let is_stopped = run.state == RunStateReport::Stopped;
        Self {
            resume: is_stopped.then(|| format!("convoke resume {}", run.run)),
            run: run.run,
            state: run.state,
            template: run.feature,
            elapsed_ms: run.elapsed_ms,
            tokens: run.tokens,
            micro_dollars: run.micro_dollars,
            parked_until: run.parked_until,
        }
    }
}

/// Today's usage of the lanes of all projects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpentToday {
    /// How many lanes there were.
    pub lanes: u64,
    /// How many of them reported no usage.
    pub without_usage: u64,
    /// How many of the others reported a part of their usage.
    pub partial_usage: u64,
    /// Tokens of prompts and answers together, cached ones too.
    pub tokens: u64,
    /// Money, in millionths of a dollar, as far as clients say.
    pub micro_dollars: Option<u64>,
    /// The budgets of a day that hold here, in words.
    pub budgets: Vec<String>,
    /// Whether one of them is used up.
    pub is_used_up: bool,
}

/// Returns the state of a project for one screen. It starts no agent.
pub fn status(session: &Session) -> Result<StatusReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    let tasks = TaskDesk::open_to_read(session, &TaskPlace::default(), task_progress)?;
    let elsewhere = elsewhere::facts(session, &workspace)?;
    let (agent, agent_from) =
        agent_of_sessions(session, &workspace, &hook_settings(session, &workspace)?.0)?.unzip();
    let unread = unread(session, &workspace, agent.as_deref())?;
    let hooks = hooks_of_clients(session);
    let runs = list_runs(session)?;
    let last_design = runs.iter().find(|run| run.is_ended_design());
    let last_design = last_design.map(|run| run.feature.clone());
    let lanes = lanes(session)?;
    let (fans, runs): (Vec<_>, Vec<_>) = runs.into_iter().partition(RunSummaryReport::is_fan);
    let designs = open_runs(session, &workspace, runs, &lanes)?;
    let fans = open_runs(session, &workspace, fans, &lanes)?;
    let fans: Vec<_> = fans.into_iter().map(OpenFan::new).collect();
    let is_installed = |client: &Client| {
        hooks.iter().any(|hooks| hooks.client == client.name() && hooks.installed)
    };
    let is_there = |client: &Client| {
        session.environment.find_program(adapter(*client).programs, &session.project).is_some()
    };
    let there: Vec<_> = Client::ALL.into_iter().filter(is_there).collect();
    let program = |client: &Client| adapter(*client).programs.first().copied();
    let (with, without): (Vec<_>, Vec<_>) = there.iter().partition(|client| is_installed(client));
    let lacks_hooks = with.is_empty();
    let without_hooks = without.iter().filter(|client| Client::WITH_HOOKS.contains(client));
    let stopped = designs.iter().find(|run| run.is_worth_resuming());
    let stopped_fan = fans.iter().find_map(|fan| fan.resume.clone());
    let state = ProjectState {
        current: tasks.current.clone(),
        waiting: missed_folder(session, &workspace)?.map(|folder| folder.command),
        has_tasks_on_other_branch: elsewhere::has_tasks_on_other_branch(&workspace)?,
        plan: first_plan(session, &tasks),
        clients: with.iter().chain(&without).filter_map(program).collect(),
        without_hooks: without_hooks.map(|client| client.name()).filter(|_| lacks_hooks).collect(),
        unread: unread.first().map_or(0, |unread| unread.count),
        has_design: last_design.is_some(),
        stopped_run: stopped.map(|run| run.run.clone()),
        stopped_fan,
    };
    Ok(StatusReport {
        folder: session.absolute_project().display().to_string(),
        agent,
        agent_from,
        elsewhere,
        unread,
        hooks,
        mcp: mcp_of_clients(session),
        copy: copy_report(session, Some(&workspace.scope)),
        lanes,
        designs,
        fans,
        last_design,
        today: SpentToday::of(session, &workspace)?,
        next: next(&state),
        tasks,
        has_git: checkout(&session.project).is_some(),
        project: workspace.scope.project,
        branch: workspace.scope.branch,
    })
}

/// Returns what to run next. A person who reads the status needs no command that shows it.
fn next(state: &ProjectState) -> Vec<NextCommand> {
    let next = next_commands(state).into_iter();
    next.filter(|next| next.command != "convoke status").collect()
}

/// Returns a plan to import, where there is no task yet.
fn first_plan(session: &Session, tasks: &TaskProgress) -> Option<(String, usize)> {
    if tasks.total > 0 {
        return None;
    }
    plans(&session.project).into_iter().next().map(|plan| (plan.path, plan.tasks))
}

fn unread(
    session: &Session,
    workspace: &Workspace,
    agent: Option<&str>,
) -> Result<Vec<UnreadMessages>, Failure> {
    let mut readers = vec![reader(None, session)?];
    readers.extend(agent.and_then(|agent| AgentName::parse(agent).ok()));
    readers.dedup();
    let Workspace { store, scope } = workspace;
    let count = |reader: AgentName| {
        let count = store.count_addressed_to(scope, &reader, InboxFilter::Unread);
        Ok(UnreadMessages { reader: reader.to_string(), count: count.map_err(refused)? })
    };
    readers.into_iter().map(count).collect()
}

/// Returns the milliseconds since a time; none since one to come.
fn since(at: Timestamp, session: &Session) -> u64 {
    u64::try_from(session.now().duration_since(at).as_millis()).unwrap_or_default()
}

fn lanes(session: &Session) -> Result<Vec<RunningLane>, Failure> {
    let running = list(session, LaneList::Recent)?.into_iter().filter(|lane| lane.over.is_none());
    let report = |lane: LaneEntry| {
        let pulse = read_pulse(session, lane.id).unwrap_or_default();
        RunningLane {
            id: lane.id,
            elapsed_ms: since(lane.begun.at, session),
            agent: lane.begun.agent,
            role: lane.begun.purpose.role,
            run: lane.begun.purpose.run,
            tokens: pulse.tokens,
            micro_dollars: pulse.micro_dollars,
        }
    };
    Ok(running.map(report).collect())
}

fn open_runs(
    session: &Session,
    workspace: &Workspace,
    runs: Vec<RunSummaryReport>,
    lanes: &[RunningLane],
) -> Result<Vec<OpenDesign>, Failure> {
    // A refused run has nothing to go on with, and neither has a rehearsal that was stopped.
    let is_rehearsal = |run: &str| RunId::parse(run).is_ok_and(|run| is_rehearsal(session, &run));
    let is_open = |run: &RunSummaryReport| {
        run.state == RunStateReport::Running
            || run.state == RunStateReport::Stopped && !is_rehearsal(&run.run)
    };
    let open = runs.into_iter().filter(is_open);
    let tree = WorkTree::at(&session.project).ok();
    let report = |run: RunSummaryReport| {
        let query = LaneQuery { run: Some(&run.run), ..LaneQuery::default() };
        let entries = workspace.store.lanes(query).map_err(refused)?;
        let sum = Sum::of_all(&entries);
        // The ledger has no usage of a lane before its end.
        let running = lanes.iter().filter(|lane| lane.run.as_ref() == Some(&run.run));
        let (mut tokens, mut micro_dollars) = (sum.usage.tokens(), sum.usage.micro_dollars);
        for lane in running {
            tokens = tokens.saturating_add(lane.tokens.unwrap_or_default());
            if let Some(more) = lane.micro_dollars {
                micro_dollars = Some(micro_dollars.unwrap_or_default().saturating_add(more));
            }
        }
        let id = RunId::parse(&run.run).ok();
        let parked = id.map(|id| parked_until(workspace, &id)).transpose().map_err(refused)?;
        Ok(OpenDesign {
            parked_until: parked.flatten().map(|until| until.to_string()),
            elapsed_ms: run.started_at.parse().map_or(0, |at| since(at, session)),
            answers: entries.iter().filter(|lane| lane.has_answered()).count(),
            has_ground: has_ground(session, tree.as_ref(), &run.run),
            state: run.state,
            feature: run.feature,
            tokens,
            micro_dollars,
            run: run.run,
        })
    };
    open.map(report).collect()
}

/// Tells whether a design's branch or commit still exists. A fan-out needs none, and neither does a
/// design that has not begun on one.
fn has_ground(session: &Session, tree: Option<&WorkTree>, run: &str) -> bool {
    let known = RunId::parse(run).ok().and_then(|run| KnownRun::open(session, &run).ok());
    let Some(known) = known else { return true };
    match known.facts.set_up() {
        Some((_, SetUp::Ready(ready))) => tree.is_some_and(|tree| is_ground_there(tree, ready)),
        Some(_) | None => true,
    }
}

impl SpentToday {
    /// Adds up what the lanes of today have spent.
    pub(crate) fn of(session: &Session, workspace: &Workspace) -> Result<Self, Failure> {
        let query = LaneQuery { since: day(session.now(), session)?, ..LaneQuery::default() };
        let mut lanes = workspace.store.lanes(query).map_err(refused)?;
        // A rehearsal asks no model.
        lanes.retain(is_paid);
        let sum = Sum::of_all(&lanes);
        let budgets = lane::settings(session)?.budgets_per_day;
        Ok(Self {
            lanes: sum.lanes,
            without_usage: sum.without_usage,
            partial_usage: sum.partial_usage,
            tokens: sum.usage.tokens(),
            micro_dollars: sum.usage.micro_dollars,
            is_used_up: budgets.iter().any(|cap| cap.is_reached(sum.usage)),
            budgets: budgets.iter().map(ToString::to_string).collect(),
        })
    }
}
