//! Reading what other programs keep in databases of their own: tasks of earlier programs, and messages
//! of a client.
//!
//! Three of them exist: one without a status, one with a result, and one with a status in words.
//! Their columns distinguish them. Convoke opens the database read-only and does not change it.

use std::path::PathBuf;

use convoke_domain::task::Task;

use crate::error::BackendCause;
pub use crate::sqlite::foreign::{is_database, read_tasks};
pub use crate::sqlite::foreign_messages::each_message;

/// Tasks of another program, with where they belong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignTask {
    /// Its project, as a path or a name, if the program knew projects.
    pub project: Option<String>,
    /// Its branch, if the program knew branches.
    pub branch: Option<String>,
    /// The task as the other program kept it.
    pub task: Task,
}

/// A message of a client's session, as its database keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignMessage<'a> {
    /// The client's id of the session; empty if the row has none.
    pub session: &'a str,
    /// The folder of the session.
    pub folder: Option<&'a str>,
    /// The message in the client's format; `None` if the row has no text.
    pub data: Option<&'a str>,
}

/// A database whose tasks cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    /// The database could not be read.
    #[error("cannot read the database `{}`", path.display())]
    Database {
        /// The database's file.
        path: PathBuf,
        /// The database's error.
        source: BackendCause,
    },
    /// It holds another kind of data.
    #[error("cannot import `{}`: it has no table of tasks that Convoke knows", path.display())]
    Unknown {
        /// The database's file.
        path: PathBuf,
    },
}
