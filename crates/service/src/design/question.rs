//! Convoke's own questions, beside those of agents.

use convoke_domain::design::event::{Boundary, QuestionId};
use convoke_domain::design::walk::PersonQuestion;

pub(super) fn branch(branch: &str) -> PersonQuestion {
    PersonQuestion {
        id: QuestionId::Branch,
        title: "Branch".to_owned(),
        text: format!(
            "The branch `{branch}` may belong to other work. Where should the design start?"
        ),
        options: vec!["A new branch".to_owned(), "Keep it".to_owned()],
        recommended: "A new branch".to_owned(),
        is_open: false,
    }
}

pub(super) fn recovery(boundary: Boundary) -> PersonQuestion {
    PersonQuestion {
        id: QuestionId::Tree(boundary),
        title: "Working tree".to_owned(),
        text: "A read-only agent changed it. Restore it yourself, or stop.".to_owned(),
        options: vec!["Restored; check again".to_owned(), "Cancel".to_owned()],
        recommended: "Cancel".to_owned(),
        is_open: false,
    }
}

/// Returns the question about a run that is resumed in another state than it was stopped.
pub(super) fn other_ground(found: &str) -> PersonQuestion {
    PersonQuestion {
        id: QuestionId::Ground,
        title: "Resuming".to_owned(),
        text: format!("This differs from what the run left: {found}. Convoke changes nothing."),
        options: vec!["Fixed; check again".to_owned(), "Stop".to_owned()],
        recommended: "Stop".to_owned(),
        is_open: false,
    }
}
