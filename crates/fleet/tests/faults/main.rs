//! Lanes on workers under faults: each case is played with a real Temporal server, a real store and a
//! client of its own, and counts lanes that were lost, answered twice or answered by an attempt that
//! counted no more. All three counts must be 0.
//!
//! `CONVOKE_FLEET_TRIALS` plays each case so many times. Temporal's program is the one that `cargo xtask
//! test --fleet` installs, or what `CONVOKE_TEMPORAL` names.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a case that cannot be set up fails, and the table is what the test is for"
)]

mod cases;
mod guide;
mod machine;
mod process;
mod relay;
#[path = "../../../store/tests/support/server.rs"]
mod server;
mod sharing;
mod stage;

use std::process::ExitCode;

use crate::cases::CASES;
use crate::stage::{Counts, Stage};

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
    let mut is_good = true;
    for (name, store, play) in CASES {
        if !words.is_empty() && !words.iter().any(|word| name.contains(word.as_str())) {
            continue;
        }
        let mut all = Counts::default();
        for _ in 0..trials {
            let stage = Stage::new(store);
            all = all.plus(play(&stage));
        }
        let Counts { lanes, lost, doubled, stale, slowest } = all;
        println!(
            "{name}: {trials} trials, {lanes} lanes, {lost} lost, {doubled} doubled, {stale} stale; \
             slowest {:.1} s",
            slowest.as_secs_f64()
        );
        is_good &= lanes > 0 && lost + doubled + stale == 0;
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
