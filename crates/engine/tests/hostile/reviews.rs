//! Answers of reviewers: `approved`, `rejected`, or `ambiguous:` and why.

use convoke_engine::dispatch::answer::review;

use super::cases::Case;

pub(crate) fn verdict(case: &Case) -> String {
    match review(&case.text()) {
        Ok(review) if review.passes() => "approved".to_owned(),
        Ok(_) => "rejected".to_owned(),
        Err(ambiguity) => format!("ambiguous: {}", ambiguity.doubt.name()),
    }
}
