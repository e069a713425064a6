//! Errors of a store, and their remedies.

mod hint;

use std::error::Error;
use std::io;
use std::path::PathBuf;

use convoke_domain::run::RunId;
use convoke_domain::scope::AgentName;
use convoke_domain::task::DEEPEST;
use convoke_domain::task::deed::DeedRole;
use convoke_domain::task::id::TaskId;

use crate::address::AddressError;
use crate::location::StoreLocation;

/// The backend's own error. Every backend has its own error types.
pub type BackendCause = Box<dyn Error + Send + Sync>;

/// Why a backend refused, as far as a user can react to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendTrouble {
    /// The store is damaged, or the file is not a store.
    Damaged,
    /// The user may not write to the store, or not reach it.
    NotWritable,
    /// There is no space left for the store.
    Full,
    /// The system could not read or write the store's files: the disk is full or failing. The store
    /// itself may be intact.
    Disk,
    /// Another program held the store for longer than the caller waits.
    Busy,
    /// The server does not answer, or ended the connection.
    Away,
    /// The connection ended while a change was being kept: it was kept, or it was not.
    Unconfirmed,
    /// The server does not accept the user or the password, or not for this database.
    Login,
    /// The server lets the user in, and refuses this.
    Forbidden,
    /// The server cannot prove who it is, or speaks no TLS.
    Untrusted,
    /// Anything else.
    Other,
}

/// An operation of a store failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder of the store could not be made.
    #[error("cannot create `{}`", path.display())]
    Folder {
        /// The folder, or the lock beside the store.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// The address of a store cannot be read.
    #[error("cannot read the address of the store")]
    Address {
        /// The error in it.
        source: AddressError,
    },
    /// This program has no backend for servers.
    #[error("cannot open a store on a server: this convoke was built without the Postgres backend")]
    NoServers,
    /// The store could not be opened.
    #[error("cannot open store `{location}`")]
    Open {
        /// Where the store is.
        location: StoreLocation,
        /// Why, in kind.
        trouble: BackendTrouble,
        /// Why, in the backend's words.
        source: BackendCause,
    },
    /// A later version of Convoke has written to the store.
    #[error("cannot use store `{location}`: it has schema {found}, but this version knows {known}")]
    Newer {
        /// Where the store is.
        location: StoreLocation,
        /// The store's schema.
        found: usize,
        /// The newest schema that this program knows.
        known: usize,
    },
    /// An earlier version of Convoke has written the store, and the caller may not change it.
    #[error(
        "cannot read store `{location}`: it has schema {found}, and this version reads {known}"
    )]
    Older {
        /// Where the store is.
        location: StoreLocation,
        /// The store's schema.
        found: usize,
        /// The schema that this program reads.
        known: usize,
    },
    /// An earlier version of Convoke has written the store, and only its owner may change its schema.
    #[error(
        "cannot use store `{location}`: it has schema {found}, this version writes {known}, and only \
         the store's owner may update it"
    )]
    OwnerUpdates {
        /// Where the store is.
        location: StoreLocation,
        /// The store's schema.
        found: usize,
        /// The schema that this program writes.
        known: usize,
    },
    /// A team needs a store that its members can reach, each as a user of its own.
    #[error("cannot manage a team: the store is a file on this machine, and a team needs a server")]
    TeamNeedsServer,
    /// No team was begun.
    #[error("the store has no team")]
    NoTeam,
    /// The user of the connection does not own the store.
    #[error("cannot manage the team: only the user who owns the store's tables may")]
    NotOwner,
    /// The owner cannot make roles for members.
    #[error("cannot begin a team: the store's owner may not create roles on the server")]
    MayNotCreateRoles,
    /// There is no such member.
    #[error("there is no member `{name}`")]
    NoMember {
        /// The given name.
        name: String,
    },
    /// The server has a role of this name that is no member of this team.
    #[error("cannot invite `{name}`: the server has another user of that name")]
    RoleExists {
        /// The given name.
        name: String,
    },
    /// A question or a change failed.
    #[error("cannot {doing}")]
    Failed {
        /// The operation that failed.
        doing: &'static str,
        /// Why not, in kind.
        trouble: BackendTrouble,
        /// Why not, in the backend's words.
        source: BackendCause,
    },
    /// There is no such task in the scope.
    #[error("there is no task `{id}` here")]
    NoTask {
        /// The given id.
        id: TaskId,
    },
    /// A task changed after it was chosen.
    #[error("cannot start `{id}`: another process changed it a moment ago")]
    Taken {
        /// The chosen task.
        id: TaskId,
    },
    /// A task cannot be part of itself.
    #[error("cannot move `{id}` below `{parent}`: it would contain itself")]
    Circle {
        /// The moved task.
        id: TaskId,
        /// The intended parent.
        parent: TaskId,
    },
    /// A tree may not grow this deep.
    #[error(
        "cannot put a task below `{parent}`: the tree would be more than {} levels deep",
        DEEPEST
    )]
    TooDeep {
        /// The intended parent.
        parent: TaskId,
    },
    /// Tasks would wait for each other.
    #[error("the tasks would wait for each other: {}", ids(circle))]
    Waits {
        /// The tasks, the first of them at both ends.
        circle: Vec<TaskId>,
    },
    /// A task can be put beside its siblings only.
    #[error("cannot move `{id}` next to `{sibling}`: they have different parents")]
    NotSiblings {
        /// The moved task.
        id: TaskId,
        /// The intended neighbour.
        sibling: TaskId,
    },
    /// A task that was removed is part of another that was, too.
    #[error("cannot restore `{id}`: its parent `{parent}` was also removed")]
    RemovedParent {
        /// The task that stays removed.
        id: TaskId,
        /// The removed parent.
        parent: TaskId,
    },
    /// There is no such task among the removed ones.
    #[error("there is no removed task `{id}` here")]
    NotRemoved {
        /// The given id.
        id: TaskId,
    },
    /// A task of the step has moved since.
    #[error("cannot undo the last step: `{id}` is no longer on this branch")]
    CannotUndo {
        /// The task.
        id: TaskId,
    },
    /// The user did what an agent undoes.
    #[error("cannot undo {what}: the user did this, and an agent undoes only what agents did")]
    OfUser {
        /// What was done last.
        what: &'static str,
    },
    /// A role judged the task after its last step, in a dispatch or with a message.
    #[error(
        "cannot undo the last step of `{id}`: after it, {role} judged the task in a dispatch or with \
         a message"
    )]
    JudgedSince {
        /// The task.
        id: TaskId,
        /// The role that judged since.
        role: DeedRole,
    },
    /// There is no such project.
    #[error("there is no project `{name}` in the store")]
    NoProject {
        /// The given name.
        name: String,
    },
    /// A project cannot be merged with itself.
    #[error("cannot merge `{name}` with itself")]
    SameProject {
        /// The project.
        name: String,
    },
    /// There is no such message in the scope.
    #[error("there is no message {id} here")]
    NoMessage {
        /// The given number.
        id: i64,
    },
    /// The file belongs to another program.
    #[error("cannot use `{location}` as a store: it belongs to another program")]
    Foreign {
        /// The location of the other program's data.
        location: StoreLocation,
    },
    /// There is no such agent in the scope.
    #[error("agent \"{name}\" not found")]
    NoAgent {
        /// The given name.
        name: AgentName,
    },
    /// Another agent has the name.
    #[error("cannot use the name `{name}`: this project already has an agent @{name}")]
    AgentExists {
        /// The given name.
        name: AgentName,
    },
    /// The agent has open tasks or runs.
    #[error("cannot remove @{name}: open tasks: {tasks}, unread messages: {unread}")]
    AgentBusy {
        /// The busy agent.
        name: AgentName,
        /// How many open tasks it has.
        tasks: usize,
        /// How many messages it has not read.
        unread: usize,
    },
    /// There is no such run in the project.
    #[error("cannot find a run `{id}` here")]
    NoRun {
        /// The given id.
        id: RunId,
    },
    /// Several runs' ids begin so.
    #[error("ambiguous run: several ids begin with `{id}`")]
    ManyRuns {
        /// The given beginning of an id.
        id: RunId,
    },
    /// A run of this id was begun before.
    #[error("cannot start run `{id}`: it already exists")]
    RunExists {
        /// The id that is taken.
        id: RunId,
    },
    /// Another process has written to the journal, or the event was written before.
    #[error("cannot write event {seq} of run `{id}`: the next one is {next}")]
    OutOfTurn {
        /// The run of the journal.
        id: RunId,
        /// The intended number of the event.
        seq: u64,
        /// The next free number.
        next: u64,
    },
}

impl StoreError {
    /// Tells whether the same request can succeed later by itself: the store is away, busy
    /// or full.
    pub const fn may_pass(&self) -> bool {
        let (Self::Open { trouble, .. } | Self::Failed { trouble, .. }) = self else {
            return false;
        };
        matches!(
            trouble,
            BackendTrouble::Away
                | BackendTrouble::Busy
                | BackendTrouble::Full
                | BackendTrouble::Unconfirmed
        )
    }

    /// Tells whether a server did not answer, or not in time.
    pub const fn is_away(&self) -> bool {
        let (Self::Open { trouble, .. } | Self::Failed { trouble, .. }) = self else {
            return false;
        };
        matches!(trouble, BackendTrouble::Away | BackendTrouble::Busy | BackendTrouble::Unconfirmed)
    }

    /// Tells whether the store itself is broken.
    pub const fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Open { trouble: BackendTrouble::Damaged, .. }
                | Self::Failed { trouble: BackendTrouble::Damaged, .. }
        )
    }
}

fn ids(ids: &[TaskId]) -> String {
    ids.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(" waits for ")
}

impl BackendTrouble {
    const fn hint(self) -> Option<&'static str> {
        match self {
            Self::Damaged => Some(
                "run `convoke store check`; if it is damaged, restore a backup or move the file away",
            ),
            Self::NotWritable => {
                Some("make the store writable, or name another with CONVOKE_STORE")
            }
            Self::Full => Some("free some disk space; nothing was lost"),
            Self::Disk => Some(
                "check the store's disk: it may be full or failing; the store may be intact, so keep its files",
            ),
            Self::Busy => {
                Some("another program has locked the store; try again when it has finished")
            }
            Self::Away => {
                Some("check that the server runs and can be reached from here; nothing was changed")
            }
            Self::Unconfirmed => Some(
                "look whether the change is there before you repeat it: the server may have kept it",
            ),
            Self::Login => Some(
                "check the user and its password: CONVOKE_STORE_PASSWORD, or `store.password_file` or \
                 `store.password_command` in your configuration",
            ),
            Self::Forbidden => Some(
                "ask the owner of the store for it; `convoke team members` shows what you may use",
            ),
            Self::Untrusted => Some(
                "name the file of the server's certificate authority with `sslrootcert` in the address, \
                 and the host as its certificate does",
            ),
            Self::Other => None,
        }
    }
}
