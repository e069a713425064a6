//! The copy of a server's store on this machine, from which hooks answer while the server does not.
//!
//! Hooks and commands that reach the server hand it what waits in the copy before they do anything else,
//! and refresh the copy afterwards. Nothing here makes a command fail. A store that is a file has no
//! copy.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use convoke_domain::scope::Scope;
use convoke_domain::text::counted;
use convoke_store::delivery::Session as ClientSession;
use convoke_store::error::StoreError;
use convoke_store::replica::{Replica, ReplicaRefresh, ReplicaState, ReplicaWish};
use convoke_store::{Store, StoreLocation};
use jiff::Timestamp;
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::{SessionSettings, store};
use crate::workspace::{Workspace, refused};

/// How long a process waits for others that use the copy.
pub(crate) const COPY_PATIENCE: Duration = Duration::from_millis(500);

/// How long a refresh beside another purpose may take.
const REFRESH_LIMIT: Duration = Duration::from_millis(500);

/// How long a command waits to hand over what hooks recorded.
const FORWARD_PATIENCE: Duration = Duration::from_secs(5);

/// How often `convoke sync` tries again because a hook recorded something meanwhile.
const MOST_ATTEMPTS: usize = 5;

/// A server's store, and the place of a command in it.
type ServerPlace = (Arc<dyn Store>, Scope);

/// The server that a command had open, and where in it. Clones share it.
#[derive(Clone, Default)]
pub struct OpenedServer(Arc<Mutex<Option<ServerPlace>>>);

impl std::fmt::Debug for OpenedServer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("OpenedServer").finish_non_exhaustive()
    }
}

impl OpenedServer {
    /// Remembers an open server.
    pub(crate) fn keep(&self, store: Arc<dyn Store>, scope: Scope) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((store, scope));
    }

    fn is_kept(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn take(&self) -> Option<ServerPlace> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Returns the file of the copy; `None` for a store that is a file itself.
pub(crate) fn copy_file(session: &Session, location: &StoreLocation) -> Option<PathBuf> {
    // The state folder is only looked for where a copy can be.
    location.as_file().is_none().then(|| session.environment.state())?;
    Replica::file(location, &session.environment.state()?)
}

/// Hands over to a server what hooks recorded without it, if anything.
pub(crate) fn forward_waiting(session: &Session, location: &StoreLocation, store: &dyn Store) {
    let Some(file) = copy_file(session, location) else { return };
    let forwarded = match Replica::open_present(&file, COPY_PATIENCE) {
        Ok(Some(replica)) => store.take_records(&replica, FORWARD_PATIENCE),
        Ok(None) => Ok(0),
        Err(error) => Err(error),
    };
    if let Err(error) = forwarded {
        tracing::debug!(%error, "cannot hand over what hooks recorded");
    }
}

/// Tells whether a command had a server open, so that [`refresh_after`] has something to do.
pub fn is_refresh_due(settings: &SessionSettings) -> bool {
    settings.opened_server().is_kept()
}

/// Refreshes the copy after a command, if that had a server open. Call it when the command's output is
/// out.
pub fn refresh_after(session: &Session) {
    let Some((store, scope)) = session.settings.opened_server().take() else { return };
    let Some(location) = store::usable_location(session) else { return };
    let Some(file) = copy_file(session, &location) else { return };
    let refresh = || {
        let replica = Replica::open(&file, COPY_PATIENCE)?;
        refresh(session, &*store, &replica, &scope, None)
    };
    if let Err(error) = refresh() {
        tracing::debug!(%error, "cannot refresh the copy of the store");
    }
}

/// Refreshes a copy within a short time.
pub(crate) fn refresh(
    session: &Session,
    store: &dyn Store,
    replica: &Replica,
    scope: &Scope,
    of: Option<ClientSession<'_>>,
) -> Result<ReplicaRefresh, StoreError> {
    let around = session.environment.client_sessions();
    let around = around.iter().map(|(client, id)| ClientSession { client: *client, id });
    let sessions: Vec<_> = around.chain(of).collect();
    let wish = ReplicaWish { scope, sessions: &sessions };
    store.limit_answers(Some(REFRESH_LIMIT));
    let refreshed = store.refresh_replica(replica, wish, session.now());
    store.limit_answers(None);
    refreshed
}

/// The state of the copy of a server's store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreCopyReport {
    /// The copy's file.
    pub path: String,
    /// When this branch was last copied from the server.
    pub refreshed_at: Option<String>,
    /// How many records of hooks wait for the server.
    pub waiting: usize,
    /// Why hooks cannot use the copy.
    pub problem: Option<String>,
}

impl StoreCopyReport {
    /// Returns the state in one line.
    pub fn line(&self, now: Timestamp) -> String {
        let at = self.refreshed_at.as_ref().and_then(|at| at.parse().ok());
        match (&self.problem, at) {
            (Some(problem), _) => format!("hooks cannot use it: {problem}"),
            (None, None) => format!("none of this branch yet{}", self.waiting_words()),
            (None, Some(at)) => {
                format!("refreshed {} ago{}", age(at, now), self.waiting_words())
            }
        }
    }

    fn waiting_words(&self) -> String {
        match self.waiting {
            0 => String::new(),
            1 => ", 1 record of hooks waits for the server".to_owned(),
            count => format!(", {} of hooks wait for the server", counted(count, "record")),
        }
    }
}

/// Returns the state of the copy, without asking the server; `None` for a store that is a file, and
/// where there is no copy yet.
pub fn copy_report(session: &Session, scope: Option<&Scope>) -> Option<StoreCopyReport> {
    let file = copy_file(session, &store::usable_location(session)?)?;
    let path = file.display().to_string();
    let read = || {
        let Some(replica) = Replica::open_present(&file, COPY_PATIENCE)? else { return Ok(None) };
        let known = match scope {
            Some(scope) => Some(scope.clone()),
            None => Workspace::in_copy(session, &replica).ok().flatten().map(|found| found.scope),
        };
        let scope = known.unwrap_or_else(|| Scope::new("", ""));
        replica.state(&scope).map(Some)
    };
    match read() {
        Ok(state) => {
            let ReplicaState { refreshed_at, waiting, .. } = state?;
            let refreshed_at = refreshed_at.map(|at| at.to_string());
            Some(StoreCopyReport { path, refreshed_at, waiting, problem: None })
        }
        Err(error) => {
            let problem = Some(crate::failure::with_causes(&error));
            Some(StoreCopyReport { path, refreshed_at: None, waiting: 0, problem })
        }
    }
}

/// Returns how long ago something was, in words.
pub(crate) fn age(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.duration_since(at).as_secs().max(0);
    match (seconds / 86_400, seconds / 3600, seconds / 60) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, _) => format!("{hours} h"),
        (1, ..) => "1 day".to_owned(),
        (days, ..) => format!("{days} days"),
    }
}

/// What `convoke sync` did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyncReport {
    /// The place of the store that the copy is of.
    pub store: String,
    /// How many records of hooks the server received.
    pub forwarded: usize,
    /// The project that was copied; `None` if the store is a file, which needs no copy.
    pub project: Option<String>,
    /// The branch that was copied, with those of the project's sessions on this machine.
    pub branch: Option<String>,
    /// How many tasks of the branch the copy holds.
    pub tasks: usize,
    /// The state of the copy afterwards.
    pub copy: Option<StoreCopyReport>,
    /// Whether the copy before was damaged, so that it was made anew.
    pub replaced: bool,
}

/// The copy could not be refreshed because hooks used it all the time.
#[derive(Debug, thiserror::Error)]
#[error("cannot refresh the copy of the store: hooks are recording in it")]
struct CopyInUse;

/// A damaged copy could not be removed.
#[derive(Debug, thiserror::Error)]
#[error("cannot remove the damaged copy `{}`", path.display())]
struct CopyStays {
    path: PathBuf,
    source: std::io::Error,
}

/// Hands what hooks recorded to the server, and copies what wake-ups here need.
pub fn sync_store(session: &Session) -> Result<SyncReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    // The copy is refreshed here.
    session.settings.opened_server().take();
    let location = crate::workspace::store_location(session)?;
    let mut report = SyncReport {
        store: location.to_string(),
        forwarded: 0,
        project: None,
        branch: None,
        tasks: 0,
        copy: None,
        replaced: false,
    };
    let Some(file) = copy_file(session, &location) else { return Ok(report) };
    let replica = match Replica::open(&file, COPY_PATIENCE) {
        Err(error) if error.is_damage() => {
            let stays = |source| CopyStays { path: file.clone(), source };
            Replica::discard(&file)
                .map_err(|source| Failure::new(ErrorClass::Prerequisite, stays(source)))?;
            report.replaced = true;
            Replica::open(&file, COPY_PATIENCE)
        }
        opened => opened,
    };
    let replica = replica.map_err(refused)?;
    let Workspace { store, scope } = &workspace;
    let around = session.environment.client_sessions();
    let sessions: Vec<_> =
        around.iter().map(|(client, id)| ClientSession { client: *client, id }).collect();
    let wish = ReplicaWish { scope, sessions: &sessions };
    let mut refreshed = ReplicaRefresh::Postponed;
    for _ in 0..MOST_ATTEMPTS {
        report.forwarded += store.take_records(&replica, FORWARD_PATIENCE).map_err(refused)?;
        refreshed = store.refresh_replica(&replica, wish, session.now()).map_err(refused)?;
        if refreshed == ReplicaRefresh::Refreshed {
            break;
        }
    }
    if refreshed == ReplicaRefresh::Postponed {
        return Err(Failure::new(ErrorClass::Prerequisite, CopyInUse).hint("run it again"));
    }
    report.tasks = replica.store().tasks(scope).map_err(refused)?.len();
    report.project = Some(scope.project.clone());
    report.branch = Some(scope.branch.clone());
    report.copy = copy_report(session, Some(scope));
    Ok(report)
}
