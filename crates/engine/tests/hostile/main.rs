//! Hostile and sloppy texts, each with the verdict that is right.
//!
//! The cases are data, one file for each kind of text, so that a payload seen in the wild becomes a
//! test without a line of code; `cases.rs` describes the format. Each kind has a module that passes
//! a payload to the same function that the program uses and names the verdict in one word or line.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a case that breaks the format should stop the test"
)]

mod also_wrote;
mod cases;
mod citations;
mod confirmations;
mod documents;
mod identities;
mod judges;
mod plan_reviews;
mod plans;
mod reviews;
mod sketches;
mod task_lists;
mod transcripts;
mod votes;

use cases::hold;

/// Makes a test of each kind: its data file has its module's name.
macro_rules! kinds {
    ($($kind:ident)*) => {
        $(
            #[test]
            fn $kind() {
                hold(stringify!($kind), $kind::verdict);
            }
        )*
    };
}

kinds! { also_wrote citations confirmations documents identities judges plan_reviews plans reviews sketches task_lists transcripts votes }
