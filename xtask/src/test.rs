//! Everything that must hold before a change lands.

use crate::bench::stopwatch;
use crate::dependencies;
use crate::dist::{self, DistRequest, PackageKind, TARGETS, Trial};
use crate::process;
use crate::second_try::FailureReader;
use crate::tools::{CYCLONEDX, TEMPORAL};
use crate::{Error, root, say};

/// One check: what it finds out, and the words for Cargo.
type Check = (&'static str, &'static [&'static str]);

/// The parser of diagrams, which is checked separately. It enables more features of shared crates:
/// together with it, all crates would be compiled once more than for `cargo xtask`.
const PARSER: &str = "convoke-diagram";

/// The companion for other machines, which only the checks with servers compile: it brings more than 200
/// packages along.
const COMPANION: &str = "convoke-fleet";

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
            "--exclude",
            COMPANION,
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
            "--exclude",
            COMPANION,
            "--no-deps",
            "--locked",
            "--config",
            "build.rustdocflags=['-Dwarnings']",
        ],
    ),
    (
        "compile the tests",
        &[
            "test",
            "--workspace",
            "--exclude",
            PARSER,
            "--exclude",
            COMPANION,
            "--locked",
            "--no-run",
            "--lib",
            "--bins",
            "--tests",
        ],
    ),
    (
        "examples in the documentation",
        &[
            "test",
            "--quiet",
            "--workspace",
            "--exclude",
            PARSER,
            "--exclude",
            COMPANION,
            "--locked",
            "--doc",
        ],
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
            "--exclude",
            COMPANION,
            "--locked",
            "--lib",
            "--bins",
            "--tests",
            // One stale expectation must not hide the next.
            "--no-fail-fast",
        ],
    ),
    // The fault that kills the run is in no other program.
    (
        "kill a design at every event",
        &["test", "-p", "convoke", "--features", "faults", "--test", "kill", "--locked"],
    ),
];

/// The checks that start servers. Rules are tried in the store's crate; the program with its backend is
/// tried once, through its commands.
const FLEET: [Check; 5] = [
    (
        "lints with the backend for Postgres",
        &[
            "clippy",
            "--package",
            "convoke-store",
            "--package",
            "convoke",
            "--features",
            "convoke/postgres",
            "--all-targets",
            "--locked",
            "--",
            "-D",
            "warnings",
        ],
    ),
    // Together, so that the crates they share are compiled once.
    (
        "stores and commands on a Postgres server",
        &[
            "test",
            "--package",
            "convoke-store",
            "--package",
            "convoke",
            "--features",
            "convoke/postgres",
            "--locked",
            "--lib",
            "--test",
            "conformance",
            "--test",
            "processes",
            "--test",
            "server",
            "--test",
            "fleet",
            "--no-fail-fast",
        ],
    ),
    (
        "lints of the companion for other machines",
        &["clippy", "--package", COMPANION, "--all-targets", "--locked", "--", "-D", "warnings"],
    ),
    // With the program that starts it, so that the crates they share are compiled once, and with the
    // tests: without them, shared crates have fewer features, and Temporal would be compiled twice.
    (
        "compile the companion",
        &[
            "build",
            "--package",
            COMPANION,
            "--package",
            "convoke",
            "--features",
            "convoke/postgres",
            "--locked",
            "--bins",
            "--test",
            "faults",
        ],
    ),
    (
        "lanes on workers, and what can go wrong with them",
        &[
            "test",
            "--package",
            COMPANION,
            "--package",
            "convoke",
            "--features",
            "convoke/postgres",
            "--locked",
            "--bin",
            COMPANION,
            "--test",
            "faults",
        ],
    ),
];

/// Prints the list of checks, then runs them and stops at the first that fails.
pub fn run() -> Result<(), Error> {
    say("The first run compiles everything twice and takes some minutes.");
    say("First: licences and sources of all packages, and dependencies that no code uses.");
    dependencies::check()?;
    if process::is_ci() {
        // A test leaves itself out without it, which no run for the whole team may do.
        CYCLONEDX.python()?;
    }
    run_all(&CHECKS)?;
    say_size();
    Ok(())
}

/// Says how large the target folder is; files with several names count once.
fn say_size() {
    let target = root().join("target").display().to_string();
    let printed = process::output("du", &["-sk", &target]).unwrap_or_default();
    let blocks = printed.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
    if let Some(blocks) = blocks {
        let megabytes = blocks * 1024 / 1_000_000;
        say(&format!("the target folder has {megabytes} MB; it is meant to stay below 4,000 MB"));
    }
}

/// Builds the programs of a package with everything that packages have, as the tests build them. The
/// companion is named because the checks with servers build it together with them.
const PACKAGED: [Check; 2] = [
    (
        "programs with the backend for Postgres",
        &[
            "build",
            "--package",
            COMPANION,
            "--package",
            "convoke",
            "--features",
            "convoke/postgres",
            "--locked",
            "--bins",
        ],
    ),
    ("the parser of diagrams", &["build", "--package", PARSER, "--locked"]),
];

/// Packages programs without optimization, installs the packages of npm and Python, and runs what they
/// install. A release does so with its own programs, which take much longer to build.
pub fn run_packages() -> Result<(), Error> {
    run_all(&PACKAGED)?;
    let target = TARGETS.into_iter().find(|target| target.is_this_machine());
    dist::write(&DistRequest {
        kinds: vec![PackageKind::Npm, PackageKind::Wheel],
        targets: vec![target.ok_or("there are no packages for this machine")?],
        built: Some(root().join("target/debug")),
        trial: Trial::Install,
    })
}

/// Runs the checks that start servers.
pub fn run_fleet() -> Result<(), Error> {
    // The tests look for it where it is installed.
    TEMPORAL.python()?;
    run_all(&FLEET)
}

fn run_all(checks: &[Check]) -> Result<(), Error> {
    let names: Vec<_> = checks.iter().map(|(name, _)| *name).collect();
    let count = checks.len();
    say(&format!("{count} checks: {}.", names.join(", ")));
    for (index, (name, arguments)) in checks.iter().enumerate() {
        say(&format!("\n[{}/{count}] {name}", index + 1));
        let took = stopwatch(|| run_check(arguments))?;
        say(&format!("[{}/{count}] {name}: passed in {} s", index + 1, took.as_secs()));
    }
    say("all checks passed");
    Ok(())
}

/// Runs a check; what fails of its tests runs once more, alone, unless it found what may never happen.
fn run_check(arguments: &[&str]) -> Result<(), Error> {
    if arguments.first() != Some(&"test") {
        return process::run("cargo", arguments);
    }
    let mut failures = FailureReader::default();
    if process::run_read("cargo", arguments, |piece| failures.read(piece))? {
        return Ok(());
    }
    let failed = failures.finish();
    if failed.is_empty() {
        return Err("`cargo test` failed".into());
    }
    let mut wrong = Vec::new();
    for target in &failed {
        let title = target.title();
        if let Some(finding) = target.finding() {
            say(&format!("FAILED, without a second try: {finding}"));
            wrong.push(title);
            continue;
        }
        say(&format!("FAILED: {title}\nonce more, alone:"));
        match process::run("cargo", &target.arguments(arguments)) {
            Ok(()) => say(&format!("UNSTEADY: {title}: it passed alone")),
            Err(_) => wrong.push(title),
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("failed: {}", wrong.join("; ")).into()) }
}
