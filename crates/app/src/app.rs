//! The context of every command.

use std::path::PathBuf;
use std::sync::Arc;

use convoke_service::environment::Environment;
use convoke_service::session::Session;

use crate::interrupt::Signals;
use crate::output::{TerminalObserver, Voice};

/// Whether remarks that are not part of a command's contract are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Only the requested output.
    Normal,
    /// Everything there is to know.
    Verbose,
}

/// The format of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people and agents.
    Text,
    /// One JSON document.
    Json,
}

/// A session of the service, and how its results are shown on a terminal.
#[derive(Clone)]
pub struct App {
    /// The context of use cases.
    pub session: Session,
    /// The format of the result.
    pub format: Format,
    /// How many diagnostics to show.
    pub verbosity: Verbosity,
}

impl App {
    /// Returns the surroundings of a command that works on a project.
    pub fn new(
        project: PathBuf,
        environment: Environment,
        format: Format,
        verbosity: Verbosity,
    ) -> Self {
        let session = Session::new(project, environment)
            .stopped_by(Arc::new(Signals))
            .observed_by(Arc::new(TerminalObserver::new(Voice::default(), format)));
        Self { session, format, verbosity }
    }
}
