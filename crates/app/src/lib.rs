//! The `convoke` binary as a library: commands, configuration and terminal output.
//!
//! [`run`] is the whole program. A command takes its arguments and an [`app::App`], asks `engine`
//! for a result and writes it through [`output`]; it decides nothing that a rule decides.

pub mod app;
pub mod cli;
pub mod clock;
pub mod config;
pub mod env;
pub mod exit;
pub mod failure;
pub mod input;
pub mod output;
pub mod workspace;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser;

use crate::exit::Exit;
use crate::output::Output;

/// Runs the program on a command line and returns what the process should exit with.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut output = Output::open();
    let arguments: Vec<_> = arguments.into_iter().collect();
    let exit = catch_unwind(AssertUnwindSafe(|| run_command(arguments, &mut output)));
    exit.unwrap_or_else(|_panic| output.bug()).into()
}

fn run_command(arguments: Vec<OsString>, output: &mut Output) -> Exit {
    let is_hook = arguments.get(1).is_some_and(|word| word == "hook");
    let cli = match cli::Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            let exit = output.usage(&error);
            // To a client the code for wrong usage means that its user may not go on.
            let answered = is_hook && exit == Exit::Usage && cli::hook::say_nothing(output).is_ok();
            return if answered && output.flush().is_ok() { Exit::Done } else { exit };
        }
    };
    let result = cli.run(output).and_then(|exit| output.flush().map(|()| exit));
    result.unwrap_or_else(|failure| output.failure(&failure))
}
