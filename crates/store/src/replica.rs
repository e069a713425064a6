//! Copies of a server's store, from which hooks answer while the server does not.
//!
//! A copy is a SQLite file of this machine. It holds what wake-ups of this machine's sessions need. What
//! hooks record in it waits in its outbox until a process reaches the server. The server takes a record
//! in such a way that taking it twice changes nothing, because a process may be killed before it crosses
//! the record off.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use convoke_domain::scope::{Address, AgentName, Scope};
use jiff::Timestamp;

use crate::Store;
use crate::delivery::{Claimant, Session};
use crate::error::StoreError;
use crate::location::StoreLocation;
use crate::sql::SqlStore;

/// An open copy of a server's store.
#[derive(Debug)]
pub struct Replica {
    pub(crate) store: SqlStore,
    pub(crate) path: PathBuf,
}

/// The age of a copy, and what waits in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplicaState {
    /// When the branch was last copied from the server; `None` if it never was.
    pub refreshed_at: Option<Timestamp>,
    /// How many records wait for the server.
    pub waiting: usize,
    /// When the server last did not answer a hook, if it has answered nothing since.
    pub away_at: Option<Timestamp>,
}

/// What a copy is to hold.
#[derive(Debug, Clone, Copy)]
pub struct ReplicaWish<'a> {
    /// The project, and the branch that is needed in any case.
    pub scope: &'a Scope,
    /// Sessions of this machine, to be remembered as such.
    pub sessions: &'a [Session<'a>],
}

/// The result of a refresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplicaRefresh {
    /// The copy holds what the server held at one moment after the call.
    Refreshed,
    /// A hook is recording in the copy at the moment, so the copy stays as it was.
    Postponed,
}

impl Replica {
    /// Returns the file of a store's copy; `None` for a store that is a file itself.
    pub fn file(location: &StoreLocation, folder: &Path) -> Option<PathBuf> {
        location.as_file().is_none().then(|| location.lock_file("copy.db", folder))
    }

    /// Opens a copy, making it if it is missing, and waits for other processes no longer than
    /// `patience`.
    pub fn open(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        let store = SqlStore::open_in_a_hurry(path, patience)?;
        store.prepare_replica()?;
        Ok(Self { store, path: path.to_owned() })
    }

    /// Opens a copy as [`Replica::open`] does; `None` if the file is missing.
    pub fn open_present(path: &Path, patience: Duration) -> Result<Option<Self>, StoreError> {
        if path.exists() { Self::open(path, patience).map(Some) } else { Ok(None) }
    }

    /// Removes a copy that cannot be used, with the records that wait in it.
    pub fn discard(path: &Path) -> io::Result<()> {
        for end in ["-wal", "-shm"] {
            let mut name = path.to_owned().into_os_string();
            name.push(end);
            match fs::remove_file(name) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        fs::remove_file(path)
    }

    /// Returns the copy as a store. Records of hooks in it wait for the server.
    pub fn store(&self) -> Arc<dyn Store> {
        self.store.acting_for(AgentName::human())
    }

    /// Returns how old the copy of a branch is, and what waits in the whole copy.
    pub fn state(&self, scope: &Scope) -> Result<ReplicaState, StoreError> {
        self.store.replica_state(scope)
    }

    /// Removes messages that an agent is about to receive from the server, so that the copy never
    /// delivers them again, even if no refresh follows.
    pub fn forget_unread(&self, agent: &Address, messages: &[i64]) -> Result<(), StoreError> {
        self.store.forget_unread(agent, messages)
    }

    /// Claims messages for a session of an agent, wherever its text comes from, and returns those that
    /// another session of this machine is being given. A claim holds for a moment, unless its process
    /// dies before it delivers.
    pub fn claim_messages(
        &self,
        agent: &Address,
        session: Session<'_>,
        messages: &[i64],
        claimant: Claimant<'_>,
        now: Timestamp,
    ) -> Result<Vec<i64>, StoreError> {
        self.store.claim_messages(agent, session, messages, claimant, now)
    }

    /// Notes that a session was given the messages that it claimed: also the end of its process does not
    /// free them.
    pub fn keep_claims(&self, session: Session<'_>) -> Result<(), StoreError> {
        self.store.keep_claims(session)
    }

    /// Remembers when the server did not answer, or that it answers.
    pub fn keep_away(&self, away_at: Option<Timestamp>) -> Result<(), StoreError> {
        self.store.keep_away(away_at)
    }

    /// The file by which processes that forward records take turns.
    pub(crate) fn forward_lock(&self) -> PathBuf {
        StoreLocation::file(&self.path).lock_file("forward", Path::new(""))
    }
}

/// Keeps copies of a store up to date, and takes what waits in them.
pub trait ReplicaStore {
    /// Limits the time for all further answers of a server together; `None` ends the limit.
    fn limit_answers(&self, limit: Option<Duration>);

    /// Takes over the records that wait in a copy, and returns how many those were. Does nothing but
    /// look if none waits. After an interruption, repeat it: no record counts twice.
    fn take_records(&self, replica: &Replica, patience: Duration) -> Result<usize, StoreError>;

    /// Copies what wake-ups need. The copy changes as a whole or not at all. No record may wait in it.
    fn refresh_replica(
        &self,
        replica: &Replica,
        wish: ReplicaWish<'_>,
        now: Timestamp,
    ) -> Result<ReplicaRefresh, StoreError>;
}
