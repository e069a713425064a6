//! The configuration files of a session: each is read at most once, and each section settled at most
//! once, when a use case first needs it. So a broken section fails only what needs that section.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_engine::file;
use toml::Table;

use super::trust::{Author, local_author};
use super::{ConfigError, LOCAL_FILE, MAX_BYTES, PROJECT_FILE, SECTIONS};
use super::{dispatch, fleet, health, lane, mcp, pack, task, telemetry, unknown, wake};
use crate::failure::{ErrorClass, Failure};
use crate::replica::OpenedServer;
use crate::session::Session;

/// The configuration of one project. Clones share the parsed files.
#[derive(Debug, Clone, Default)]
pub struct SessionSettings {
    files: Arc<Mutex<Arc<ConfigFiles>>>,
    server: OpenedServer,
}

impl SessionSettings {
    /// Forgets the parsed files. A use case that writes a configuration file calls this afterwards.
    pub fn forget(&self) {
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }

    /// Returns the server that a use case of the session had open last.
    pub(crate) const fn opened_server(&self) -> &OpenedServer {
        &self.server
    }

    pub(super) fn files(&self) -> Arc<ConfigFiles> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The files at their first use, and the settings from them.
#[derive(Debug, Default)]
pub(super) struct ConfigFiles {
    user: OnceLock<Option<ConfigFile>>,
    local: OnceLock<ConfigFile>,
    project: OnceLock<ConfigFile>,
    local_author: OnceLock<Author>,
    pub(super) wake: OnceLock<wake::Settings>,
    pub(super) dispatch: OnceLock<dispatch::Settings>,
    pub(super) lane: OnceLock<lane::Settings>,
    pub(super) health: OnceLock<health::Settings>,
    pub(super) pack: OnceLock<pack::PackSettings>,
    pub(super) task: OnceLock<task::Settings>,
    pub(super) mcp: OnceLock<mcp::McpSettings>,
    pub(super) telemetry: OnceLock<telemetry::TelemetrySettings>,
    pub(super) fleet: OnceLock<fleet::FleetSettings>,
}

/// Returns settings that are known, or settles them. A failure is not kept.
pub(super) fn settle_once<T: Clone>(
    known: &OnceLock<T>,
    settle: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    if let Some(settings) = known.get() {
        return Ok(settings.clone());
    }
    let settings = settle()?;
    Ok(known.get_or_init(|| settings).clone())
}

impl ConfigFiles {
    /// Returns the user's file. One out of reach counts as missing: agents run in sandboxes that hide
    /// it.
    pub(super) fn user(&self, session: &Session) -> Option<&ConfigFile> {
        self.users_file(session).filter(|file| !file.is_out_of_reach())
    }

    /// Returns where the user's file is, if it is out of reach.
    pub(super) fn hidden(&self, session: &Session) -> Option<&Path> {
        let file = self.users_file(session).filter(|file| file.is_out_of_reach())?;
        Some(&file.path)
    }

    fn users_file(&self, session: &Session) -> Option<&ConfigFile> {
        let read = || session.environment.user_config().map(ConfigFile::read);
        self.user.get_or_init(read).as_ref()
    }

    pub(super) fn local(&self, session: &Session) -> &ConfigFile {
        self.local.get_or_init(|| ConfigFile::read(session.project.join(LOCAL_FILE)))
    }

    pub(super) fn project(&self, session: &Session) -> &ConfigFile {
        self.project.get_or_init(|| ConfigFile::read(session.project.join(PROJECT_FILE)))
    }

    /// Returns who wrote the local file, which `table` is read from. Asking git costs a process.
    pub(super) fn local_author(&self, session: &Session, table: &Table) -> Author {
        *self.local_author.get_or_init(|| local_author(&session.project, table))
    }
}

/// A configuration file that was read; a missing one is empty.
#[derive(Debug)]
pub(super) struct ConfigFile {
    pub(super) path: PathBuf,
    table: Result<Table, ConfigError>,
}

impl ConfigFile {
    fn read(path: PathBuf) -> Self {
        let table = parse(&path);
        Self { path, table }
    }

    /// Returns what the file says.
    pub(super) fn parsed(&self) -> Result<&Table, Failure> {
        self.table.as_ref().map_err(|error| Failure::new(ErrorClass::Usage, error.clone()))
    }

    /// Returns what the file says, if it has known sections only.
    pub(super) fn table(&self) -> Result<&Table, Failure> {
        let table = self.parsed()?;
        match table.keys().find(|name| !SECTIONS.contains(&name.as_str())) {
            Some(name) => Err(unknown(name, &self.path, "section", &SECTIONS)),
            None => Ok(table),
        }
    }

    /// Tells whether the system denies even access to the file's metadata.
    fn is_out_of_reach(&self) -> bool {
        let denied = Unreadable::PermissionDenied;
        matches!(&self.table, Err(ConfigError::Unreadable { reason, .. }) if *reason == denied)
    }
}

fn parse(path: &Path) -> Result<Table, ConfigError> {
    let text = match file::read(path, MAX_BYTES) {
        FileFinding::Absent => return Ok(Table::new()),
        FileFinding::Text(text) => text,
        FileFinding::Unreadable(reason) => {
            return Err(ConfigError::Unreadable { path: path.to_owned(), reason });
        }
    };
    text.parse().map_err(|error: toml::de::Error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let why = error.message().lines().next().unwrap_or("not valid TOML").to_owned();
        ConfigError::Syntax { path: path.to_owned(), line, why }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::environment::Environment;

    #[test]
    fn a_session_reads_its_settings_once_until_it_forgets_them() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(PROJECT_FILE);
        let session = Session::new(folder.path().to_owned(), Environment::default());
        let closes = |session: &Session| task::settings(session).unwrap().close_parent;
        fs::write(&file, "[task]\nclose_parent = true\n").unwrap();
        assert!(closes(&session));
        fs::write(&file, "[task]\nclose_parent = false\n").unwrap();
        assert!(closes(&session) && closes(&session.clone()));
        assert!(!closes(&session.in_project(folder.path().to_owned())));
        session.settings.forget();
        assert!(!closes(&session));
    }

    #[test]
    fn a_broken_section_fails_only_what_needs_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(PROJECT_FILE);
        fs::write(&file, "[wake]\nwake_budget = 'x'\n[task]\nclose_parent = true\n").unwrap();
        let session = Session::new(folder.path().to_owned(), Environment::default());
        let said = || wake::settings(&session).unwrap_err().error.to_string();
        assert_eq!(said(), said(), "a mistake is told each time");
        assert!(task::settings(&session).unwrap().close_parent);
    }
}
