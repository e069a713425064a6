//! Copies of the store, and a file that holds all of it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use convoke_service::failure::Failure;
use convoke_service::store_transfer::{
    ExportTarget, StoreImportSource, StoreTransferReport, backup_store, export_store, import_store,
    move_store,
};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::input;
use crate::output::Output;

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

#[derive(Debug, clap::Args)]
pub(super) struct MoveArgs {
    /// The new store: a path, or `postgres://USER@HOST/DATABASE`
    #[arg(long, value_name = "STORE")]
    to: OsString,
}

impl MoveArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = move_store(&app.session, &self.to)?;
        let (rows, tables, to) = (report.rows, report.tables.len(), &report.to);
        let done = if report.was_there { "found the copy of" } else { "copied" };
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => output.data(&format!(
                "{done} {rows} rows to {to}; all {tables} tables are the same in both stores\n"
            ))?,
        }
        output.say(&format!("hint: use it with `CONVOKE_STORE={to}`"));
        Ok(Exit::Done)
    }
}

fn print(
    report: &StoreTransferReport,
    text: &str,
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(report)?,
        Format::Text => output.data(text)?,
    }
    Ok(Exit::Done)
}

fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

impl BackupArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = backup_store(&app.session, &self.file)?;
        print(&report, &format!("copied the store to {}\n", report.path), app, output)
    }
}

impl ExportArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if is_dash(&self.file) {
            let mut print = |line: &str| output.data(&format!("{line}\n"));
            return export_store(&app.session, ExportTarget::Lines(&mut print)).map(|_| Exit::Done);
        }
        let report = export_store(&app.session, ExportTarget::File(&self.file))?;
        let rows = report.rows.unwrap_or_default();
        print(&report, &format!("wrote {rows} rows to {}\n", report.path), app, output)
    }
}

impl ImportArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = if is_dash(&self.file) {
            import_store(&app.session, StoreImportSource::Reader(&mut input::reader()))?
        } else {
            import_store(&app.session, StoreImportSource::File(&self.file))?
        };
        let rows = report.rows.unwrap_or_default();
        print(&report, &format!("imported {rows} rows\n"), app, output)
    }
}
