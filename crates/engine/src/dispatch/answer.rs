//! Taking a review out of an agent's answer.
//!
//! An answer is a verdict only if it ends with one JSON object that says so completely and nothing
//! else in it speaks of approval; everything else is ambiguous.

mod block;
mod tree;

use convoke_domain::dispatch::ambiguity::{Ambiguity, Doubt, disclaimer};
use convoke_domain::dispatch::review::{Issue, Review, Severity};

use self::block::{Block, last_block, verdict_keys};
use self::tree::{Tree, folded};

/// Reads a reviewer's answer.
pub fn review(answer: &str) -> Result<Review, Ambiguity> {
    let block = last_block(answer.trim_start_matches('\u{feff}'))?;
    let Block { before, text, value } = &block;
    let doubt = |doubt| Ambiguity::new(doubt, text);
    if let Some(at) = verdict_keys(before).first() {
        let begin = before[..*at].rfind('\n').map_or(0, |line| line + 1);
        return Err(Ambiguity::new(Doubt::Several, &before[begin..]));
    }
    if let Some(key) = value.repeated_key() {
        return Err(doubt(Doubt::RepeatedKey(key.to_owned())));
    }
    let verdicts = value.all().into_iter().filter(|value| value.get("approved").is_some()).count();
    let approved = match (verdicts, value.get("approved")) {
        (0, _) => return Err(doubt(Doubt::NoObject)),
        (1, Some(Tree::Bool(approved))) => *approved,
        (1, Some(_)) => return Err(doubt(Doubt::NotBoolean)),
        (1, None) => return Err(doubt(Doubt::Nested)),
        _ => return Err(doubt(Doubt::Several)),
    };
    let issues = match value.get("issues") {
        Some(Tree::List(issues)) if issues.iter().all(|it| matches!(it, Tree::Object(_))) => issues,
        _ => return Err(doubt(Doubt::Issues)),
    };
    if let Some(key) = contradiction(value, approved) {
        return Err(doubt(Doubt::Contradiction(key.to_owned())));
    }
    if let Some(line) = disclaimer(before).filter(|_| approved) {
        return Err(Ambiguity::new(Doubt::Disclaimed, line));
    }
    Ok(Review {
        reviewer: value.get("reviewer").and_then(Tree::words),
        approved,
        issues: issues.iter().map(read_issue).collect(),
    })
}

/// Keys that state the verdict in a word.
const VERDICTS: [&str; 9] = [
    "verdict",
    "decision",
    "recommendation",
    "conclusion",
    "approval",
    "status",
    "result",
    "outcome",
    "assessment",
];

/// Beginnings of words that approve.
const APPROVING: [&str; 10] =
    ["approv", "accept", "pass", "ok", "lgtm", "yes", "true", "ship", "merge", "ready"];

/// Beginnings of words that refuse.
const REFUSING: [&str; 16] = [
    "reject",
    "fail",
    "block",
    "refus",
    "deny",
    "denied",
    "declin",
    "disapprov",
    "not",
    "no",
    "needs",
    "request",
    "change",
    "unapprov",
    "revis",
    "false",
];

/// Keys that refuse by being true, or by listing something.
const REFUSALS: [&str; 14] = [
    "rejected",
    "reject",
    "blocked",
    "blocking",
    "failed",
    "disapproved",
    "notapproved",
    "needschanges",
    "needswork",
    "changesrequested",
    "requestchanges",
    "blockers",
    "blockingissues",
    "warnings",
];

/// Returns the first key beside `approved` that says the opposite, or might.
fn contradiction(review: &Tree, approved: bool) -> Option<&str> {
    let contradicts = |(key, value): &&(String, Tree)| {
        let key = folded(key);
        if key == "approved" || key == "issues" {
            return false;
        }
        if VERDICTS.contains(&key.as_str()) {
            return opposes(value, approved);
        }
        if REFUSALS.contains(&key.as_str()) {
            return approved && !is_nothing(value);
        }
        // Under an approval, whatever else is switched off or weighs something speaks against it.
        approved && (*value == Tree::Bool(false) || holds_weight(value))
    };
    review.pairs().iter().find(contradicts).map(|(key, _)| key.as_str())
}

/// Tells whether a verdict in words says the opposite of `approved`. Under an approval, a word
/// that Convoke does not know does not say the same.
fn opposes(value: &Tree, approved: bool) -> bool {
    let word = match value {
        Tree::Bool(same) => return *same != approved,
        Tree::Null => return false,
        Tree::Number(_) | Tree::List(_) | Tree::Object(_) => return approved,
        Tree::Text(text) => text.trim().to_lowercase(),
    };
    let begins = |words: &[&str]| words.iter().any(|begin| word.starts_with(begin));
    if approved { !begins(&APPROVING) || begins(&REFUSING) } else { begins(&APPROVING) }
}

/// Tells whether a value is empty, zero, false or null.
fn is_nothing(value: &Tree) -> bool {
    match value {
        Tree::Null | Tree::Bool(false) => true,
        Tree::Bool(true) => false,
        Tree::Number(number) => number == "0",
        Tree::Text(text) => matches!(text.trim().to_lowercase().as_str(), "" | "none" | "no" | "0"),
        Tree::List(values) => values.is_empty(),
        Tree::Object(pairs) => pairs.is_empty(),
    }
}

/// Tells whether something in a value has a severity that stands against a pass: findings under
/// another name than `issues`.
fn holds_weight(value: &Tree) -> bool {
    let severities = value.all().into_iter().filter_map(|value| value.get("severity"));
    severities.into_iter().any(|it| it.words().is_none_or(|it| Severity::parse(&it).counts()))
}

/// Reads reviews or issues that a person or an earlier round wrote down: a review, a list of
/// reviews, or a list of issues.
pub fn kept(text: &str) -> Option<Vec<Review>> {
    let value: Tree = serde_json::from_str(text).ok()?;
    if let Some(review) = kept_review(&value) {
        return Some(vec![review]);
    }
    let Tree::List(list) = &value else { return None };
    let reviews: Vec<_> = list.iter().filter_map(kept_review).collect();
    if reviews.len() == list.len() {
        return Some(reviews);
    }
    // Issues by themselves are of a reviewer that did not approve.
    let are_issues = list.iter().all(|it| matches!(it, Tree::Object(_) | Tree::Text(_)));
    let issues = || list.iter().map(read_issue).collect();
    are_issues.then(|| vec![Review { reviewer: None, approved: false, issues: issues() }])
}

fn kept_review(value: &Tree) -> Option<Review> {
    let Tree::Bool(approved) = value.get("approved")? else { return None };
    let issues = match value.get("issues") {
        Some(Tree::List(issues)) => issues.iter().map(read_issue).collect(),
        _ => Vec::new(),
    };
    let reviewer = value.get("reviewer").and_then(Tree::words);
    Some(Review { reviewer, approved: *approved, issues })
}

/// Returns the issues of the reviews that do not pass.
pub fn failed_issues(reviews: &[Review]) -> Vec<Issue> {
    let failed = reviews.iter().filter(|review| !review.passes());
    failed.flat_map(|review| review.issues.clone()).collect()
}

/// Reads an issue in any of the words that reviewers use for it. None is dropped: one that Convoke
/// does not understand is shown as it is, and counts as a warning.
fn read_issue(value: &Tree) -> Issue {
    let words = |name: &str| value.get(name).and_then(Tree::words);
    let told = ["description", "message", "title", "summary", "issue", "text"];
    let described = told.iter().find_map(|name| words(name));
    Issue {
        severity: words("severity").map_or(Severity::Warning, |it| Severity::parse(&it)),
        category: words("category"),
        description: described.unwrap_or_else(|| value.to_string()),
        location: words("location"),
        suggestion: words("suggestion"),
    }
}

#[cfg(test)]
mod tests;
