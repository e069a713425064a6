//! `convoke hook`: the command that clients call at the events of a session.
//!
//! A hook must never block an agent: after an error, it prints an empty answer in the client's own
//! format and exits 0.

use std::ffi::OsString;
use std::num::NonZeroUsize;

use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::client::Client;
use convoke_service::failure::Failure;
use convoke_service::hook::{HookDelivery, HookOutcome, HookRequest, answer_hook, silence};

use crate::app::Verbosity;
use crate::env;
use crate::exit::Exit;
use crate::input;
use crate::log::LogWish;
use crate::output::Output;

/// No client says more about an event.
const MAX_INPUT: u64 = 16 * 1024 * 1024;

/// Answer a client's hook (called by clients)
///
/// Reads the client's JSON on stdin. After each loss of memory, prints the session's agent's
/// wake-up once in the client's format; otherwise prints nothing. Always exits 0.
///
/// In a client that Convoke started (`CONVOKE_LANE` is set), delivers and records nothing.
///
/// The agent is `CONVOKE_AGENT`, else the agent that the session is bound to, else the project's
/// `wake.agent`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The client that calls the hook
    #[arg(value_parser = client())]
    client: Client,

    /// The event, by the client's name for it
    event: String,

    /// The number of this hook entry; several entries share a long text
    #[arg(long, value_name = "N", default_value = "1")]
    part: NonZeroUsize,

    /// The number of hook entries
    #[arg(long, value_name = "N", default_value = "1")]
    of: NonZeroUsize,
}

/// The command without any other; a client calls it at every event.
#[derive(Debug, Parser)]
struct Alone {
    #[command(flatten)]
    args: Args,
}

/// Runs a command line that only calls `hook`; `None` for any other, or an invalid one.
pub fn run_alone(arguments: &[OsString], output: &mut Output) -> Option<Exit> {
    let words =
        arguments.get(1..).filter(|words| words.first().is_some_and(|word| word == "hook"))?;
    let Alone { args } = Alone::try_parse_from(words).ok()?;
    LogWish::new(None, None, &env::captured()).start_for_hook(output);
    if let Err(failure) = args.run(Verbosity::Normal, output).and_then(|_| output.flush()) {
        output.failure(&failure);
    }
    // No error is a reason to stop a client.
    Some(Exit::Done)
}

impl Args {
    /// Runs the command. It shows errors only with `-v`.
    pub fn run(&self, verbosity: Verbosity, output: &mut Output) -> Result<Exit, Failure> {
        let request = HookRequest {
            client: self.client,
            event: self.event.clone(),
            part: self.part,
            of: self.of,
            // A client may fail to write its event into a pipe that nothing reads.
            input: input::read_any(MAX_INPUT),
        };
        let mut deliver = |answer: &str| {
            output.data(&format!("{answer}\n"))?;
            output.flush()?;
            let is_lost = output.is_discarded();
            Ok(if is_lost { HookDelivery::Discarded } else { HookDelivery::Delivered })
        };
        match answer_hook(&env::captured(), &request, &mut deliver) {
            Ok(HookOutcome::Silent) => say_nothing(output)?,
            Ok(HookOutcome::Answered { not_recorded }) => {
                if let Some(failure) = not_recorded {
                    say_why(verbosity, &failure, output);
                }
            }
            Err(failure) => {
                say_nothing(output)?;
                say_why(verbosity, &failure, output);
            }
        }
        Ok(Exit::Done)
    }
}

fn say_why(verbosity: Verbosity, failure: &Failure, output: &Output) {
    if verbosity == Verbosity::Verbose {
        output.failure(failure);
    }
}

/// Answers with silence.
pub(crate) fn say_nothing(output: &mut Output) -> Result<(), Failure> {
    output.data(&format!("{}\n", silence()))
}

/// Reads a client's name from the command line.
pub(super) fn client() -> impl TypedValueParser<Value = Client> {
    PossibleValuesParser::new(Client::WITH_HOOKS.map(Client::name))
        .try_map(|name| Client::parse(&name).ok_or("no such client"))
}
