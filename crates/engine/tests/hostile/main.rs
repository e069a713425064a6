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
mod plan_reviews;
mod plans;
mod reviews;
mod sketches;

use cases::hold;

#[test]
fn reviews_hold() {
    hold("reviews", reviews::verdict);
}

// P-244, P-245
#[test]
fn plans_hold() {
    hold("plans", plans::verdict);
}

// P-252, P-259
#[test]
fn reviews_of_plans_hold() {
    hold("plan_reviews", plan_reviews::verdict);
}

// P-165
#[test]
fn sketches_hold() {
    hold("sketches", sketches::verdict);
}
