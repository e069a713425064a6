//! Hostile and sloppy texts, each with the verdict that is right.
//!
//! The cases are data, one file for each kind of text, so that a payload seen in the wild becomes a
//! test without a line of code; `cases.rs` describes the format. Each kind has a module that hands
//! a payload to the same function the program uses and names the verdict in one word or line.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a case that breaks the format should stop the test"
)]

mod cases;
mod documents;
mod reviews;
mod task_lists;

use cases::hold;

#[test]
fn reviews_hold() {
    hold("reviews", reviews::verdict);
}

#[test]
fn task_lists_hold() {
    hold("task_lists", task_lists::verdict);
}

#[test]
fn documents_hold() {
    hold("documents", documents::verdict);
}
