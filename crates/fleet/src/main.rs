//! Lanes of Convoke on other machines. `convoke-fleet worker` runs lanes of its machine's agents;
//! `convoke-fleet lane` has a worker run one, and prints its events. Temporal hands lanes out between
//! them; prompts, events and answers are in Convoke's store.
//!
//! `convoke` itself starts this program for `--agent fleet:NAME`, and links nothing of Temporal's.

mod activity;
mod lane;
mod lines;
mod permit_wait;
mod temporal;
mod watch;
mod worker;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Parser, Subcommand};
use convoke::cli::{acp_bridge, guard};
use convoke::env;
use convoke::exit::Exit;
use convoke::interrupt::Signals;
use convoke::log::LogWish;
use convoke::output::Output;
use convoke_service::failure::Failure;
use convoke_service::session::{Session, project_root};

/// Run lanes on other machines
#[derive(Debug, Parser)]
#[command(name = "convoke-fleet", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run lanes of this machine's agents until a signal comes
    ///
    /// The first signal drains the worker: it takes no more lanes and ends with the last one that it
    /// runs. A second signal ends it immediately, with its clients; other workers take its lanes over.
    Worker(worker::WorkerArgs),
    /// Have a worker run one lane for `convoke`, and print its events as JSON lines
    ///
    /// `convoke lane run --agent fleet:AGENT` starts this, and its ledger counts the lane.
    ///
    /// A signal, or a reader that closes the output, cancels the lane. Exits 0 with an answer, 2 for
    /// wrong usage, 3 if a prerequisite is missing, 4 without an answer, and 130 if it was cancelled.
    Lane(lane::LaneArgs),
}

fn main() -> ExitCode {
    let mut output = Output::open();
    let arguments: Vec<_> = std::env::args_os().collect();
    let exit = catch_unwind(AssertUnwindSafe(|| {
        if let Some(result) = run_for_lane(&arguments, &mut output) {
            return result.unwrap_or_else(|failure| output.failure(&failure));
        }
        let cli = match Cli::try_parse_from(&arguments) {
            Ok(cli) => cli,
            Err(error) => return output.usage(&error),
        };
        let result = run(&cli, &mut output).and_then(|exit| output.flush().map(|()| exit));
        result.unwrap_or_else(|failure| output.failure(&failure))
    }));
    exit.unwrap_or_else(|_panic| output.bug()).into()
}

/// Becomes the guardian or the bridge of a client that a worker runs, so that a worker's machine needs
/// no other program of Convoke's; `None` for any other command.
fn run_for_lane(arguments: &[OsString], output: &mut Output) -> Option<Result<Exit, Failure>> {
    if let Some(guarded) = guard::parse(arguments) {
        return Some(guard::run(&guarded));
    }
    acp_bridge::is_meant(arguments).then(|| acp_bridge::run(output))
}

fn run(cli: &Cli, output: &mut Output) -> Result<Exit, Failure> {
    let environment = env::captured();
    LogWish::new(None, None, &environment).start(output)?;
    let project = project_root(None, &environment)?;
    let session = Session::new(project, environment).stopped_by(Arc::new(Signals));
    match &cli.command {
        Command::Worker(worker) => worker.run(&session, output),
        Command::Lane(lane) => lane.run(&session, output),
    }
}
