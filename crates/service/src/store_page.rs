//! The store for one page: where it is, how large, what it holds, and a backup of it.

use std::fs;
use std::path::PathBuf;

use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::project::{ProjectReport, list_projects};
use crate::session::Session;
use crate::store_transfer::{StoreTransferReport, backup_store};
use crate::task::BranchCountReport;
use crate::workspace::{Workspace, refused, store_location};

/// The store for one page.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StorePageReport {
    /// The store's path.
    pub path: String,
    /// The bytes of its file and of what waits beside it to be merged; nothing if it is no file.
    pub bytes: Option<u64>,
    /// Every project of the store.
    pub projects: Vec<ProjectReport>,
    /// The branches of this project with tasks, most first.
    pub branches: Vec<BranchCountReport>,
    /// How many runs this project has.
    pub runs: usize,
    /// The backups that Convoke made in the folder beside the store, the last one first.
    pub backups: Vec<StoreBackupReport>,
}

/// A copy of the store that `convoke store backup` wrote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreBackupReport {
    /// The backup's path.
    pub path: String,
    /// How large it is.
    pub bytes: u64,
}

#[derive(Debug, thiserror::Error)]
enum StorePageError {
    #[error("cannot back up the store: there is no folder for backups")]
    NoFolder,
    #[error("cannot make the folder for backups")]
    NotMade(#[source] std::io::Error),
}

/// Returns what the store holds. It checks nothing.
pub fn store_page(session: &Session) -> Result<StorePageReport, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let location = store_location(session)?;
    let size = |path: PathBuf| fs::metadata(path).map_or(0, |found| found.len());
    let bytes = location.as_file().map(|file| {
        let beside = ["-wal", "-shm"].map(|suffix| {
            let mut name = file.as_os_str().to_owned();
            name.push(suffix);
            size(PathBuf::from(name))
        });
        size(file.to_owned()) + beside.iter().sum::<u64>()
    });
    let branches = store.branches(&scope.project).map_err(refused)?;
    Ok(StorePageReport {
        path: location.to_string(),
        bytes,
        projects: list_projects(session)?,
        branches: branches
            .into_iter()
            .map(|(branch, tasks)| BranchCountReport { branch, tasks })
            .collect(),
        runs: store.runs(&scope.project).map_err(refused)?.len(),
        backups: backups(session),
    })
}

fn folder(session: &Session) -> Option<PathBuf> {
    session.environment.store_backups()
}

fn backups(session: &Session) -> Vec<StoreBackupReport> {
    let entries = folder(session).and_then(|folder| fs::read_dir(folder).ok());
    let mut found: Vec<_> = entries
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "db"))
        .filter_map(|entry| {
            let bytes = entry.metadata().ok()?.len();
            Some(StoreBackupReport { path: entry.path().display().to_string(), bytes })
        })
        .collect();
    found.sort_by(|one, other| other.path.cmp(&one.path));
    found
}

/// Copies the store into a new file in the folder for backups, named after the time.
pub fn backup_store_now(session: &Session) -> Result<StoreTransferReport, Failure> {
    let prerequisite = |error| Failure::new(ErrorClass::Prerequisite, error);
    let folder = folder(session).ok_or_else(|| prerequisite(StorePageError::NoFolder))?;
    fs::create_dir_all(&folder).map_err(|error| prerequisite(StorePageError::NotMade(error)))?;
    let name = session.now().strftime("store-%Y%m%dT%H%M%S%3fZ.db").to_string();
    backup_store(session, &folder.join(name))
}
