//! The `convoke` binary as a library: commands, configuration and terminal output.
//!
//! [`run`] is the whole program. A command takes its arguments and an [`app::App`], asks `engine`
//! for a result and writes it through [`output`]; it decides nothing that a rule decides.

pub mod app;
pub mod cli;
pub mod env;
pub mod exit;
pub mod input;
pub mod interrupt;
pub mod log;
pub mod output;
pub mod rehearsal;

// Commands whose use cases are still among them call these as if they were here.
pub use convoke_service::{clock, failure, settings as config, workspace};

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
    let exit = catch_unwind(AssertUnwindSafe(|| run_command(&arguments, &mut output)));
    exit.unwrap_or_else(|_panic| output.bug()).into()
}

fn run_command(arguments: &[OsString], output: &mut Output) -> Exit {
    #[cfg(feature = "faults")]
    convoke_engine::design::fault::end_after(env::captured().fault_after());
    if let Some(guard) = cli::guard::parse_alone(arguments) {
        return guard.run().unwrap_or_else(|failure| output.failure(&failure));
    }
    let mut words = arguments.iter().skip(1);
    let is_hook = words.any(|word| word == "hook");
    let cli = match cli::Cli::try_parse_from(cli::plumbing::with_plain_words(arguments)) {
        Ok(cli) => cli,
        Err(error) => {
            let exit = output.usage(&error);
            // To a client the code for wrong usage means that its user may not go on. If it cannot
            // even be told that, silence will do.
            if is_hook && exit == Exit::Usage {
                cli::hook::say_nothing(output).and_then(|()| output.flush()).ok();
                return Exit::Done;
            }
            return exit;
        }
    };
    if let Err(failure) = cli.start_log(output) {
        return output.failure(&failure);
    }
    let result = cli.run(output).and_then(|exit| output.flush().map(|()| exit));
    cli.remark_on_configuration(result.as_ref().err(), output);
    let exit = result.unwrap_or_else(|failure| output.failure(&failure));
    // Whatever went wrong, even if nobody could be told: it is no reason to stop a client.
    if cli.is_hook() { Exit::Done } else { exit }
}
