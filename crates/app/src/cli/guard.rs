//! `convoke guard`: the guardian of one client. Convoke starts it itself where the small program for
//! it is missing.

use std::ffi::OsString;

use convoke_guard::{GuardCommand, guard};

use crate::exit::Exit;
use convoke_service::failure::{ErrorClass, Failure};

#[derive(Debug, thiserror::Error)]
#[error("cannot supervise the client")]
struct GuardFailed(#[source] std::io::Error);

/// Parses a guardian's command line; `None` for any other, or an invalid one.
///
/// [`super::Cli`] does not know these words: parsing them here avoids building the whole command
/// line. A guardian lives as long as its client, and there may be hundreds.
pub fn parse(arguments: &[OsString]) -> Option<GuardCommand> {
    let words =
        arguments.get(1..).filter(|words| words.first().is_some_and(|word| word == "guard"))?;
    GuardCommand::parse(words.get(1..)?)
}

/// Runs the client to its end.
pub fn run(guarded: &GuardCommand) -> Result<Exit, Failure> {
    guard(guarded).map_err(|error| Failure::new(ErrorClass::Prerequisite, GuardFailed(error)))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_guardians_words_are_read_alone() {
        let words = |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
        let whole = "convoke guard --report r --owner 7 --grace-ms 10 -- client --flag";
        assert_eq!(parse(&words(whole)).unwrap().arguments, words("--flag"));
        for other in ["convoke", "convoke guard", "convoke guard --help", "convoke lane guard"] {
            assert!(parse(&words(other)).is_none(), "{other}");
        }
    }
}
