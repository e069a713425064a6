//! `convoke tree`: whether a working tree is still as it was, for programs that run agents themselves.

use std::path::PathBuf;

use clap::Subcommand;
use convoke_service::failure::Failure;
use convoke_service::tree::{TreeNoteReport, check_tree, read_notes, write_untracked};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Check whether the working tree changed
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Record the untracked files for a later check; always exits 0
    ///
    /// Writes a sorted list with a NUL after each path, or no file if git cannot list the files.
    Baseline {
        /// The file to write the list to
        #[arg(allow_hyphen_values = true, trailing_var_arg = true, value_name = "FILE")]
        words: Vec<String>,
    },
    /// Check the tree and print KEY=value lines; always exits 0
    ///
    /// `--mode checkpoint` compares the tree with the last commit, `--mode baseline --baseline
    /// FILE` with the list of an earlier `baseline`. `--sidecar FILE` also writes the lines to that
    /// file, with lists of changes beside it. On an error, the line REASON says what failed.
    Check {
        /// `--mode baseline|checkpoint`, `--baseline FILE`, `--sidecar FILE`
        #[arg(allow_hyphen_values = true, trailing_var_arg = true, value_name = "WORD")]
        words: Vec<String>,
    },
    /// Read files of `--sidecar`; exits 0 if all are clean, else 6
    Show {
        /// The files that `convoke tree check --sidecar` wrote
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Baseline { words } => {
                let report = write_untracked(&app.session, words);
                if let Some(reason) = report.reason {
                    output.say(&format!("warning: Convoke wrote no list: {reason}"));
                }
                if app.format == Format::Json {
                    output.json(&report)?;
                }
                Ok(Exit::Done)
            }
            Command::Check { words } => {
                let note = check_tree(&app.session, words);
                match app.format {
                    Format::Json => output.json(&TreeNoteReport::from(note))?,
                    Format::Text => output.data(&note.text())?,
                }
                Ok(Exit::Done)
            }
            Command::Show { files } => show(app, files, output),
        }
    }
}

fn show(app: &App, files: &[PathBuf], output: &mut Output) -> Result<Exit, Failure> {
    let report = read_notes(files);
    match app.format {
        Format::Json => output.json(&report)?,
        Format::Text => {
            for TreeNoteReport { file, status, reason, .. } in &report.notes {
                let file = file.as_deref().unwrap_or_default();
                let reason = reason.map_or(String::new(), |reason| format!("  {reason}"));
                output.data(&format!("{file}  {status}{reason}\n"))?;
            }
        }
    }
    Ok(if report.is_clean { Exit::Done } else { Exit::DirtyTree })
}
