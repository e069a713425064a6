//! Approving objects with a refusal around them in words that no list knows. They pass, so a person
//! must see the words: `approved | ` and the excerpt that is shown beside the verdict.

use convoke_domain::dispatch::also_wrote::excerpt;
use convoke_engine::dispatch::answer::{beside, review};

use super::cases::Case;

pub(crate) fn verdict(case: &Case) -> String {
    match review(&case.text()) {
        Ok(review) if review.passes() => format!("approved | {}", excerpt(&beside(&case.text()))),
        Ok(_) => "rejected".to_owned(),
        Err(ambiguity) => format!("ambiguous: {}", ambiguity.doubt.name()),
    }
}
