//! What can go wrong between Convoke and a server, as far as a user can react to it.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tokio_postgres::error::SqlState;

use crate::error::BackendTrouble;

/// A request to a server failed. No text here holds a password or a value of a statement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerFailure {
    /// The server refused, in its own words.
    #[error("{message}")]
    Refused { message: String, state: SqlState },
    /// The connection could not be made, or ended.
    #[error("the connection to the server failed")]
    Lost(#[source] tokio_postgres::Error),
    /// The server proved the wrong identity, or none.
    #[error("the server's identity could not be verified")]
    Untrusted(#[source] io::Error),
    /// The server accepts no encrypted connections.
    #[error("the server accepts no TLS connections, which are required for it")]
    NoEncryption,
    /// The connection had ended before the change was to be kept, so the server has undone it.
    #[error("the connection to the server ended in the middle of a change")]
    Interrupted,
    /// The connection had ended, and could not be made again.
    #[error("the connection to the server ended, and cannot be made again")]
    Unreached(#[source] Box<Self>),
    /// The server did not answer in time.
    #[error("the server did not answer within {} ms", .0.as_millis())]
    Late(Duration),
    /// The connection ended, or the server was late, while a change was being kept.
    #[error("the server did not confirm that it kept the change")]
    Unconfirmed(#[source] Box<Self>),
    /// The certificate authorities could not be read.
    #[error("cannot read the certificate authorities in `{}`", path.display())]
    Authorities { path: PathBuf, source: io::Error },
    /// The system has none.
    #[error("this system has no certificate authorities that Convoke can read")]
    NoAuthorities,
    /// A value has a type that no statement of Convoke's asks for.
    #[error("unexpected type `{0}` in an answer")]
    Type(String),
    /// The part of the program that waits for the server could not be started.
    #[error("cannot wait for a server")]
    Runtime(#[source] io::Error),
}

impl ServerFailure {
    /// Sorts what the client library reports.
    pub(super) fn of(error: tokio_postgres::Error) -> Self {
        if let Some(refused) = error.as_db_error() {
            let (message, state) = (refused.message().to_owned(), refused.code().clone());
            return Self::Refused { message, state };
        }
        let mut cause = std::error::Error::source(&error);
        while let Some(found) = cause {
            if let Some(io) = found.downcast_ref::<io::Error>()
                && let Some(tls) = io.get_ref().and_then(|inner| inner.downcast_ref())
            {
                let tls: &rustls::Error = tls;
                return Self::Untrusted(io::Error::other(tls.clone()));
            }
            cause = found.source();
        }
        // The library has no other way to tell.
        if error.to_string().contains("TLS") {
            return Self::NoEncryption;
        }
        Self::Lost(error)
    }

    /// Tells whether the connection is of no use any more.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Lost(_)
            | Self::Late(_)
            | Self::Interrupted
            | Self::Unreached(_)
            | Self::Unconfirmed(_) => true,
            Self::Refused { message, .. } if is_pools_refusal(message) => false,
            Self::Refused { state, .. } => {
                [
                    SqlState::ADMIN_SHUTDOWN,
                    SqlState::CRASH_SHUTDOWN,
                    SqlState::CANNOT_CONNECT_NOW,
                    SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
                    SqlState::DATABASE_DROPPED,
                ]
                .contains(state)
                    || state.code().starts_with("08")
            }
            Self::Untrusted(_)
            | Self::NoEncryption
            | Self::Authorities { .. }
            | Self::NoAuthorities
            | Self::Type(_)
            | Self::Runtime(_) => false,
        }
    }

    /// Returns what it means for the user.
    pub(crate) fn trouble(&self) -> BackendTrouble {
        match self {
            Self::Unconfirmed(_) => BackendTrouble::Unconfirmed,
            Self::Unreached(why) => why.trouble(),
            Self::Lost(_) | Self::Late(_) | Self::Interrupted => BackendTrouble::Away,
            Self::Untrusted(_)
            | Self::NoEncryption
            | Self::Authorities { .. }
            | Self::NoAuthorities => BackendTrouble::Untrusted,
            Self::Refused { .. } if self.is_lost() => BackendTrouble::Away,
            Self::Refused { message, .. } if is_pools_refusal(message) => BackendTrouble::Login,
            Self::Refused { state, .. } => of_state(state),
            Self::Type(_) | Self::Runtime(_) => BackendTrouble::Other,
        }
    }
}

/// Tells whether PgBouncer refuses a login: it uses the code of a lost connection for that.
fn is_pools_refusal(message: &str) -> bool {
    ["no such user", "SASL authentication failed", "password authentication failed"]
        .iter()
        .any(|words| message.starts_with(words))
}

fn of_state(state: &SqlState) -> BackendTrouble {
    match state.code() {
        // The class of logins; a database or a role that does not exist; a right that is missing.
        code if code.starts_with("28") => BackendTrouble::Login,
        "3D000" => BackendTrouble::Login,
        "42501" => BackendTrouble::Forbidden,
        "25006" => BackendTrouble::NotWritable,
        "53100" => BackendTrouble::Full,
        "58030" => BackendTrouble::Disk,
        // Locks, deadlocks, and too many connections.
        "55P03" | "40P01" | "40001" | "53300" | "57014" => BackendTrouble::Busy,
        "XX001" | "XX002" => BackendTrouble::Damaged,
        _ => BackendTrouble::Other,
    }
}
