//! Taking a review out of an agent's answer.
//!
//! An answer is a verdict only if it ends with one complete JSON object and no other part of it
//! mentions approval; every other answer is ambiguous.

mod beside;
mod block;
mod contradiction;
mod tree;

use convoke_domain::dispatch::ambiguity::{Ambiguity, Doubt, disclaimer};
use convoke_domain::dispatch::lead_in::words_beside;
use convoke_domain::dispatch::refusal::refusal;
use convoke_domain::dispatch::reservation::reservation;
use convoke_domain::dispatch::review::{Issue, Review, Severity};

pub use self::beside::beside;
use self::block::{Block, is_set_apart, last_block, verdict_keys};
use self::contradiction::{StatedVerdict, contradiction, judging_keys, unknown_key};
use self::tree::Tree;

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
        Some(Tree::List(issues)) if issues.iter().all(|issue| matches!(issue, Tree::Object(_))) => {
            issues
        }
        _ => return Err(doubt(Doubt::Issues)),
    };
    let stated = if approved { StatedVerdict::Approved } else { StatedVerdict::Refused };
    if let Some(key) = contradiction(value, stated) {
        return Err(doubt(Doubt::Contradiction(key.to_owned())));
    }
    if approved {
        undisclaimed(&block)?;
    }
    Ok(Review {
        reviewer: value.get("reviewer").and_then(Tree::words),
        approved,
        issues: issues.iter().map(read_issue).collect(),
    })
}

/// Checks that nothing around an approving object, and no words at any depth of it, take the approval
/// back: the words around it announce it, and Convoke knows what each of its keys means.
fn undisclaimed(block: &Block<'_>) -> Result<(), Ambiguity> {
    let disclaimed = |text: &str| Ambiguity::new(Doubt::Disclaimed, text);
    if let Some(words) = disclaimer(block.before) {
        return Err(disclaimed(&words));
    }
    if is_set_apart(block) {
        return Err(disclaimed(block.text));
    }
    if let Some(at) = judging_keys(block.before) {
        return Err(disclaimed(&block.before[at..]));
    }
    let mut texts = block.value.all().into_iter().filter_map(Tree::words);
    let mut of_review = block.value.pairs().iter().filter_map(|(_, value)| value.words());
    let refused = texts.find_map(|text| refusal(&text));
    if let Some(words) = refused.or_else(|| of_review.find_map(|text| reservation(&text))) {
        return Err(disclaimed(&words));
    }
    if let Some(words) = words_beside(block.before) {
        return Err(Ambiguity::new(Doubt::WordsBeside, &words));
    }
    match unknown_key(&block.value) {
        Some(key) => Err(Ambiguity::new(Doubt::UnknownKey(key.to_owned()), block.text)),
        None => Ok(()),
    }
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
    let are_issues = list.iter().all(|issue| matches!(issue, Tree::Object(_) | Tree::Text(_)));
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
        severity: words("severity").map_or(Severity::Warning, |word| Severity::parse(&word)),
        category: words("category"),
        description: described.unwrap_or_else(|| value.to_string()),
        location: words("location"),
        suggestion: words("suggestion"),
    }
}

#[cfg(test)]
mod tests;
