//! `convoke store`: the file or server that holds all records.

mod transfer;

use clap::Subcommand;
use convoke_service::failure::Failure;
use convoke_service::store_transfer::{StoreCheckReport, check_store};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Check, back up, export, import or move the store
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show where the store is, and check its integrity
    Check,
    /// Copy a consistent snapshot of the store to a new file
    ///
    /// Other processes can keep writing. The copy is a complete store: point `CONVOKE_STORE` to it,
    /// or move it to the place of a lost store, without that store's `-wal`, `-shm` and `-search` files.
    Backup(transfer::BackupArgs),
    /// Export the store to a new file of JSON lines; `-` writes to stdout
    ///
    /// The file holds all messages, tasks, journals and the settings files with hooks, so Convoke
    /// lets only you read it.
    Export(transfer::ExportArgs),
    /// Import an export into an empty store; `-` reads stdin
    ///
    /// Imports everything or nothing. Fails if the store has tasks, messages or runs.
    Import(transfer::ImportArgs),
    /// Copy everything to an empty store: a file, or a Postgres server
    ///
    /// Compares both stores, table by table, before it keeps the copy, and leaves the first store as
    /// it is. Stop your agents first: what they write later stays in the first store. After an
    /// interruption, run it again. Works both ways.
    Move(transfer::MoveArgs),
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Check => check(app, output),
            Command::Backup(args) => args.run(app, output),
            Command::Export(args) => args.run(app, output),
            Command::Import(args) => args.run(app, output),
            Command::Move(args) => args.run(app, output),
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
