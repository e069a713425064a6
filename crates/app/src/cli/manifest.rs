//! `convoke manifest`: a design's files for whoever implements it, and whether they are still so.

mod verify;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use convoke_domain::run::RunId;
use convoke_engine::manifest::record::Record;
use convoke_service::failure::Failure;
use convoke_service::manifest::{
    BundleSource, RunFiles, read_manifest, run_record, write_bundle, write_run_files,
};

use super::runs::Known;
use super::table::grid;
use crate::app::{App, Format};
use crate::exit::Exit;
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
        let here = Path::new(".");
        let known = self.run.as_ref().map(|run| Known::open(app, run)).transpose()?;
        let record = known.as_ref().map(record_of).transpose()?;
        let run = known.as_ref().zip(record.as_ref());
        let run = run.map(|(known, record)| RunFiles { files: &known.progress.files, record });
        let parent = self.bundle.as_deref().unwrap_or(here);
        let report = match (&self.to, run) {
            (Some(folder), Some(run)) => write_run_files(folder, run)?,
            (None, Some(run)) => write_bundle(app, BundleSource::Run(run), parent)?,
            (_, None) => {
                let folder = self.from.as_deref().unwrap_or(here);
                write_bundle(app, BundleSource::Folder(folder), parent)?
            }
        };
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => output.data(&format!("{}\n", report.manifest))?,
        }
        Ok(Exit::Done)
    }
}

fn record_of(known: &Known) -> Result<Record, Failure> {
    run_record(&known.workspace, &known.run, &known.facts, &known.progress)
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
