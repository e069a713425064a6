//! Answers of reviewers.

use convoke_engine::dispatch::answer::review;

use super::cases::Case;

pub(crate) fn verdict(case: &Case) -> String {
    let word = match review(&case.text()) {
        Some(review) if review.passes() => "approved",
        Some(_) => "rejected",
        None => "none",
    };
    word.to_owned()
}
