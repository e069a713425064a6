//! What the project depends on: licences, sources, known faults, and what no code uses.

use crate::process::run;
use crate::tools::{DENY, MACHETE};
use crate::{Error, say};

/// Whether known faults of dependencies are looked up, which takes a database from the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advisories {
    /// The audit fails without the database.
    Needed,
    /// The user said that they are not to be looked up.
    Skipped,
}

/// Runs every audit with a program of its own, which is installed once below `target/tools`.
pub fn run_all(advisories: Advisories) -> Result<(), Error> {
    run(&MACHETE.path()?, &["--with-metadata", "."])?;
    let deny = DENY.path()?;
    run(&deny, &["--all-features", "--locked", "check", "licenses", "bans", "sources"])?;
    match advisories {
        Advisories::Needed => run(&deny, &["--all-features", "--locked", "check", "advisories"]),
        Advisories::Skipped => {
            say("known faults of dependencies were not looked up");
            Ok(())
        }
    }
}
