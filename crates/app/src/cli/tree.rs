//! `convoke tree`: whether a working tree is still as it was, for programs that run agents themselves.

use std::path::{Path, PathBuf};

use clap::Subcommand;
use convoke_domain::tree::sidecar::{TreeMode, TreeNote, TreeRequest};
use convoke_domain::tree::{DirtyReason, TreeStatus};
use convoke_engine::git::sidecar::{check, read, write_baseline};
use serde::Serialize;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
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

#[derive(Serialize)]
struct NoteReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    status: &'static str,
    mode: Option<&'static str>,
    has_baseline: Option<bool>,
    tracked_paths_file: Option<String>,
    new_untracked_paths_file: Option<String>,
    reason: Option<&'static str>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Baseline { words } => {
                baseline(app, words, output);
                Ok(Exit::Done)
            }
            Command::Check { words } => {
                let note = match TreeRequest::parse(words) {
                    Ok(request) => check(&app.project, &request),
                    Err(reason) => TreeNote::unknown(None, Some(reason)),
                };
                match app.format {
                    Format::Json => output.json(&NoteReport::new(None, note))?,
                    Format::Text => output.data(&note.text())?,
                }
                Ok(Exit::Done)
            }
            Command::Show { files } => show(app, files, output),
        }
    }
}

/// Whoever asks wrongly loses no list that is there.
fn baseline(app: &App, words: &[String], output: &Output) {
    match words {
        [file] if !file.is_empty() && !file.starts_with('-') => {
            if !write_baseline(&app.project, Path::new(file)) {
                output.say("warning: there is no list, because git or the file refused");
            }
        }
        _ => output.say("warning: there is no list, because not one file was named for it"),
    }
}

fn show(app: &App, files: &[PathBuf], output: &mut Output) -> Result<Exit, Failure> {
    let notes: Vec<_> = files.iter().map(|file| (file, read(file))).collect();
    let is_clean = notes.iter().all(|(_, note)| note.status == TreeStatus::Clean);
    match app.format {
        Format::Json => {
            let report = |(file, note): (&PathBuf, TreeNote)| {
                NoteReport::new(Some(file.display().to_string()), note)
            };
            output.json(&notes.into_iter().map(report).collect::<Vec<_>>())?;
        }
        Format::Text => {
            for (file, note) in &notes {
                let reason = note.reason.map_or(String::new(), |it| format!("  {}", it.name()));
                output.data(&format!("{}  {}{reason}\n", file.display(), note.status.name()))?;
            }
        }
    }
    Ok(if is_clean { Exit::Done } else { Exit::DirtyTree })
}

impl NoteReport {
    fn new(file: Option<String>, note: TreeNote) -> Self {
        Self {
            file,
            status: note.status.name(),
            mode: note.mode.map(TreeMode::name),
            has_baseline: note.has_baseline,
            tracked_paths_file: note.tracked,
            new_untracked_paths_file: note.new_untracked,
            reason: note.reason.map(DirtyReason::name),
        }
    }
}
