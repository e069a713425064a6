//! What a loop keeps of an answer, and how it is read again.

use convoke_domain::dispatch::review::{Issue, Review};
use convoke_domain::dispatch::review_loop::{Answer, identity};
use convoke_domain::lane::event::Usage;
use convoke_engine::dispatch::answer::kept;
use convoke_engine::skill::hash;
use convoke_store::review_loop::{LoopEntry, Spent};
use serde_json::{Value, json};

use crate::cli::lane::Ran;

/// Sums up what an answer cost, with the lanes that led to it; unknown if one of them did not say.
pub(super) fn spent(ran: &Ran, earlier: &[Ran]) -> Spent {
    let all = || earlier.iter().chain([ran]).map(|ran| ran.spent);
    let sum = |part: fn(&Usage) -> Option<u64>| {
        let parts = all().map(|usage| usage.as_ref().and_then(part));
        parts.sum::<Option<u64>>()
    };
    Spent {
        input: sum(|usage| Some(usage.input)),
        output: sum(|usage| Some(usage.output)),
        micro_dollars: sum(|usage| usage.micro_dollars),
    }
}

/// A review in the form that is read again.
pub(super) fn review_text(role: &str, review: Option<&Review>) -> Value {
    let issues = review.map(|it| it.issues.as_slice()).unwrap_or_default();
    let issues: Vec<_> = issues
        .iter()
        .map(|it| {
            json!({
                "severity": it.severity.word(),
                "category": it.category,
                "description": it.description,
                "location": it.location,
                "suggestion": it.suggestion,
            })
        })
        .collect();
    json!({ "reviewer": role, "approved": review.is_some_and(|it| it.approved), "issues": issues })
}

/// Reads what was kept of reviewers.
pub(super) fn answers(entries: &[LoopEntry]) -> Vec<Answer> {
    let answer = |entry: &LoopEntry| {
        let passed = entry.passed?;
        let findings = findings(entry).into_iter().map(|(id, _)| id).collect();
        Some(Answer { iteration: entry.iteration, role: entry.role.clone(), passed, findings })
    };
    entries.iter().filter_map(answer).collect()
}

/// Returns what stands against a pass in an answer, with ids that stay the same in every round.
pub(super) fn findings(entry: &LoopEntry) -> Vec<(String, Issue)> {
    let reviews = kept(&entry.text).unwrap_or_default();
    let issues = reviews.into_iter().flat_map(|review| review.issues);
    let counted = issues.filter(|issue| issue.severity.counts());
    counted.map(|it| (hash(identity(&entry.role, &it))[..12].to_owned(), it)).collect()
}
