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
mod citations;
mod identities;
mod reviews;

use cases::hold;

#[test]
fn reviews_hold() {
    hold("reviews", reviews::verdict);
}

#[test]
fn identities_hold() {
    hold("identities", identities::verdict);
}

#[test]
fn citations_hold() {
    hold("citations", citations::verdict);
}
