//! Keys that say something else than `approved`.

use convoke_domain::dispatch::review::Severity;

use super::tree::{Tree, folded};

/// Parts of keys whose value states the verdict in words, or leaves none.
const VERDICTS: [&str; 6] =
    ["verdict", "decision", "recommend", "conclusion", "approval", "approved"];

/// Parts of keys that a good result makes true, or says something good of.
const POSITIVE: [&str; 14] = [
    "pass",
    "accept",
    "lgtm",
    "ready",
    "mergeable",
    "status",
    "state",
    "result",
    "outcome",
    "assess",
    "overall",
    "vote",
    "safe",
    "success",
];

/// Parts of keys that refuse unless they are empty, zero or false.
const NEGATIVE: [&str; 16] = [
    "reject",
    "block",
    "fail",
    "disapprov",
    "notapprov",
    "notready",
    "needschange",
    "needswork",
    "changesrequest",
    "requestchange",
    "requiredchange",
    "mustfix",
    "breaking",
    "vulnerab",
    "violation",
    "objection",
];

/// Words that approve, by their beginnings.
const APPROVING: [&str; 10] =
    ["approv", "accept", "pass", "ok", "lgtm", "yes", "true", "ship", "merge", "ready"];

/// Words that refuse, by their beginnings.
const REFUSING: [&str; 18] = [
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
    "need",
    "request",
    "change",
    "unapprov",
    "revis",
    "false",
    "open",
    "pending",
];

/// Words that make an approval one with a condition.
const CONDITIONS: [&str; 10] =
    ["condition", "once", "if", "unless", "until", "after", "but", "fix", "partial", "provided"];

/// Keys of issues that are texts for people.
const DESCRIPTIONS: [&str; 4] = ["description", "suggestion", "location", "category"];

/// Returns the first key beside `approved` that says the opposite, or might.
pub(super) fn contradiction(review: &Tree, approved: bool) -> Option<&str> {
    let issues: Vec<&Tree> = match review.get("issues") {
        Some(Tree::List(issues)) => issues.iter().collect(),
        _ => Vec::new(),
    };
    review.all().into_iter().find_map(|object| {
        let is_issue = issues.iter().any(|issue| std::ptr::eq(*issue, object));
        let is_top = std::ptr::eq(object, review);
        let contradicts = |(key, value): &&(String, Tree)| {
            let key = folded(key);
            let is_known = (is_top && matches!(key.as_str(), "approved" | "issues"))
                || (is_issue && (key == "severity" || DESCRIPTIONS.contains(&key.as_str())));
            !is_known && says_otherwise(&key, value, approved)
        };
        object.pairs().iter().find(contradicts).map(|(key, _)| key.as_str())
    })
}

fn says_otherwise(key: &str, value: &Tree, approved: bool) -> bool {
    let has = |parts: &[&str]| parts.iter().any(|part| key.contains(part));
    if key == "severity" {
        return approved && value.words().is_none_or(|word| Severity::parse(&word).counts());
    }
    if has(&NEGATIVE) {
        return approved && !is_nothing(value);
    }
    if has(&VERDICTS) {
        return opposes(value, approved);
    }
    let is_refused = *value == Tree::Bool(false)
        || value.words().is_some_and(|text| begins(&first_word(&text), &REFUSING));
    // A key in other letters may be any of the above.
    approved && is_refused && (has(&POSITIVE) || !key.is_ascii())
}

/// Tells whether a verdict in words says the opposite of `approved`. An approval has to be said in
/// a few words that approve, without a condition.
fn opposes(value: &Tree, approved: bool) -> bool {
    let text = match value {
        Tree::Bool(same) => return *same != approved,
        Tree::Text(text) => text.to_lowercase(),
        Tree::Null | Tree::Number(_) | Tree::List(_) | Tree::Object(_) => return approved,
    };
    let words: Vec<_> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let Some((first, others)) = words.split_first() else { return approved };
    if !approved {
        return begins(first, &APPROVING);
    }
    let is_spoilt = |word: &&str| begins(word, &REFUSING) || begins(word, &CONDITIONS);
    !begins(first, &APPROVING) || begins(first, &REFUSING) || others.iter().any(is_spoilt)
}

fn begins(word: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| word.starts_with(beginning))
}

fn first_word(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.into_iter().find(|word| !word.is_empty()).unwrap_or_default().to_lowercase()
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

/// Finds where a text has a key of a judgement in quotation marks: a draft or another verdict.
pub(super) fn judging_keys(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let keys = ["verdict", "decision", "severity", "issues", "rejected", "blockers"];
    let quoted = keys.iter().flat_map(|key| [format!("\"{key}\""), format!("'{key}'")]);
    quoted.filter_map(|key| lower.find(&key)).min()
}
