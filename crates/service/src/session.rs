//! Everything a use case needs, settled once by the front end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use convoke_engine::lane::cancel::Cancel;
use convoke_engine::project::root_above;
use jiff::Timestamp;

use crate::call_store::CallStore;
use crate::clock::{Clock, SystemClock};
use crate::environment::Environment;
use crate::failure::{ErrorClass, Failure};
use crate::interruption::{CallerInterruption, Interruption};
use crate::observer::{Observer, Reporter, Unobserved};
use crate::settings::SessionSettings;
use crate::telemetry::{Telemetry, TelemetrySwitch};

/// The surroundings of a use case.
#[derive(Clone)]
pub struct Session {
    /// The project's root.
    pub project: PathBuf,
    /// The environment, as it was when the front end started.
    pub environment: Environment,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// Stops what runs.
    pub interruption: Arc<dyn Interruption>,
    /// Receives progress.
    pub observer: Arc<dyn Observer>,
    /// The project's configuration, read on its first use.
    pub settings: SessionSettings,
    /// Records the session's lanes, if the user wants that.
    pub telemetry: Telemetry,
    /// The store, once a part of this call has opened it.
    pub store: CallStore,
}

/// A folder that cannot be worked in.
#[derive(Debug, thiserror::Error)]
#[error("cannot use project `{}`", path.display())]
struct ProjectError {
    path: PathBuf,
    source: io::Error,
}

impl Session {
    /// Returns the project's folder as an absolute path, also where it was named by a relative one.
    pub fn absolute_project(&self) -> PathBuf {
        std::path::absolute(&self.project).unwrap_or_else(|_| self.project.clone())
    }

    /// Returns a session by the machine's clock that nothing stops and nothing observes.
    pub fn new(project: PathBuf, environment: Environment) -> Self {
        Self {
            project,
            environment,
            clock: Arc::new(SystemClock),
            interruption: Arc::new(CallerInterruption::default()),
            observer: Arc::new(Unobserved),
            settings: SessionSettings::default(),
            telemetry: Telemetry::default(),
            store: CallStore::default(),
        }
    }

    /// Returns the same for another project, as a part of the same call: a user has one store for all
    /// projects.
    #[must_use]
    pub fn in_project(&self, project: PathBuf) -> Self {
        Self { project, settings: SessionSettings::default(), ..self.clone() }
    }

    /// Returns the same for another call, which opens the store itself. A front end that answers many
    /// calls takes one for each: they neither wait for each other nor depend on a store that was
    /// replaced or a password that was changed since an earlier one.
    #[must_use]
    pub fn for_call(&self) -> Self {
        Self { store: CallStore::default(), ..self.clone() }
    }

    /// Returns the session with another observer.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = observer;
        self
    }

    /// Returns the session with other means to stop it.
    #[must_use]
    pub fn stopped_by(mut self, interruption: Arc<dyn Interruption>) -> Self {
        self.interruption = interruption;
        self
    }

    /// Returns the session with settings that another session of the same project shares.
    #[must_use]
    pub fn with_settings(mut self, settings: SessionSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Returns the session with another wish for telemetry.
    #[must_use]
    pub fn with_telemetry(mut self, switch: TelemetrySwitch) -> Self {
        self.telemetry = Telemetry::new(switch);
        self
    }

    /// Returns the present time.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the value that stops all work of this session.
    pub fn cancel(&self) -> Cancel {
        self.interruption.cancel()
    }

    /// Tells whether the user stopped Convoke.
    pub fn is_stopped(&self) -> bool {
        self.cancel().is_cancelled()
    }

    /// Returns the reporter of a whole use case.
    pub fn reporter(&self) -> Reporter {
        Reporter::new(self.observer.clone())
    }

    /// Returns the reporter of one of several that work in parallel.
    pub fn reporter_of(&self, source: impl Into<String>) -> Reporter {
        Reporter::named(self.observer.clone(), source)
    }
}

/// Returns the named project, or the one around the folder that the process started in.
pub fn project_root(named: Option<&Path>, environment: &Environment) -> Result<PathBuf, Failure> {
    let start = match named {
        Some(path) => path.to_owned(),
        None => environment.current_dir().map_err(|source| {
            let error = ProjectError { path: PathBuf::from("."), source };
            Failure::new(ErrorClass::Prerequisite, error)
        })?,
    };
    let is_dir = fs::metadata(&start).and_then(|found| {
        if found.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
    });
    is_dir.map_err(|source| {
        let error = ProjectError { path: start.clone(), source };
        Failure::new(ErrorClass::Usage, error)
            .hint("name the project's root folder with `--project`")
    })?;
    Ok(if named.is_some() { start } else { root_above(&start, environment.home().as_deref()) })
}
