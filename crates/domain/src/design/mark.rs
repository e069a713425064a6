//! The marks of a design in the ledgers of the calling workflow.

use super::progress::Step;

/// Returns the step's name in the ledger of times.
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

/// Returns the step's name in the ledger of tokens, if it has one.
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
}
