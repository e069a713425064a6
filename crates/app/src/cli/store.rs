//! `convoke store`: the file that keeps everything.

mod transfer;

use clap::Subcommand;
use convoke_service::failure::Failure;
use convoke_service::store_transfer::{StoreCheckReport, check_store};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Look after the store
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Tell where the store is and whether it is sound
    Check,
    /// Copy the store into a new file, as it is at one moment
    ///
    /// Other processes may go on writing. The copy is a store: name it with `CONVOKE_STORE`, or put it in
    /// the place of a lost one.
    Backup(transfer::BackupArgs),
    /// Write everything into a new file of JSON lines; `-` writes to stdout
    ///
    /// The file holds all messages, tasks, journals and settings files that hooks were written into, so
    /// only you can read it.
    Export(transfer::ExportArgs),
    /// Fill an empty store from an export; `-` reads stdin
    ///
    /// All of it is imported, or nothing. A store that has tasks, messages or runs is refused.
    Import(transfer::ImportArgs),
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Check => check(app, output),
            Command::Backup(args) => args.run(app, output),
            Command::Export(args) => args.run(app, output),
            Command::Import(args) => args.run(app, output),
        }
    }
}

fn check(app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let report = check_store(&app.session)?;
    let StoreCheckReport { path, sound, problems } = &report;
    match app.format {
        Format::Json => output.json(&report)?,
        Format::Text if *sound => output.data(&format!("{path}  sound\n"))?,
        Format::Text => {
            output.data(&format!("{path}  damaged\n"))?;
            problems.iter().try_for_each(|problem| output.data(&format!("  {problem}\n")))?;
            report.hint().iter().for_each(|hint| output.say(&format!("hint: {hint}")));
        }
    }
    Ok(if *sound { Exit::Done } else { Exit::No })
}
