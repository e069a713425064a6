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
mod judges;
mod reviews;
mod votes;

use cases::hold;

#[test]
fn reviews_hold() {
    hold("reviews", reviews::verdict);
}

// P-228, P-229, P-230
#[test]
fn judges_hold() {
    hold("judges", judges::verdict);
}

// P-268, P-269, P-270
#[test]
fn votes_hold() {
    hold("votes", votes::verdict);
}
