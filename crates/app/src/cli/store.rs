//! `convoke store`: the file that keeps everything.

mod transfer;

use clap::Subcommand;
use convoke_store::error::StoreError;
use serde::Serialize;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{open_store, refused, store_location};

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

#[derive(Serialize)]
struct Report {
    path: String,
    sound: bool,
    problems: Vec<String>,
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

const BEGIN_ANEW: &str = "restore a copy, or move the file away and begin anew";

/// Only a store that is broken is given up; one that cannot be reached has another hint already.
fn with_a_way_out(mut failure: Failure) -> Failure {
    let broken = failure.error.downcast_ref::<StoreError>().is_some_and(StoreError::is_damage);
    if broken {
        failure.hints = vec![BEGIN_ANEW.to_owned()];
    }
    failure
}

fn check(app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let store = open_store(app).map_err(with_a_way_out)?;
    let problems = store.check().map_err(refused)?;
    let path = store_location(app)?.to_string();
    let sound = problems.is_empty();
    match app.format {
        Format::Json => output.json(&Report { path, sound, problems })?,
        Format::Text if sound => output.data(&format!("{path}  sound\n"))?,
        Format::Text => {
            output.data(&format!("{path}  damaged\n"))?;
            problems.iter().try_for_each(|problem| output.data(&format!("  {problem}\n")))?;
            output.say(&format!("hint: {BEGIN_ANEW}"));
        }
    }
    Ok(if sound { Exit::Done } else { Exit::No })
}
