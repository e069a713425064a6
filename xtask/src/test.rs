//! Everything that must hold before a change lands.

use crate::bench::stopwatch;
use crate::process;
use crate::{Error, say};

/// One check: what it finds out, and the words for Cargo.
type Check = (&'static str, &'static [&'static str]);

/// The parser of diagrams, which is checked separately. It enables more features of shared crates:
/// together with it, all crates would be compiled once more than for `cargo xtask`.
const PARSER: &str = "convoke-diagram";

/// All checks, cheapest first. Compiling shows its progress; only the tests themselves are quiet,
/// because there are thousands.
const CHECKS: [Check; 9] = [
    ("formatting", &["fmt", "--all", "--check"]),
    (
        "lints",
        &[
            "clippy",
            "--workspace",
            "--exclude",
            PARSER,
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
    ),
    (
        "lints of the parser of diagrams",
        &["clippy", "--package", PARSER, "--all-targets", "--locked", "--", "-D", "warnings"],
    ),
    (
        "documentation",
        &[
            "doc",
            "--workspace",
            "--exclude",
            PARSER,
            "--no-deps",
            "--locked",
            "--config",
            "build.rustdocflags=['-Dwarnings']",
        ],
    ),
    ("compile the tests", &["test", "--workspace", "--exclude", PARSER, "--locked", "--no-run"]),
    (
        "examples in the documentation",
        &["test", "--quiet", "--workspace", "--exclude", PARSER, "--locked", "--doc"],
    ),
    // Before the tests that start the parser.
    ("test the parser of diagrams", &["test", "--package", PARSER, "--locked"]),
    (
        "run the tests",
        &[
            "test",
            "--quiet",
            "--workspace",
            "--exclude",
            PARSER,
            "--locked",
            "--lib",
            "--bins",
            "--tests",
        ],
    ),
    // The fault that kills the run is in no other program.
    (
        "kill a design at every event",
        &["test", "-p", "convoke", "--features", "faults", "--test", "kill", "--locked"],
    ),
];

/// Prints the list of checks, then runs them and stops at the first that fails.
pub fn run() -> Result<(), Error> {
    let names = CHECKS.map(|(name, _)| name).join(", ");
    say(&format!(
        "{} checks: {names}. The first run compiles everything twice and takes some minutes.",
        CHECKS.len()
    ));
    for (index, (name, arguments)) in CHECKS.into_iter().enumerate() {
        say(&format!("\n[{}/{}] {name}", index + 1, CHECKS.len()));
        let took = stopwatch(|| process::run("cargo", arguments))?;
        say(&format!("[{}/{}] {name}: passed in {} s", index + 1, CHECKS.len(), took.as_secs()));
    }
    say("all checks passed");
    Ok(())
}
