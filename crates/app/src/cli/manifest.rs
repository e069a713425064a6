//! `convoke manifest`: a design's files for whoever implements it, and whether they are still so.

mod plumbing;
mod verify;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use convoke_domain::manifest::{EXPORT_DIR, MANIFEST_FILE, Manifest, Rejection};
use convoke_domain::run::RunId;
use convoke_engine::manifest::read::{Bundle, read_export};
use convoke_engine::manifest::record::Record;
use convoke_engine::manifest::write::{Order, Source, WriteError, write, write_all};
use convoke_service::run::run_record;
use serde::Serialize;

pub(super) use self::plumbing::{plumbing_read, plumbing_write};
use super::runs::Known;
use super::table::render;
use crate::app::{App, Format};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;

/// Hand a design's files to whoever implements it, and check them afterwards
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a design's files with a manifest that says what they are
    Write(WriteArgs),
    /// Read a bundle: every file that its manifest names is opened and checked
    ///
    /// Exit 0 means that all is in order, 1 that the bundle is refused.
    Read(ReadArgs),
    /// Say which files changed, are missing or were added since a manifest was written
    ///
    /// Exit 0 means that nothing did, 1 that something did.
    Verify(verify::Args),
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("source").required(true))]
#[command(group = clap::ArgGroup::new("target").required(true))]
struct WriteArgs {
    /// The run whose files they are, or the beginning of its name
    #[arg(long, value_name = "RUN", value_parser = RunId::parse, group = "source")]
    run: Option<RunId>,

    /// The folder with the design's files
    #[arg(long, value_name = "DIR", group = "source", conflicts_with = "to")]
    from: Option<PathBuf>,

    /// Write all files of the run and `manifest.json` into this folder, which holds nothing else
    #[arg(long, value_name = "DIR", group = "target")]
    to: Option<PathBuf>,

    /// Write a bundle into `design-export` in this folder, for the workflow that works there
    #[arg(long, value_name = "DIR", group = "target")]
    bundle: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct ReadArgs {
    /// The bundle: its manifest, its folder, or the folder that holds `design-export`
    path: PathBuf,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot use the bundle `{}`: {rejection}", path.display())]
struct Refused {
    path: PathBuf,
    rejection: Rejection,
}

#[derive(Serialize)]
struct WriteReport {
    manifest: String,
}

#[derive(Serialize)]
struct ReadReport<'a> {
    ok: bool,
    error: Option<String>,
    timestamp: Option<&'a str>,
    session_id: Option<&'a str>,
    files: Vec<FileReport<'a>>,
}

#[derive(Serialize)]
struct FileReport<'a> {
    key: &'static str,
    path: &'a str,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Write(args) => args.run(app, output),
            Command::Read(args) => args.run(app, output),
            Command::Verify(args) => args.run(app, output),
        }
    }
}

impl WriteArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let known = self.run.as_ref().map(|run| Known::open(app, run)).transpose()?;
        let record = known.as_ref().map(record_of).transpose()?;
        let manifest = match (&self.to, &known, &record) {
            (Some(folder), Some(known), Some(record)) => {
                write_all(folder, &known.progress.files, record).map_err(not_written)?
            }
            _ => self.bundled(app, known.as_ref(), record.as_ref())?,
        };
        let manifest = manifest.display().to_string();
        match app.format {
            Format::Json => output.json(&WriteReport { manifest })?,
            Format::Text => output.data(&format!("{manifest}\n"))?,
        }
        Ok(Exit::Done)
    }

    fn bundled(
        &self,
        app: &App,
        known: Option<&Known>,
        record: Option<&Record>,
    ) -> Result<PathBuf, Failure> {
        let session = app.environment.session_id();
        let source = match known {
            Some(known) => Source::Texts(&known.progress.files),
            None => Source::Folder(self.from.as_deref().unwrap_or(Path::new("."))),
        };
        let parent = self.bundle.as_deref().unwrap_or(Path::new("."));
        let session_id = session.as_deref();
        write(&Order { source, parent, session_id, now: now(), record }).map_err(not_written)
    }
}

fn record_of(known: &Known) -> Result<Record, Failure> {
    run_record(&known.workspace, &known.run, &known.facts, &known.progress)
}

/// Adds what can be done about it.
fn not_written(error: WriteError) -> Failure {
    let (class, hint) = match &error {
        WriteError::Artifact { .. } => {
            (ErrorClass::Refused, "a bundle needs all files of a finished design")
        }
        WriteError::Occupied { .. } => {
            (ErrorClass::Refused, "name a folder that is empty, or not there yet")
        }
        WriteError::NoSession => (ErrorClass::Refused, "name it with SESSION_ID"),
        WriteError::Busy { .. } => (ErrorClass::Prerequisite, "try again when it has ended"),
        WriteError::Path { .. } => (ErrorClass::Usage, "name another folder"),
        WriteError::Folder { .. } | WriteError::File { .. } | WriteError::Publish { .. } => {
            (ErrorClass::Prerequisite, "both folders must be there, and yours to write in")
        }
    };
    Failure::new(class, error).hint(hint)
}

impl ReadArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let (export, manifest) = place(&self.path);
        let read = read_export(&export, &manifest);
        if app.format == Format::Json {
            output.json(&ReadReport::new(&read))?;
            return Ok(if read.is_ok() { Exit::Done } else { Exit::No });
        }
        let bundle = read.map_err(|rejection| {
            Failure::new(ErrorClass::Refused, Refused { path: self.path.clone(), rejection })
                .hint("have it written again: `convoke manifest write`")
        })?;
        let Manifest { timestamp, session_id, .. } = &bundle.manifest;
        let (session, at) = (session_id.escape_debug(), timestamp.escape_debug());
        output.data(&format!("session {session}, written {at}\n\n"))?;
        let rows = bundle.artifacts().map(|(artifact, path, _)| [artifact.key(), path]);
        output.data(&render(["key", "file"], rows.map(|row| row.map(str::to_owned)), &[]))?;
        Ok(Exit::Done)
    }
}

/// Returns the folder and the manifest of a bundle, whichever of its places is named.
fn place(path: &Path) -> (PathBuf, PathBuf) {
    let folder = if path.is_file() {
        path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."))
    } else {
        path
    };
    let inner = folder.join(EXPORT_DIR);
    let is_around = !folder.join(MANIFEST_FILE).exists() && inner.is_dir();
    let folder = if is_around { inner } else { folder.to_owned() };
    let manifest = if path.is_file() { path.to_owned() } else { folder.join(MANIFEST_FILE) };
    (folder, manifest)
}

impl<'a> ReadReport<'a> {
    fn new(read: &'a Result<Bundle, Rejection>) -> Self {
        let bundle = read.as_ref().ok();
        let files = bundle.into_iter().flat_map(Bundle::artifacts);
        Self {
            ok: bundle.is_some(),
            error: read.as_ref().err().map(ToString::to_string),
            timestamp: bundle.map(|it| it.manifest.timestamp.as_str()),
            session_id: bundle.map(|it| it.manifest.session_id.as_str()),
            files: files
                .map(|(artifact, path, _)| FileReport { key: artifact.key(), path })
                .collect(),
        }
    }
}
