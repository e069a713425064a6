//! Approving objects with a refusal around them in words that no list knows. Words that Convoke
//! cannot place make the approval ambiguous; in a summary or an issue they pass, so a person must
//! see them: the verdict, `|` and the excerpt that is shown beside it.

use convoke_domain::dispatch::also_wrote::excerpt;
use convoke_engine::dispatch::answer::{beside, review};

use super::cases::Case;

pub(crate) fn verdict(case: &Case) -> String {
    let shown = excerpt(&beside(&case.text()));
    match review(&case.text()) {
        Ok(review) if review.passes() => format!("approved | {shown}"),
        Ok(_) => "rejected".to_owned(),
        Err(ambiguity) => format!("ambiguous: {} | {shown}", ambiguity.doubt.name()),
    }
}
