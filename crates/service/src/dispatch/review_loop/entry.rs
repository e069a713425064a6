//! The records of a loop's answers, and how they are read.

use std::collections::BTreeSet;

use convoke_domain::dispatch::review::{Issue, Review, Severity};
use convoke_domain::dispatch::review_loop::{LoopStop, ReviewAnswer, identity};
use convoke_domain::lane::event::Usage;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_engine::dispatch::answer::kept;
use convoke_engine::skill::hash;
use convoke_store::review_loop::{AnswerUsage, LoopEntry};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::dispatch::DispatchFailure;
use crate::dispatch::judge::Judged;
use crate::failure::{ErrorClass, Failure};
use crate::lane::LaneRun;

/// Sums up what an answer cost, with the lanes that led to it; unknown if one of them did not say.
pub(super) fn spent(ran: &LaneRun, earlier: &[LaneRun]) -> AnswerUsage {
    let all = || earlier.iter().chain([ran]).map(|ran| ran.spent);
    let sum = |part: fn(&Usage) -> Option<u64>| {
        let parts = all().map(|usage| usage.as_ref().and_then(part));
        parts.sum::<Option<u64>>()
    };
    AnswerUsage {
        input: sum(|usage| Some(usage.input)),
        output: sum(|usage| Some(usage.output)),
        micro_dollars: sum(|usage| usage.micro_dollars),
    }
}

/// The basis of a pass: it holds for these files, as far as it was proven, with these words beside
/// it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Grounds {
    /// The reviewed files as a tree in git's own store, if git could tell.
    pub(super) tree: Option<String>,
    /// Whether the record proves complete reading.
    pub(super) proven: bool,
    /// The reviewer's text beside its verdict.
    pub(super) also_wrote: Option<String>,
}

impl Grounds {
    /// Reads a recorded answer; an entry of an earlier version proves nothing.
    pub(super) fn of(entry: &LoopEntry) -> Self {
        serde_json::from_str(&entry.text).unwrap_or_default()
    }
}

/// A review in the form that is read again.
pub(super) fn review_text(role: &str, review: Option<&Review>, grounds: &Grounds) -> Value {
    let issues = review.map(|review| review.issues.as_slice()).unwrap_or_default();
    let issues: Vec<_> = issues
        .iter()
        .map(|issue| {
            json!({
                "severity": issue.severity.word(),
                "category": issue.category,
                "description": issue.description,
                "location": issue.location,
                "suggestion": issue.suggestion,
            })
        })
        .collect();
    json!({
        "reviewer": role,
        "approved": review.is_some_and(|review| review.approved),
        "issues": issues,
        "tree": grounds.tree,
        "proven": grounds.proven,
        "also_wrote": grounds.also_wrote,
    })
}

/// Reads the reviewers' recorded answers.
pub(super) fn answers(entries: &[LoopEntry]) -> Vec<ReviewAnswer> {
    let answer = |entry: &LoopEntry| {
        let passed = entry.passed?;
        let found = findings(entry);
        let warnings = found.iter().filter(|(_, issue)| issue.severity == Severity::Warning);
        Some(ReviewAnswer {
            iteration: entry.iteration,
            role: entry.role.clone(),
            passed,
            warnings: warnings.map(|(id, _)| id.clone()).collect(),
            findings: found.into_iter().map(|(id, _)| id).collect(),
        })
    };
    entries.iter().filter_map(answer).collect()
}

/// Returns the review that was kept of an answer, for the next prompt, without dismissed findings.
pub(super) fn kept_reviews(
    entry: &LoopEntry,
    dismissed: &BTreeSet<String>,
) -> Result<Vec<Review>, Failure> {
    let mut reviews = kept(&entry.text).ok_or_else(|| {
        let error = DispatchFailure::KeptReview { role: entry.role.clone() };
        Failure::new(ErrorClass::Prerequisite, error)
            .hint("`convoke dispatch reset` deletes the rounds and starts over")
    })?;
    for review in &mut reviews {
        review.issues.retain(|issue| !dismissed.contains(&finding_id(&entry.role, issue)));
    }
    Ok(reviews)
}

fn finding_id(role: &str, issue: &Issue) -> String {
    hash(identity(role, issue))[..12].to_owned()
}

/// Returns every issue that was kept of an answer.
pub(super) fn issues(entry: &LoopEntry) -> Vec<Issue> {
    let reviews = kept(&entry.text).unwrap_or_default();
    reviews.into_iter().flat_map(|review| review.issues).collect()
}

/// Returns the issues of an answer that prevent a pass, with ids that stay the same in every round.
pub(super) fn findings(entry: &LoopEntry) -> Vec<(String, Issue)> {
    let counted = issues(entry).into_iter().filter(|issue| issue.severity.counts());
    let with_id = |issue| (finding_id(&entry.role, &issue), issue);
    counted.map(with_id).collect()
}

/// Returns why it ends when an agent gave no answer.
pub(super) fn stop_of(outcome: LaneOutcome) -> LoopStop {
    if outcome == LaneOutcome::Cancelled {
        LoopStop::Cancelled
    } else if outcome == LaneOutcome::OverBudget {
        LoopStop::OverBudget
    } else {
        LoopStop::LaneFailed
    }
}

/// Returns why a loop ends at a reviewer's answer that counts neither way. The answer is not
/// recorded, so that reviewer answers again in the next call. `outcome` is of the last lane: the
/// user may have stopped Convoke during the second request.
pub(super) fn without_verdict(judged: &Judged, outcome: LaneOutcome) -> Option<LoopStop> {
    match (&judged.ambiguity, judged.lacks_proof) {
        (Some(_), _) if matches!(outcome, LaneOutcome::OverBudget | LaneOutcome::Cancelled) => {
            Some(stop_of(outcome))
        }
        (Some(_), _) => Some(LoopStop::Ambiguous),
        (None, true) => Some(LoopStop::Unproven),
        (None, false) => None,
    }
}

/// Returns the summary of the last fix for the reviewers.
pub(super) fn summary_of(entries: &[LoopEntry], iteration: u32) -> String {
    let fixes =
        entries.iter().filter(|entry| entry.passed.is_none() && entry.iteration < iteration);
    fixes.max_by_key(|entry| entry.iteration).map_or(String::new(), |entry| entry.text.clone())
}
