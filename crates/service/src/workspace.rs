//! The store, opened for the project and branch a command works on.

mod of_hook;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use convoke_domain::repository::RepositoryId;
use convoke_domain::scope::{Address, AgentName, Scope};
use convoke_engine::git::folder_id::{add_folder_id, new_folder_id};
use convoke_engine::git::identity::repository_id;
use convoke_engine::git::{Checkout, checkout};
use convoke_store::delivery::Session as ClientSession;
use convoke_store::error::StoreError;
use convoke_store::project::ProjectUse;
use convoke_store::{Store, StoreLocation};
use tracing::Span;
use tracing::field::display;

use crate::call_store;
use crate::failure::{ErrorClass, Failure};
use crate::person::{agent_of_variable, refuse_actor};
use crate::project_here::{ProjectHere, known_here, project_here};
use crate::replica::forward_waiting;
use crate::session::Session;
use crate::settings::{store, wake};

pub(crate) use self::of_hook::hook_location;

/// The branch of a folder without git.
const NO_GIT: &str = "main";

/// The branch of a checkout that is on none. No branch can have this name.
pub(crate) const DETACHED: &str = "(detached)";

/// Returns the agent of projects with only one.
pub fn default_agent() -> AgentName {
    AgentName::known("me")
}

/// An open store and where in it this command works.
pub struct Workspace {
    /// The store of the user.
    pub store: Arc<dyn Store>,
    /// The project and branch.
    pub scope: Scope,
}

/// There is no folder for the store.
#[derive(Debug, thiserror::Error)]
#[error("cannot find the store: HOME is not set")]
struct NoHome;

impl Workspace {
    /// Opens the store for the project's checked-out branch, or for a named one.
    pub fn open(session: &Session, branch: Option<&str>) -> Result<Self, Failure> {
        let location = store_location(session)?;
        let span = store_span(&location);
        let _entered = span.enter();
        let store = call_store::open(session, &location)?;
        forward_waiting(session, &location, &*store);
        let opened = Self::with_store(&*store, session, branch)?;
        Ok(opened.told(session).remembered(session, &location))
    }

    /// Remembers an open server, so that the copy on this machine can follow when the command is done.
    fn remembered(self, session: &Session, location: &StoreLocation) -> Self {
        if location.as_file().is_none() {
            session.settings.opened_server().keep(self.store.clone(), self.scope.clone());
        }
        self
    }

    /// Records the facts that identify the project in another folder, unless they are known already. A
    /// marked project is read again after an hour without use: its remote may have changed. It calls
    /// git, so only commands use it, never hooks. Only hints depend on it, so it cannot fail.
    pub fn keep_repository(&self, session: &Session) {
        let Self { store, scope } = self;
        let first_of_hour = store.keep_use(&scope.project, session.now()).unwrap_or_default();
        let is_marked = || {
            let here = store.project_at(&project_folder(session).display().to_string());
            here.is_ok_and(|known| known.is_some_and(|known| known.folder_id.is_some()))
        };
        let is_due = match store.repository_of(&scope.project) {
            Ok(None) => true,
            Ok(Some(_)) => first_of_hour == ProjectUse::FirstOfHour && is_marked(),
            Err(_) => false,
        };
        if let Some(id) = is_due.then(|| own_repository_id(session)).flatten() {
            store.keep_repository(&scope.project, &id).ok();
        }
    }

    /// Puts the project's id into git's folder, once something waits in the project. A folder that
    /// cannot be written to is known by its path, so this cannot fail.
    pub fn mark_folder(&self, session: &Session) {
        let Self { store, scope } = self;
        let Some(Checkout { common_dir, .. }) = checkout(&session.project) else { return };
        let known = store.project_at(&common_dir.display().to_string()).ok().flatten();
        let is_unmarked = known.is_some_and(|known| known.folder_id.is_none());
        let waits = || {
            let waiting = store.waiting(&scope.project, session.now());
            waiting.is_ok_and(|waiting| !waiting.is_empty())
        };
        if is_unmarked
            && waits()
            && let Some(id) = add_folder_id(&common_dir, &new_folder_id())
        {
            store.keep_folder_id(&scope.project, &id).ok();
        }
    }

    /// Opens the store as [`Workspace::open`] does, for a caller in a hurry. It takes the store that
    /// another part of the call has open.
    pub fn open_in_a_hurry(
        session: &Session,
        branch: Option<&str>,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let location = store_location(session)?;
        let span = store_span(&location);
        let _entered = span.enter();
        let store = call_store::open_in_a_hurry(session, &location, patience)?;
        Self::with_store(&*store, session, branch).map(|opened| opened.told(session))
    }

    /// Opens the store for a caller that only reads, in a hurry: it changes nothing, registers nothing
    /// and asks git nothing. `None` without a store, or where it does not know this folder.
    pub fn open_to_look(session: &Session, patience: Duration) -> Result<Option<Self>, Failure> {
        let location = store::usable_location(session).ok_or_else(no_home)?;
        let span = store_span(&location);
        let _entered = span.enter();
        let look = |location: &_| convoke_store::open_to_look(location, patience);
        let Some(store) = call_store::with_accepted_password(session, &location, &look)? else {
            return Ok(None);
        };
        let checkout = checkout(&session.project);
        let project = known_here(&*store, session, checkout.as_ref())?;
        let scope = project.map(|project| Scope { project, branch: branch_of(checkout) });
        Ok(scope.map(|scope| Self { store, scope }))
    }

    fn with_store(
        store: &dyn Store,
        session: &Session,
        branch: Option<&str>,
    ) -> Result<OpenedWorkspace, Failure> {
        let checkout = checkout(&session.project);
        let ProjectHere { name: project, note } = project_here(store, session, checkout.as_ref())?;
        // The commands that need the name report an invalid one.
        let store = match actor(session, || session_agent(store, &project, session)) {
            Ok(actor) => store.acting_for(actor),
            // What a client does is never the person's deed, even if it is unclear which agent's.
            Err(_) => store.acting_for(default_agent()),
        };
        let branch = branch.map_or_else(|| branch_of(checkout), str::to_owned);
        tracing::debug!(project, branch, "opened the store for the project and branch");
        let workspace = Self { store, scope: Scope { project, branch } };
        Ok(OpenedWorkspace { workspace, note })
    }
}

/// A workspace, and a note to its user about the project's folder.
struct OpenedWorkspace {
    workspace: Workspace,
    note: Option<String>,
}

impl OpenedWorkspace {
    fn told(self, session: &Session) -> Workspace {
        if let Some(note) = self.note {
            session.reporter().remark(note);
        }
        self.workspace
    }
}

/// Returns the repository of the session's folder, unless that folder only points to one.
pub(crate) fn own_repository_id(session: &Session) -> Option<RepositoryId> {
    checkout(&session.project)?;
    repository_id(&session.project)
}

/// Returns the folder that a project is known by: the one of git's that all its worktrees share, or its
/// own.
pub fn project_folder(session: &Session) -> PathBuf {
    folder_of(session, checkout(&session.project).as_ref())
}

pub(crate) fn folder_of(session: &Session, checkout: Option<&Checkout>) -> PathBuf {
    match checkout {
        Some(checkout) => checkout.common_dir.clone(),
        None => session.project.canonicalize().unwrap_or_else(|_| session.project.clone()),
    }
}

/// Returns the branch that is checked out in the project.
pub fn checked_out(session: &Session) -> String {
    branch_of(checkout(&session.project))
}

fn branch_of(checkout: Option<Checkout>) -> String {
    match checkout {
        Some(checkout) => checkout.branch.unwrap_or_else(|| DETACHED.to_owned()),
        None => NO_GIT.to_owned(),
    }
}

/// Returns the span of opening a store. Only a file's name is logged: other places may hold a
/// password.
fn store_span(location: &StoreLocation) -> Span {
    tracing::debug_span!("store", file = location.as_file().map(|path| display(path.display())))
}

/// Opens the user's store.
pub fn open_store(session: &Session) -> Result<Arc<dyn Store>, Failure> {
    call_store::open(session, &store_location(session)?)
}

/// Returns where the user's store is.
pub fn store_location(session: &Session) -> Result<StoreLocation, Failure> {
    let location = store::location(session)?.ok_or_else(no_home)?;
    let store = location.as_file().map(|path| display(path.display()));
    tracing::debug!(store, "found the store's location");
    Ok(location)
}

fn no_home() -> Failure {
    Failure::new(ErrorClass::Prerequisite, NoHome).hint("name a store with CONVOKE_STORE")
}

/// A repository is called like the folder it is in, in characters that can be mentioned.
pub(crate) fn wanted_name(folder: &Path) -> String {
    let named = if folder.file_name().is_some_and(|name| name == ".git") {
        folder.parent().unwrap_or(folder)
    } else {
        folder
    };
    let name =
        named.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let name = name.trim_end_matches(".git");
    let word = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = name.chars().map(word).collect();
    if name.is_empty() { "project".to_owned() } else { name }
}

/// Turns a store's refusal into an error with its hint.
pub fn refused(error: StoreError) -> Failure {
    let exit = match error {
        StoreError::NoTask { .. }
        | StoreError::NoAgent { .. }
        | StoreError::AgentExists { .. }
        | StoreError::AgentBusy { .. }
        | StoreError::Taken { .. }
        | StoreError::Circle { .. }
        | StoreError::TooDeep { .. }
        | StoreError::Waits { .. }
        | StoreError::NoMessage { .. }
        | StoreError::NoProject { .. }
        | StoreError::SameProject { .. }
        | StoreError::NotSiblings { .. }
        | StoreError::RemovedParent { .. }
        | StoreError::NotRemoved { .. }
        | StoreError::CannotUndo { .. }
        | StoreError::JudgedSince { .. }
        | StoreError::OfUser { .. }
        | StoreError::NoRun { .. }
        | StoreError::ManyRuns { .. }
        | StoreError::RunExists { .. }
        | StoreError::NoTeam
        | StoreError::NotOwner
        | StoreError::NoMember { .. }
        | StoreError::RoleExists { .. }
        | StoreError::OutOfTurn { .. } => ErrorClass::Refused,
        StoreError::Folder { .. }
        | StoreError::Open { .. }
        | StoreError::Newer { .. }
        | StoreError::Older { .. }
        | StoreError::Foreign { .. }
        | StoreError::Address { .. }
        | StoreError::NoServers
        | StoreError::OwnerUpdates { .. }
        | StoreError::TeamNeedsServer
        | StoreError::MayNotCreateRoles
        | StoreError::Failed { .. } => ErrorClass::Prerequisite,
    };
    let hint = error.hint().map(str::to_owned);
    Failure::new(exit, error).maybe_hint(hint)
}

/// One client runs inside another, and their sessions belong to different agents.
#[derive(Debug, thiserror::Error)]
#[error("cannot tell which agent is acting: this runs in sessions of {}", .0.join(" and "))]
struct ManyAgents(Vec<String>);

/// Returns the acting agent or person: the one named, else the agent of `CONVOKE_AGENT`, else the
/// agent of the client's session that this process runs in, else the person at the keyboard. In a
/// client's session or a lane without an agent it is the default one: only a person's own terminal
/// acts for the person, so naming the person anywhere else is an error.
pub fn speaker(named: Option<&AgentName>, session: &Session) -> Result<AgentName, Failure> {
    if let Some(name) = named {
        refuse_actor(session, name)?;
        return Ok(name.clone());
    }
    actor(session, || {
        let store = open_store(session)?;
        let here = project_here(&*store, session, checkout(&session.project).as_ref())?;
        session_agent(&*store, &here.name, session)
    })
}

/// Returns the agent that acts in a process which only a client's model uses: never the person.
pub fn acting_agent(session: &Session) -> Result<AgentName, Failure> {
    if session.environment.agent().is_some() {
        return speaker(None, session);
    }
    let store = open_store(session)?;
    let here = project_here(&*store, session, checkout(&session.project).as_ref())?;
    Ok(session_agent(&*store, &here.name, session)?.unwrap_or_else(default_agent))
}

/// Returns whose tasks and messages a command reads: the [`speaker`]. If that cannot be told, because
/// one client runs inside another, it is the agent of the project, and Convoke says so: reading does
/// not fail.
pub fn reader(named: Option<&AgentName>, session: &Session) -> Result<AgentName, Failure> {
    if let Some(name) = named {
        return Ok(name.clone());
    }
    match speaker(None, session) {
        Err(failure) if failure.error.is::<ManyAgents>() => {
            let agent = wake::settings_for_hook(session).0.agent;
            let reader = agent.map_or_else(default_agent, |(agent, _)| agent);
            let why = failure.error;
            session.reporter().remark(format!("{why}; this is what @{reader} reads"));
            Ok(reader)
        }
        known => known,
    }
}

fn actor(
    session: &Session,
    of_session: impl FnOnce() -> Result<Option<AgentName>, Failure>,
) -> Result<AgentName, Failure> {
    if let Some(name) = agent_of_variable(session)? {
        return Ok(name);
    }
    if !session.environment.is_agents() {
        return Ok(AgentName::human());
    }
    // A client's action is never attributed to the person, even if no agent is set.
    Ok(of_session()?.unwrap_or_else(default_agent))
}

/// Returns whose the client's session is that this process runs in: the agent it is bound to in this
/// project, else the one that all sessions here belong to.
fn session_agent(
    store: &dyn Store,
    project: &str,
    session: &Session,
) -> Result<Option<AgentName>, Failure> {
    let mut bound = Vec::new();
    for (client, id) in session.environment.client_sessions() {
        let address = store.bound(ClientSession { client, id: &id }).map_err(refused)?;
        let is_here = |address: &Address| address.scope.project == project;
        bound.extend(address.filter(|address| is_here(address) && !address.agent.is_human()));
    }
    bound.dedup_by(|one, other| one.agent == other.agent);
    match bound.len() {
        0 => Ok(wake::settings_for_hook(session).0.agent.map(|(agent, _)| agent)),
        1 => Ok(bound.pop().map(|address| address.agent)),
        _ => {
            let names = bound.iter().map(|address| format!("@{}", address.agent)).collect();
            Err(Failure::new(ErrorClass::Refused, ManyAgents(names))
                .hint("name one: set CONVOKE_AGENT, or use the command's `--as NAME`"))
        }
    }
}
