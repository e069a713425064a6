//! Whether the store is sound, copies of it, and a file that holds all of it.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use convoke_engine::file::{DraftReaders, draft};
use convoke_store::StoreLocation;
use convoke_store::error::StoreError;
use convoke_store::transfer::TransferError;
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::store::with_password;
use crate::workspace::{open_store, refused, store_location};

const BEGIN_ANEW: &str = "restore a backup, or move the file away and start with an empty store";

/// The path that a report shows for stdin and stdout.
const NO_PATH: &str = "-";

/// Whether the store is sound.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreCheckReport {
    /// The store's path, or the address of its server.
    pub path: String,
    /// Whether it is.
    pub sound: bool,
    /// The defects of the store.
    pub problems: Vec<String>,
}

/// The result of a copy, an export or an import.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreTransferReport {
    /// The file; `-` where the front end read or wrote itself.
    pub path: String,
    /// How many rows, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
}

/// A store that was copied to another place, and compared with the copy.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StoreMoveReport {
    /// The store that was copied. It is as it was.
    pub from: String,
    /// The store that holds the same now.
    pub to: String,
    /// How many rows both hold.
    pub rows: u64,
    /// Whether the copy had been made before.
    pub was_there: bool,
    /// What both hold, table by table.
    pub tables: Vec<MovedTable>,
}

/// A table that is the same in both stores.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MovedTable {
    /// Its name.
    pub table: String,
    /// How many rows it has.
    pub rows: u64,
    /// The sum of the SHA-256 of its rows, which does not depend on their order.
    pub sha256: String,
}

/// A store cannot be moved to itself.
#[derive(Debug, thiserror::Error)]
#[error("cannot move the store to `{place}`: it is there already")]
struct SamePlace {
    place: String,
}

/// Where an export is written.
pub enum ExportTarget<'a> {
    /// Into a new file.
    File(&'a Path),
    /// Line by line to the front end.
    Lines(&'a mut dyn FnMut(&str) -> Result<(), Failure>),
}

/// Where an export is read from.
pub enum StoreImportSource<'a> {
    /// From a file.
    File(&'a Path),
    /// From the front end.
    Reader(&'a mut dyn BufRead),
}

#[derive(Debug, thiserror::Error)]
enum TransferFileError {
    #[error("cannot write `{}`: it exists already", path.display())]
    Exists { path: PathBuf },
    #[error("cannot write `{}`", path.display())]
    NotWritten { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`", path.display())]
    NotRead { path: PathBuf, source: io::Error },
}

/// Tells where the store is and whether it is sound.
pub fn check_store(session: &Session) -> Result<StoreCheckReport, Failure> {
    let store = open_store(session).map_err(with_a_way_out)?;
    let problems = store.check().map_err(refused)?;
    let path = store_location(session)?.to_string();
    Ok(StoreCheckReport { path, sound: problems.is_empty(), problems })
}

impl StoreCheckReport {
    /// Returns what to do about a store that is damaged.
    pub fn hint(&self) -> Option<&'static str> {
        (!self.sound).then_some(BEGIN_ANEW)
    }
}

/// Adds the hint to start a new store, for a damaged one only; an unreachable one has another hint
/// already.
fn with_a_way_out(mut failure: Failure) -> Failure {
    let broken = failure.error.downcast_ref::<StoreError>().is_some_and(StoreError::is_damage);
    if broken {
        failure.hints = vec![BEGIN_ANEW.to_owned()];
    }
    failure
}

/// Copies the store into a new file, as it is at one moment.
pub fn backup_store(session: &Session, file: &Path) -> Result<StoreTransferReport, Failure> {
    let store = open_store(session)?;
    let draft = Draft::begin(file)?;
    store.backup(draft.file.path()).map_err(refused)?;
    draft.keep()?;
    Ok(StoreTransferReport { path: file.display().to_string(), rows: None })
}

/// Exports one state of the store as JSON lines.
pub fn export_store(
    session: &Session,
    target: ExportTarget<'_>,
) -> Result<StoreTransferReport, Failure> {
    let store = open_store(session)?;
    let now = session.now();
    let (path, rows) = match target {
        ExportTarget::Lines(write) => {
            let mut stopped = None;
            let exported = store.export(now, &mut |line| {
                write(line).map_err(|failure| {
                    stopped = Some(failure);
                    io::ErrorKind::BrokenPipe.into()
                })
            });
            if let Some(failure) = stopped {
                return Err(failure);
            }
            (NO_PATH.to_owned(), exported.map_err(failed)?)
        }
        ExportTarget::File(path) => {
            let draft = Draft::begin(path)?;
            let mut file = BufWriter::new(draft.file.as_file());
            let rows = store.export(now, &mut |line| writeln!(file, "{line}")).map_err(failed)?;
            file.flush().map_err(|error| not_written(path, error))?;
            drop(file);
            draft.keep()?;
            (path.display().to_string(), rows)
        }
    };
    Ok(StoreTransferReport { path, rows: Some(rows) })
}

/// Fills an empty store from an export: all of it, or nothing.
pub fn import_store(
    session: &Session,
    source: StoreImportSource<'_>,
) -> Result<StoreTransferReport, Failure> {
    let store = open_store(session)?;
    let (path, rows) = match source {
        StoreImportSource::Reader(lines) => (NO_PATH.to_owned(), store.import(lines)),
        StoreImportSource::File(path) => {
            let file = File::open(path).map_err(|source| {
                let error = TransferFileError::NotRead { path: path.to_owned(), source };
                Failure::new(ErrorClass::Prerequisite, error)
            })?;
            (path.display().to_string(), store.import(&mut BufReader::new(file)))
        }
    };
    Ok(StoreTransferReport { path, rows: Some(rows.map_err(failed)?) })
}

/// Copies everything that the store holds into another, empty store: a file or a server's. The copy is
/// kept only if both hold the same.
pub fn move_store(session: &Session, to: &OsStr) -> Result<StoreMoveReport, Failure> {
    let from = store_location(session)?;
    let target = StoreLocation::parse(to);
    if from.to_string() == target.to_string() {
        let error = SamePlace { place: from.to_string() };
        return Err(Failure::new(ErrorClass::Refused, error).hint("name another store with `--to`"));
    }
    let target = with_password(session, target)?;
    let copied = open_store(session)?.copy_into(&target).map_err(|error| {
        if matches!(error, TransferError::NotEmpty { .. }) {
            return Failure::new(ErrorClass::Refused, error)
                .hint("name a store that holds nothing yet");
        }
        failed(error)
    })?;
    let tables = copied.tables.into_iter().map(|found| MovedTable {
        table: found.table,
        rows: found.rows,
        sha256: found.sha256,
    });
    let tables: Vec<_> = tables.collect();
    Ok(StoreMoveReport {
        from: from.to_string(),
        to: target.to_string(),
        rows: tables.iter().map(|table| table.rows).sum(),
        was_there: copied.was_there,
        tables,
    })
}

/// A file beside the wanted one, which gets its name when it is whole.
struct Draft<'a> {
    file: NamedTempFile,
    path: &'a Path,
}

impl<'a> Draft<'a> {
    fn begin(path: &'a Path) -> Result<Self, Failure> {
        if path.symlink_metadata().is_ok() {
            return Err(exists(path));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let file = draft(folder.unwrap_or(Path::new(".")), DraftReaders::User);
        Ok(Self { file: file.map_err(|error| not_written(path, error))?, path })
    }

    fn keep(self) -> Result<(), Failure> {
        let synced = self.file.as_file().sync_all();
        synced.map_err(|error| not_written(self.path, error))?;
        match self.file.persist_noclobber(self.path) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(exists(self.path))
            }
            Err(error) => Err(not_written(self.path, error.error)),
        }
    }
}

fn exists(path: &Path) -> Failure {
    Failure::new(ErrorClass::Refused, TransferFileError::Exists { path: path.to_owned() })
        .hint("name a file that does not exist yet")
}

fn not_written(path: &Path, source: io::Error) -> Failure {
    let error = TransferFileError::NotWritten { path: path.to_owned(), source };
    Failure::new(ErrorClass::Prerequisite, error)
}

/// Turns a failed transfer into an error with its hint.
fn failed(error: TransferError) -> Failure {
    match error {
        TransferError::Store(error) => refused(error),
        TransferError::Write(_) | TransferError::Read(_) => {
            Failure::new(ErrorClass::Prerequisite, error)
        }
        TransferError::Newer { .. } => Failure::new(ErrorClass::Refused, error)
            .hint("update convoke to the version that wrote the file"),
        TransferError::NotEmpty { .. } => Failure::new(ErrorClass::Refused, error)
            .hint("name a new store: `CONVOKE_STORE=NEW.db convoke store import FILE`"),
        TransferError::Differs { .. } => {
            Failure::new(ErrorClass::Refused, error).hint("nothing was copied; run it again")
        }
        TransferError::Line { .. }
        | TransferError::Dangling { .. }
        | TransferError::Rows { .. } => Failure::new(ErrorClass::Refused, error)
            .hint("nothing was imported; export the store once more"),
    }
}
