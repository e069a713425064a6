//! Copies of the store, and a file that holds all of it.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use convoke_store::transfer::TransferError;
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::app::{App, Format};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::input;
use crate::output::Output;
use crate::workspace::{open_store, refused};

#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    /// The new file
    file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct ExportArgs {
    /// The new file, or `-`
    file: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(super) struct ImportArgs {
    /// The export, or `-`
    file: PathBuf,
}

#[derive(Debug, thiserror::Error)]
enum FileError {
    #[error("cannot write `{}`: it exists already", path.display())]
    Exists { path: PathBuf },
    #[error("cannot write `{}`", path.display())]
    NotWritten { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`", path.display())]
    NotRead { path: PathBuf, source: io::Error },
}

#[derive(Serialize)]
struct Report {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
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
        let file = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")));
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
    Failure::new(ErrorClass::Refused, FileError::Exists { path: path.to_owned() })
        .hint("name a file that does not exist yet")
}

fn not_written(path: &Path, source: io::Error) -> Failure {
    Failure::new(ErrorClass::Prerequisite, FileError::NotWritten { path: path.to_owned(), source })
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
        TransferError::Line { .. }
        | TransferError::Dangling { .. }
        | TransferError::Rows { .. } => Failure::new(ErrorClass::Refused, error)
            .hint("nothing was imported; export the store once more"),
    }
}

fn print(
    path: &Path,
    rows: Option<u64>,
    text: &str,
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(&Report { path: path.display().to_string(), rows })?,
        Format::Text => output.data(text)?,
    }
    Ok(Exit::Done)
}

fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

impl BackupArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let store = open_store(app)?;
        let draft = Draft::begin(&self.file)?;
        store.backup(draft.file.path()).map_err(refused)?;
        draft.keep()?;
        let text = format!("copied the store to {}\n", self.file.display());
        print(&self.file, None, &text, app, output)
    }
}

impl ExportArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let store = open_store(app)?;
        if is_dash(&self.file) {
            let mut stopped = None;
            let exported = store.export(now(), &mut |line| {
                output.data(&format!("{line}\n")).map_err(|failure| {
                    stopped = Some(failure);
                    io::ErrorKind::BrokenPipe.into()
                })
            });
            return match stopped {
                Some(failure) => Err(failure),
                None => exported.map(|_| Exit::Done).map_err(failed),
            };
        }
        let draft = Draft::begin(&self.file)?;
        let mut file = BufWriter::new(draft.file.as_file());
        let rows = store.export(now(), &mut |line| writeln!(file, "{line}")).map_err(failed)?;
        file.flush().map_err(|error| not_written(&self.file, error))?;
        drop(file);
        draft.keep()?;
        let text = format!("wrote {rows} rows to {}\n", self.file.display());
        print(&self.file, Some(rows), &text, app, output)
    }
}

impl ImportArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let store = open_store(app)?;
        let rows = if is_dash(&self.file) {
            store.import(&mut input::reader()).map_err(failed)?
        } else {
            let file = File::open(&self.file).map_err(|source| {
                let error = FileError::NotRead { path: self.file.clone(), source };
                Failure::new(ErrorClass::Prerequisite, error)
            })?;
            store.import(&mut BufReader::new(file)).map_err(failed)?
        };
        print(&self.file, Some(rows), &format!("imported {rows} rows\n"), app, output)
    }
}
