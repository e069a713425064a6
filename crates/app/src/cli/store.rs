//! `convoke store`: the file that keeps everything.

use clap::Subcommand;
use serde::Serialize;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{open_store, refused, store_path};

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
        match self.command {
            Command::Check => check(app, output),
        }
    }
}

fn check(app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let beyond_repair = |mut failure: Failure| {
        failure.hints = vec!["restore a copy, or move the file away and begin anew".to_owned()];
        failure
    };
    let store = open_store(app).map_err(beyond_repair)?;
    let problems = store.check().map_err(refused)?;
    let path = store_path(app)?.display().to_string();
    let sound = problems.is_empty();
    match app.format {
        Format::Json => output.json(&Report { path, sound, problems })?,
        Format::Text if sound => output.data(&format!("{path}  sound\n"))?,
        Format::Text => {
            output.data(&format!("{path}  damaged\n"))?;
            problems.iter().try_for_each(|problem| output.data(&format!("  {problem}\n")))?;
            output.say("hint: restore a copy, or move the file away and begin anew");
        }
    }
    Ok(if sound { Exit::Done } else { Exit::No })
}
