//! `convoke guard`: the guardian of one client. Convoke starts it itself.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use convoke_engine::lane::guardian::{Ward, guard};

use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};

/// Look after one client until nothing of it is left (called by convoke)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to write how the client ended
    #[arg(long, value_name = "FILE")]
    report: PathBuf,

    /// Who wants to know; without them, the folder of that file is removed
    #[arg(long, value_name = "PID")]
    owner: u32,

    /// How long the client may take to stop when it is asked to
    #[arg(long, value_name = "N")]
    grace_ms: u64,

    /// What the client reads on its stdin
    #[arg(long, value_name = "FILE")]
    feed: Option<PathBuf>,

    /// The client and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    client: Vec<OsString>,
}

/// The command alone. To read its few words, all that Convoke can be told need not be built up first:
/// a guardian lives as long as its client, and there may be hundreds.
#[derive(Debug, clap::Parser)]
struct Alone {
    #[command(flatten)]
    args: Args,
}

/// Reads a command line that is a guardian's; `None` if it is anything else, or wrong.
pub fn parse_alone(arguments: &[OsString]) -> Option<Args> {
    let words = arguments.get(1..).filter(|words| words.first().is_some_and(|it| it == "guard"))?;
    Alone::try_parse_from(words).ok().map(|alone| alone.args)
}

#[derive(Debug, thiserror::Error)]
#[error("cannot look after the client")]
struct GuardFailed(#[source] std::io::Error);

impl Args {
    /// Runs the client to its end.
    pub fn run(&self) -> Result<Exit, Failure> {
        let Some((program, arguments)) = self.client.split_first() else { return Ok(Exit::Usage) };
        guard(&Ward {
            program: PathBuf::from(program),
            arguments: arguments.to_vec(),
            stdin: self.feed.clone(),
            grace: Duration::from_millis(self.grace_ms),
            report: self.report.clone(),
            owner: self.owner,
        })
        .map_err(|error| Failure::new(ErrorClass::Prerequisite, GuardFailed(error)))?;
        Ok(Exit::Done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_guardians_words_are_read_alone() {
        let words = |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
        let whole = "convoke guard --report r --owner 7 --grace-ms 10 -- client --flag";
        let args = parse_alone(&words(whole)).unwrap();
        assert_eq!((args.owner, args.client), (7, words("client --flag")));
        for other in ["convoke", "convoke guard", "convoke guard --help", "convoke lane guard"] {
            assert!(parse_alone(&words(other)).is_none(), "{other}");
        }
    }
}
