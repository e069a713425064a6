//! The instructions of each built-in role and the form of its answer, one file each.

use super::role::{DispatchRole, Noun};

/// Returns the rubric of a role; a role that is not built in gets the one of its kind.
pub fn rubric(role: &DispatchRole) -> &'static str {
    let known = match role.name.role.as_str() {
        "spec-reviewer" => include_str!("texts/rubrics/spec-reviewer.md"),
        "design-reviewer" => include_str!("texts/rubrics/design-reviewer.md"),
        "plan-reviewer" => include_str!("texts/rubrics/plan-reviewer.md"),
        "task-reviewer" => include_str!("texts/rubrics/task-reviewer.md"),
        "phase-reviewer" => include_str!("texts/rubrics/phase-reviewer.md"),
        "implementation-reviewer" => include_str!("texts/rubrics/implementation-reviewer.md"),
        "code-quality-reviewer" => include_str!("texts/rubrics/code-quality-reviewer.md"),
        "security-reviewer" => include_str!("texts/rubrics/security-reviewer.md"),
        "code-simplifier" => include_str!("texts/rubrics/code-simplifier.md"),
        "test-deepener" => include_str!("texts/rubrics/test-deepener.md"),
        _ if role.noun == Noun::Work => include_str!("texts/rubrics/worker.md"),
        _ => include_str!("texts/rubrics/reviewer.md"),
    };
    known.trim_end()
}

/// Returns how a role is to answer.
pub fn returns(role: &DispatchRole) -> &'static str {
    match role.noun {
        Noun::Review => include_str!("texts/returns/review.md").trim_end(),
        Noun::Work => include_str!("texts/returns/work.md").trim_end(),
    }
}

/// Returns how the implementer of one task works and answers.
pub fn task_instructions() -> &'static str {
    include_str!("texts/task-instructions.md").trim_end()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::role::Roles;
    use super::*;

    // D-20: every role has a text, without any file of the user's.
    #[test]
    fn every_role_has_a_text_of_its_own() {
        let roles = Roles::default();
        let texts: BTreeSet<_> = roles.all().iter().map(rubric).collect();
        // The four phase reviewers share one.
        assert_eq!(texts.len(), roles.all().len() - 3);
        for role in roles.all() {
            assert!(!rubric(role).is_empty() && !rubric(role).contains('{'), "{}", role.name);
            assert!(!returns(role).contains("Files read:"), "{}", role.name);
        }
        assert!(task_instructions().lines().count() > 3);
    }
}
