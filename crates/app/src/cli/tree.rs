//! `convoke tree`: whether a working tree is still as it was, for programs that run agents themselves.

use std::path::PathBuf;

use clap::Subcommand;
use convoke_service::failure::Failure;
use convoke_service::tree::{TreeNoteReport, check_tree, read_notes, write_untracked};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Tell whether a working tree is still as it was
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write down which files git does not know yet, for a later check; always exits 0
    ///
    /// The list is sorted, with a NUL behind each path. If it cannot be made there is none.
    Baseline {
        /// Where to write the list
        #[arg(allow_hyphen_values = true, trailing_var_arg = true, value_name = "FILE")]
        words: Vec<String>,
    },
    /// Look at the tree and say in lines of KEY=value what is known; always exits 0
    ///
    /// `--mode checkpoint` compares with what is committed, `--mode baseline --baseline FILE` with
    /// the list of an earlier `baseline`. `--sidecar FILE` leaves the answer there, with lists of
    /// what changed beside it. Whatever goes wrong is the answer's REASON.
    Check {
        /// `--mode baseline|checkpoint`, `--baseline FILE`, `--sidecar FILE`
        #[arg(allow_hyphen_values = true, trailing_var_arg = true, value_name = "WORD")]
        words: Vec<String>,
    },
    /// Read what checks left; exits 0 if all of it says clean, and 6 if anything does not
    Show {
        /// The files that checks left
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
                    output.say(&format!("warning: there is no list, because {reason}"));
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
