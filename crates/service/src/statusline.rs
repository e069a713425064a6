//! One line about a session, for a client's status line and for shells.
//!
//! A client asks for it after every message, and a shell before every prompt. So it reads the store as
//! it is: it makes no store, registers no project or session, and leaves messages unread.

use std::path::PathBuf;
use std::time::Duration;

use convoke_domain::client::Client;
use convoke_domain::scope::{Address, AgentName};
use convoke_engine::hook::HookInput;
use convoke_engine::project::root_above;
use convoke_store::delivery::Session as ClientSession;
use convoke_store::message::InboxFilter;
use serde::Serialize;

use crate::environment::Environment;
use crate::failure::{Failure, with_causes};
use crate::session::Session;
use crate::status::{SpentToday, UnreadMessages};
use crate::task::{CurrentTask, TaskDesk, task_progress};
use crate::wake::{hook_settings, session_address};
use crate::workspace::{Workspace, refused};

/// No prompt should wait longer than this for another process.
const PATIENCE: Duration = Duration::from_millis(200);

/// What to show a line about.
#[derive(Debug, Clone, Default)]
pub struct StatuslineRequest {
    /// The client's input about its session; `None` for a shell.
    pub input: Option<String>,
    /// Another folder than the session's.
    pub project: Option<PathBuf>,
}

/// The facts of one line.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatuslineReport {
    /// The project's name; none if the store does not know this folder.
    pub project: Option<String>,
    /// The branch of the tasks and messages.
    pub branch: Option<String>,
    /// The agent that the session, or else the project, belongs to.
    pub agent: Option<String>,
    /// The current task.
    pub task: Option<CurrentTask>,
    /// How many tasks without parts are closed.
    pub closed: usize,
    /// How many tasks without parts there are.
    pub total: usize,
    /// Unread messages of the agent and, in a shell, of the person.
    pub unread: Vec<UnreadMessages>,
    /// Today's usage of the lanes of all projects; none if it could not be read.
    pub today: Option<SpentToday>,
    /// Why facts are missing, in a sentence; none if all are there.
    pub problem: Option<String>,
}

impl StatuslineReport {
    /// A report without facts, and why it has none.
    const fn without_facts(problem: String) -> Self {
        Self {
            project: None,
            branch: None,
            agent: None,
            task: None,
            closed: 0,
            total: 0,
            unread: Vec::new(),
            today: None,
            problem: Some(problem),
        }
    }
}

/// Returns the facts of one line. It cannot fail: a client shows no line after an error, so what went
/// wrong is part of the report.
pub fn statusline(environment: &Environment, request: &StatuslineRequest) -> StatuslineReport {
    let input = request.input.as_deref().and_then(HookInput::parse);
    let start = || {
        let said = input.as_ref().and_then(|input| input.cwd.clone());
        said.or_else(|| environment.current_dir().ok())
    };
    let above = |folder: PathBuf| root_above(&folder, environment.home().as_deref());
    let Some(project) = request.project.clone().or_else(|| start().map(above)) else {
        return StatuslineReport::without_facts("the current folder is gone".to_owned());
    };
    let session = Session::new(project, environment.clone());
    facts(&session, input.as_ref()).unwrap_or_else(|failure| {
        let why = with_causes(failure.error.as_ref());
        let hint = failure.hints.first().map_or_else(String::new, |hint| format!("; {hint}"));
        StatuslineReport::without_facts(format!("{why}{hint}"))
    })
}

fn facts(session: &Session, input: Option<&HookInput>) -> Result<StatuslineReport, Failure> {
    let Some(workspace) = Workspace::open_to_look(session, PATIENCE)? else {
        let words = "no tasks or messages here yet";
        return Ok(StatuslineReport::without_facts(words.to_owned()));
    };
    let address = address(session, &workspace, input)?;
    let is_shell = input.is_none() && session.environment.around().is_none();
    let person = is_shell.then(AgentName::human);
    let agent = address.as_ref().map(|address| address.agent.clone());
    let Workspace { store, scope } = workspace;
    let scope = address.map_or(scope, |address| address.scope);
    let mut readers: Vec<_> = agent.iter().cloned().chain(person).collect();
    readers.dedup();
    let unread = |reader: &AgentName| {
        let count = store.count_addressed_to(&scope, reader, InboxFilter::Unread);
        Ok(UnreadMessages { reader: reader.to_string(), count: count.map_err(refused)? })
    };
    let unread = readers.iter().map(unread).collect::<Result<_, Failure>>()?;
    let workspace = Workspace { store, scope };
    // Settings with a mistake hide the budget, not the task.
    let (today, problem) = match SpentToday::of(session, &workspace) {
        Ok(today) => (Some(today), None),
        Err(failure) => (None, Some(with_causes(failure.error.as_ref()))),
    };
    let (project, branch) = (workspace.scope.project.clone(), workspace.scope.branch.clone());
    let reader = agent.clone().unwrap_or_else(AgentName::human);
    let progress = task_progress(&TaskDesk::over(session, workspace, reader))?;
    Ok(StatuslineReport {
        project: Some(project),
        branch: Some(branch),
        agent: agent.map(|agent| agent.to_string()),
        task: progress.current,
        closed: progress.closed,
        total: progress.total,
        unread,
        today,
        problem,
    })
}

/// Returns whose the session is. The input does not name its client, so the session is looked up among
/// those of all clients.
fn address(
    session: &Session,
    workspace: &Workspace,
    input: Option<&HookInput>,
) -> Result<Option<Address>, Failure> {
    let (settings, _) = hook_settings(session, workspace)?;
    let sessions: Vec<(Client, String)> = match input.and_then(|input| input.session_id.clone()) {
        Some(id) => Client::WITH_HOOKS.map(|client| (client, id.clone())).into(),
        None => session.environment.client_sessions(),
    };
    let mut bound = None;
    for (client, id) in &sessions {
        let of = ClientSession { client: *client, id };
        if workspace.store.bound(of).map_err(refused)?.is_some() {
            bound = Some(of);
            break;
        }
    }
    session_address(session, workspace, &settings, bound)
}
