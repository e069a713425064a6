//! `convoke plumbing`: single steps of a design for scripts, with the lines and the exit codes that
//! scripts of the original workflow read.
//!
//! Each command takes its words as they are, because wrong ones have answers of their own. Rules are
//! in `domain`, effects in `engine`; a command here reads words and prints lines.

mod entry_gate;
mod mermaid;

use clap::Subcommand;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

/// Single steps of a design, for scripts: lines of KEY=value and exit codes that stay as they are
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

/// The words behind a command, as they were given.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true, disable_version_flag = true)]
struct Words {
    /// The command's own flags
    #[arg(allow_hyphen_values = true, trailing_var_arg = true, value_name = "WORD")]
    words: Vec<String>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Decide whether a workflow may go on from the branch it is on; exits 0, or 4 if asked wrongly
    ///
    /// `--mode implement|design --current-branch NAME --is-main BOOL --is-user-branch BOOL
    /// --user-prefix PREFIX [--branch-info-supplied BOOL]`. Prints two lines;
    /// nothing is looked at but these words.
    #[command(verbatim_doc_comment)]
    EntryGate(Words),
    /// Check diagrams for what breaks them when they are published; exits 0, 1 or 2
    ///
    /// `[--input FILE] [--from-md] [--warnings-log FILE] [--warnings-step STEP]`. Without a file,
    /// standard input is checked. Prints STATUS=ok, or STATUS=rejected with a reason for
    /// each thing that is wrong (1), or STATUS=internal-error (2).
    #[command(verbatim_doc_comment)]
    Mermaid(Words),
}

#[derive(Debug, thiserror::Error)]
#[error("cannot print plumbing as JSON: its lines are the contract")]
struct NoJson;

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if app.format == Format::Json {
            return Err(Failure::new(Exit::Usage, NoJson));
        }
        match &self.command {
            Command::EntryGate(it) => entry_gate::run(&it.words, output),
            Command::Mermaid(it) => mermaid::run(&it.words, output),
        }
    }
}
