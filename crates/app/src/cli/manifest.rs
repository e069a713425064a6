//! `convoke manifest`: export a design's files, and verify them later.

mod verify;

use std::path::PathBuf;

use clap::Subcommand;
use convoke_domain::run::RunId;
use convoke_service::failure::Failure;
use convoke_service::manifest::{
    ManifestSource, ManifestWriteRequest, read_manifest, write_manifest,
};

use super::table::grid;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Export a design's files with a manifest, and verify them later
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Export a design's files with a manifest that lists them
    Write(WriteArgs),
    /// Read a bundle and check every file that its manifest names
    ///
    /// Exits 0 if every file matches, and 1 if Convoke rejects the bundle.
    Read(ReadArgs),
    /// List files changed, missing or added since the manifest was written
    ///
    /// Exits 0 if all files match, and 1 if not.
    Verify(verify::Args),
}

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("source").required(true))]
#[command(group = clap::ArgGroup::new("target").required(true))]
struct WriteArgs {
    /// Export the files of this run: its id, or the beginning of it
    #[arg(long, value_name = "RUN", value_parser = RunId::parse, group = "source")]
    run: Option<RunId>,

    /// Export the design's files from this folder
    #[arg(long, value_name = "DIR", group = "source", conflicts_with = "to")]
    from: Option<PathBuf>,

    /// Write all files of the run and `manifest.json` into this folder; it may hold only an earlier
    /// run's files
    #[arg(long, value_name = "DIR", group = "target")]
    to: Option<PathBuf>,

    /// Write a bundle into `design-export` in this folder, for the workflow that runs there
    #[arg(long, value_name = "DIR", group = "target")]
    bundle: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct ReadArgs {
    /// The bundle: its manifest, its folder, or the folder that holds `design-export`
    path: PathBuf,
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
        let report = write_manifest(&app.session, &self.request())?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => output.data(&format!("{}\n", report.manifest))?,
        }
        Ok(Exit::Done)
    }

    fn request(&self) -> ManifestWriteRequest {
        let here = || PathBuf::from(".");
        match (&self.run, &self.to) {
            (Some(run), Some(folder)) => {
                ManifestWriteRequest::RunFiles { run: run.clone(), folder: folder.clone() }
            }
            (run, _) => {
                let folder = || self.from.clone().unwrap_or_else(here);
                let source = run
                    .clone()
                    .map_or_else(|| ManifestSource::Folder(folder()), ManifestSource::Run);
                let parent = self.bundle.clone().unwrap_or_else(here);
                ManifestWriteRequest::Bundle { source, parent }
            }
        }
    }
}

impl ReadArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = read_manifest(&self.path);
        if app.format == Format::Json {
            output.json(&report)?;
            return Ok(if report.ok { Exit::Done } else { Exit::No });
        }
        if let Some(refusal) = report.refusal(&self.path) {
            return Err(refusal);
        }
        let escaped = |text: Option<&str>| text.unwrap_or_default().escape_debug().to_string();
        let session = escaped(report.session_id.as_deref());
        let at = escaped(report.timestamp.as_deref());
        output.data(&format!("session {session}, written {at}\n\n"))?;
        let rows = report.files.into_iter().map(|file| [file.key.to_owned(), file.path]);
        output.table(&grid(["key", "file"], rows, &[]))?;
        Ok(Exit::Done)
    }
}
