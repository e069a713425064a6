//! The `convoke` binary as a library: commands, configuration and terminal output.
//!
//! [`run`] is the whole program. A command takes its arguments and an [`app::App`], calls one use
//! case of `service` and writes its report through [`output`]; it contains no rules.

pub mod app;
pub mod cli;
mod dashboard;
pub mod env;
pub mod exit;
pub mod input;
pub mod interrupt;
pub mod log;
pub mod output;
mod server;
pub mod terminal;

/// The example of designs, for tests and measurements.
pub use convoke_service::rehearsal;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use crate::exit::Exit;
use crate::output::Output;
use convoke_service::failure::Failure;

/// Runs the program on a command line and returns what the process should exit with.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut output = Output::open();
    let arguments: Vec<_> = arguments.into_iter().collect();
    let exit = catch_unwind(AssertUnwindSafe(|| run_command(&arguments, &mut output)));
    exit.unwrap_or_else(|_panic| output.bug()).into()
}

/// Runs the program `convoke-mcp`, and returns what the process should exit with.
pub fn run_server(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut output = Output::open();
    let arguments: Vec<_> = arguments.into_iter().collect();
    let exit = catch_unwind(AssertUnwindSafe(|| {
        server::serve(&arguments, &mut output).unwrap_or_else(|failure| output.failure(&failure))
    }));
    exit.unwrap_or_else(|_panic| output.bug()).into()
}

/// Runs the program `convoke-web`, and returns what the process should exit with.
pub fn run_dashboard(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let mut output = Output::open();
    let arguments: Vec<_> = arguments.into_iter().collect();
    let exit = catch_unwind(AssertUnwindSafe(|| {
        dashboard::serve(&arguments, &mut output).unwrap_or_else(|failure| output.failure(&failure))
    }));
    exit.unwrap_or_else(|_panic| output.bug()).into()
}

/// Runs a command line, and tells the user how it failed if it did.
pub(crate) fn run_command(arguments: &[OsString], output: &mut Output) -> Exit {
    #[cfg(feature = "faults")]
    convoke_engine::design::fault::end_after(env::captured().fault_after());
    if let Some(result) = run_often_called(arguments, output) {
        return result.unwrap_or_else(|failure| output.failure(&failure));
    }
    let words = cli::plumbing::with_plain_words(arguments);
    let cli = match cli::Cli::parse_words(&words) {
        Ok(cli) => cli,
        Err(error) => {
            let exit = output.usage(&error);
            if cli::help::names_unknown_command(&error, &words) {
                output.say("hint: `convoke help --all` lists all commands");
            }
            // For a client, the code for wrong usage means that it must block its user. If the
            // client does not accept `{}`, Convoke prints nothing.
            if exit == Exit::Usage && cli::Cli::names_hook(&words) {
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
    cli.refresh_copy();
    // No error, not even one that cannot be printed, may stop a client.
    if cli.is_hook() { Exit::Done } else { exit }
}

/// Runs hooks, guardians and bridges without building the whole command line, which takes longer than a hook
/// takes to answer. `None` for any other command, or an invalid one.
fn run_often_called(arguments: &[OsString], output: &mut Output) -> Option<Result<Exit, Failure>> {
    if let Some(guarded) = cli::guard::parse(arguments) {
        return Some(cli::guard::run(&guarded));
    }
    if let Some(exit) = cli::hook::run_alone(arguments, output) {
        return Some(Ok(exit));
    }
    if let Some(format) = cli::statusline::parse_alone(arguments) {
        log::LogWish::new(None, None, &env::captured()).start_for_hook(output);
        let shown = cli::statusline::run(None, format, output);
        return Some(shown.and_then(|exit| output.flush().map(|()| exit)));
    }
    // Behind hooks, which start more often.
    if cli::acp_bridge::is_meant(arguments) {
        return Some(cli::acp_bridge::run(output));
    }
    let [_, word] = arguments else { return None };
    let version = concat!("convoke ", env!("CARGO_PKG_VERSION"), "\n");
    let is_version = word == "--version" || word == "-V";
    is_version.then(|| output.data(version).and_then(|()| output.flush()).map(|()| Exit::Done))
}
