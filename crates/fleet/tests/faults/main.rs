//! Lanes on workers under faults: each case is played with a real Temporal server, a real store and a
//! client of its own. After each trial, the store tells which lanes were lost, answered twice or
//! answered by an attempt that counted no more (`audit.rs`). All three counts must be 0.
//!
//! `CONVOKE_FLEET_TRIALS` plays each case so many times. Temporal's program is the one that `cargo xtask
//! test --fleet` installs, or what `CONVOKE_TEMPORAL` names.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a case that cannot be set up fails, and the table is what the test is for"
)]

mod audit;
mod cases;
mod guide;
mod machine;
mod process;
mod relay;
#[path = "../../../store/tests/support/server.rs"]
mod server;
mod sharing;
mod stage;
mod submitter;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use crate::audit::Counts;
use crate::cases::{CASES, Case};
use crate::stage::{Stage, StoreKind, revive_postgres};

/// One row of the table.
struct CaseRow {
    name: &'static str,
    trials: usize,
    counts: Counts,
    /// Why trials ended before their end.
    failures: Vec<String>,
}

impl CaseRow {
    fn play((name, store, play): Case, trials: usize) -> Self {
        let mut row = Self { name, trials, counts: Counts::default(), failures: Vec::new() };
        for _ in 0..trials {
            let (counts, failure) = trial(store, play);
            row.counts = row.counts.plus(counts);
            row.failures.extend(failure);
        }
        row
    }

    fn is_good(&self) -> bool {
        self.failures.is_empty() && self.counts.lanes > 0 && !self.counts.are_wrong()
    }

    fn print(&self) {
        let Self { name, trials, counts, failures } = self;
        let Counts { lanes, lost, doubled, stale, slowest } = counts;
        println!(
            "{name}: {trials} trials, {lanes} lanes, {lost} lost, {doubled} doubled, {stale} stale; \
             slowest {:.1} s",
            slowest.as_secs_f64()
        );
        for failure in failures {
            println!("    a trial failed: {failure}");
        }
    }
}

fn main() -> ExitCode {
    let mut words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    // The runner's own question, which has no answer here.
    if std::env::args().any(|word| word == "--list") {
        return ExitCode::SUCCESS;
    }
    words.retain(|word| !word.is_empty());
    let trials: usize =
        process::variable("CONVOKE_FLEET_TRIALS").and_then(|text| text.parse().ok()).unwrap_or(1);
    let is_chosen = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let mut rows = Vec::new();
    for case in CASES.into_iter().filter(|(name, ..)| is_chosen(name)) {
        let row = CaseRow::play(case, trials);
        row.print();
        rows.push(row);
    }
    if rows.iter().all(CaseRow::is_good) {
        return ExitCode::SUCCESS;
    }
    println!("\nall rows again, because some are bad:");
    rows.iter().for_each(CaseRow::print);
    let wrong: Vec<_> = rows.iter().filter(|row| row.counts.are_wrong()).collect();
    if !wrong.is_empty() {
        // `cargo xtask test` reads this line: a result that was lost, doubled or stale once is a fault
        // of the program, and not of a busy machine.
        let names: Vec<_> = wrong.iter().map(|row| row.name).collect();
        println!("no second try: {}", names.join("; "));
    }
    // As other tests list them, so that a second try plays these rows alone.
    println!("\nfailures:");
    for row in rows.iter().filter(|row| !row.is_good()) {
        println!("    {}", row.name);
    }
    println!("\ntest result: FAILED.");
    ExitCode::FAILURE
}

/// Plays a case once, and counts. A case that panics is counted as far as it came: what it did not wait for
/// is not lost.
fn trial(store: StoreKind, play: fn(&Stage)) -> (Counts, Option<String>) {
    let staged = caught(|| Stage::new(store)).or_else(|first| {
        println!("the stage was not set up, and is once more: {first}");
        caught(|| Stage::new(store))
    });
    let stage = match staged {
        Ok(stage) => stage,
        Err(why) => return (Counts::default(), Some(format!("no stage: {why}"))),
    };
    let played = caught(|| play(&stage));
    if store == StoreKind::Server && played.is_err() {
        revive_postgres();
    }
    match (played, caught(|| stage.counts())) {
        (Ok(()), Ok(counts)) => (counts, None),
        (Err(why), Ok(counts)) => (Counts { lost: 0, ..counts }, Some(why)),
        (Ok(()), Err(why)) => (Counts::default(), Some(format!("not counted: {why}"))),
        (Err(why), Err(uncounted)) => {
            (Counts::default(), Some(format!("{why}; not counted: {uncounted}")))
        }
    }
}

/// Calls something, and returns the words of a panic.
fn caught<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        let words = panic.downcast_ref::<String>().cloned();
        words.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
    })
}
