//! What a design marks in the ledgers of the workflow that asked for it.

use super::progress::{Breadcrumbs, Step};

/// Returns the step that a line begins.
pub fn begun(crumbs: &Breadcrumbs, line: &str) -> Option<Step> {
    let is_start = |step: &Step| {
        let start = crumbs.start(*step);
        let open = start.strip_suffix("**").unwrap_or(&start);
        line.strip_prefix(open).is_some_and(|rest| rest == "**" || rest.starts_with(" — "))
    };
    Step::ALL.into_iter().find(is_start)
}

/// Returns what is marked in the ledger of times.
pub fn of_time(step: Step) -> String {
    let name = match step {
        Step::Setup => "session setup",
        Step::Plan => "plan",
        Step::Branch
        | Step::Questions
        | Step::DiscussionOne
        | Step::Sketches
        | Step::Dialectic
        | Step::Review
        | Step::DiscussionTwo
        | Step::Diagram
        | Step::Rejected
        | Step::Cleanup
        | Step::Decisions => step.name(),
    };
    format!("design Step {} — {name}", step.number())
}

/// Returns what is marked in the ledger of tokens, where anything is.
pub const fn of_tokens(step: Step) -> Option<&'static str> {
    match step {
        Step::Review => Some("Step 1 — design Step 3 plan review"),
        Step::DiscussionTwo => Some("Step 1 — design Step 3.5 discussion r2"),
        Step::Diagram => Some("Step 1 — design Step 3b arch diagram"),
        Step::Setup
        | Step::Branch
        | Step::Questions
        | Step::DiscussionOne
        | Step::Sketches
        | Step::Dialectic
        | Step::Plan
        | Step::Rejected
        | Step::Cleanup
        | Step::Decisions => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::progress::Prefix;

    // P-365, P-375
    #[test]
    fn every_step_has_its_mark() {
        let marks: Vec<_> = Step::ALL.into_iter().map(of_time).collect();
        assert_eq!(
            marks,
            [
                "design Step 0 — session setup",
                "design Step 1 — branch",
                "design Step 1c — questions",
                "design Step 1d — discussion r1",
                "design Step 2a — sketches",
                "design Step 2a.5 — dialectic",
                "design Step 2b — plan",
                "design Step 3 — plan review",
                "design Step 3.5 — discussion r2",
                "design Step 3b — arch diagram",
                "design Step 4 — rejected findings",
                "design Step 5 — cleanup",
                "design Step 6 — decisions",
            ]
        );
        let tokens: Vec<_> = Step::ALL.into_iter().filter_map(of_tokens).collect();
        assert_eq!(
            tokens,
            [
                "Step 1 — design Step 3 plan review",
                "Step 1 — design Step 3.5 discussion r2",
                "Step 1 — design Step 3b arch diagram",
            ]
        );
    }

    #[test]
    fn only_the_beginning_of_a_step_begins_it() {
        for prefix in ["", "1.::design plan"] {
            let crumbs = Breadcrumbs { prefix: Prefix::parse(prefix) };
            for step in Step::ALL {
                assert_eq!(begun(&crumbs, &crumbs.start(step)), Some(step));
                assert_eq!(begun(&crumbs, &crumbs.start_with(step, "x")), Some(step));
                assert_eq!(begun(&crumbs, &crumbs.done(step, "x", 1)), None);
            }
        }
        assert_eq!(begun(&Breadcrumbs::default(), "3"), None);
    }
}
