//! Everything that must hold before a change lands.

use crate::packages::{FOR_TESTS, install};
use crate::process;
use crate::{Error, say};

/// Runs all checks, cheapest first, and stops at the first that fails.
pub fn run() -> Result<(), Error> {
    install(&FOR_TESTS)?;
    let strict_docs = "build.rustdocflags=['-Dwarnings']";
    let checks: [&[&str]; 5] = [
        &["fmt", "--all", "--check"],
        &["clippy", "--quiet", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"],
        &["test", "--quiet", "--workspace", "--locked"],
        // A run that is killed at every event; the fault that does it is in no other program.
        &["test", "--quiet", "-p", "convoke", "--features", "faults", "--test", "kill", "--locked"],
        &["doc", "--quiet", "--workspace", "--no-deps", "--locked", "--config", strict_docs],
    ];
    checks.into_iter().try_for_each(|arguments| process::run("cargo", arguments))?;
    say("all checks passed");
    Ok(())
}
