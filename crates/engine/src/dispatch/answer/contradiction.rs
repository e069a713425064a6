//! Keys that contradict `approved`.

use convoke_domain::dispatch::review::Severity;

use super::tree::{Tree, folded};

/// Parts of keys whose value states the verdict in words, or leaves none.
const VERDICTS: [&str; 6] =
    ["verdict", "decision", "recommend", "conclusion", "approval", "approved"];

/// Parts of keys that a good result makes true.
const AFFIRMING: [&str; 8] =
    ["pass", "accept", "lgtm", "ready", "mergeable", "safe", "secure", "success"];

/// Words of keys that a good result makes true.
const AFFIRMING_WORDS: [&str; 13] = [
    "go",
    "ok",
    "okay",
    "approve",
    "approves",
    "merge",
    "ship",
    "good",
    "clean",
    "sound",
    "correct",
    "valid",
    "compliant",
];

/// Parts of keys whose value describes the state.
const STATING: [&str; 7] = ["status", "state", "result", "outcome", "assess", "overall", "vote"];

/// Parts of keys that refuse unless they are empty, zero or false.
const FORBIDDING: [&str; 24] = [
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
    "veto",
    "unsafe",
    "insecure",
    "donot",
    "refus",
    "denied",
    "declin",
    "onhold",
];

/// Words of keys that count heavy issues, beside words such as `issues` and `count`.
const HEAVY: [&str; 12] = [
    "blocker",
    "blockers",
    "warning",
    "warnings",
    "critical",
    "criticals",
    "errors",
    "major",
    "severe",
    "fatal",
    "high",
    "concerns",
];
const COUNTING: [&str; 14] = [
    "issue",
    "issues",
    "finding",
    "findings",
    "problem",
    "problems",
    "count",
    "counts",
    "total",
    "num",
    "number",
    "of",
    "open",
    "remaining",
];

/// Words of keys that turn the next word into its opposite.
const NEGATIONS: [&str; 9] =
    ["not", "no", "non", "dont", "cannot", "cant", "never", "without", "zero"];

/// Values that block under any key.
const BLOCKING: [&str; 9] = [
    "blocker",
    "blocking",
    "critical",
    "fatal",
    "severe",
    "veto",
    "donotmerge",
    "notapproved",
    "changesrequested",
];

/// Words that approve, by their beginnings.
const APPROVING: [&str; 10] =
    ["approv", "accept", "pass", "ok", "lgtm", "yes", "true", "ship", "merge", "ready"];

/// Words for a finished or good state, by their beginnings.
const FINISHED: [&str; 12] = [
    "done", "complete", "finish", "final", "success", "good", "clean", "sound", "correct", "valid",
    "safe", "secure",
];

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

/// Conditions that words of a state do not mean in another way.
const PLAIN_CONDITIONS: [&str; 9] =
    ["condition", "once", "if", "unless", "until", "after", "partial", "provided", "pending"];

/// Keys of issues that are texts for people.
const DESCRIPTIONS: [&str; 4] = ["description", "suggestion", "location", "category"];

/// The verdict that the key `approved` states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StatedVerdict {
    Approved,
    Refused,
}

/// Returns the first key beside `approved` that says the opposite of the verdict, or might.
pub(super) fn contradiction(review: &Tree, stated: StatedVerdict) -> Option<&str> {
    let issues: Vec<&Tree> = match review.get("issues") {
        Some(Tree::List(issues)) => issues.iter().collect(),
        _ => Vec::new(),
    };
    review.all().into_iter().find_map(|object| {
        let is_issue = issues.iter().any(|issue| std::ptr::eq(*issue, object));
        let is_top = std::ptr::eq(object, review);
        let contradicts = |(key, value): &&(String, Tree)| {
            let name = folded(key);
            let is_known = (is_top && matches!(name.as_str(), "approved" | "issues"))
                || (is_issue && (name == "severity" || DESCRIPTIONS.contains(&name.as_str())));
            !is_known && says_otherwise(key, value, stated)
        };
        object.pairs().iter().find(contradicts).map(|(key, _)| key.as_str())
    })
}

/// Keys beside the verdict that say nothing about it, without separators.
const NOTES: [&str; 12] = [
    "reviewer",
    "summary",
    "confidence",
    "filesread",
    "tokensused",
    "iteration",
    "round",
    "role",
    "counts",
    "suggestion",
    "suggestions",
    "nits",
];

/// Returns the first key of an approval, outside of its issues, whose meaning is unknown.
pub(super) fn unknown_key(review: &Tree) -> Option<&str> {
    review.pairs().iter().find_map(|(key, value)| {
        let name = folded(key);
        let is_known = matches!(name.as_str(), "approved" | "issues")
            || NOTES.contains(&name.as_str())
            || name.ends_with("severity")
            || meaning(&name, &key_words(key)) != Meaning::Nothing;
        match (is_known, value) {
            (false, _) => Some(key.as_str()),
            (true, Tree::Object(_)) => unknown_key(value),
            (true, _) => None,
        }
    })
}

/// The meaning of a key that is present, or true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// The key's value states the verdict.
    Verdict,
    /// It refuses unless its value is nothing.
    Forbids,
    /// It denies a reason to refuse.
    Clears,
    /// It approves unless its value is false.
    Affirms,
    /// The key's value describes the state.
    States,
    /// It lists what does not matter to the verdict.
    Spares,
    /// Nothing about the verdict.
    Nothing,
}

fn says_otherwise(key: &str, value: &Tree, stated: StatedVerdict) -> bool {
    let is_approval = stated == StatedVerdict::Approved;
    let name = folded(key);
    if name.ends_with("severity") {
        let is_none = name != "severity" && is_nothing(value);
        let is_light = value.words().is_some_and(|word| !Severity::parse(&word).counts());
        return is_approval && !is_none && !is_light;
    }
    let words = key_words(key);
    let meaning = meaning(&name, &words);
    if meaning == Meaning::Verdict {
        return opposes(value, stated);
    }
    let contradicts = match meaning {
        Meaning::Forbids => !is_nothing(value),
        Meaning::Clears => *value != Tree::Bool(true),
        Meaning::Affirms => {
            let is_zero = words.len() == 1 && *value == Tree::Number("0".to_owned());
            refuses(value) || has_condition(value) || is_zero || is_other_state(value)
        }
        Meaning::States => refuses(value) || has_condition(value) || is_other_state(value),
        // A key in other letters may be any of the above.
        Meaning::Verdict | Meaning::Spares | Meaning::Nothing => !key.is_ascii() && refuses(value),
    };
    is_approval && (contradicts || blocks(value))
}

fn meaning(name: &str, words: &[String]) -> Meaning {
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let is_negated = |is_meant: &dyn Fn(&str) -> bool| {
        let mut pairs = words.windows(2);
        pairs.any(|pair| NEGATIONS.contains(&pair[0].as_str()) && is_meant(&pair[1]))
    };
    let is_heavy = |word: &str| HEAVY.contains(&word);
    let forbids = |word: &str| FORBIDDING.iter().any(|part| word.contains(part)) || is_heavy(word);
    let affirms = |word: &str| {
        AFFIRMING.iter().any(|part| word.contains(part)) || AFFIRMING_WORDS.contains(&word)
    };
    let counts = || {
        let is_known = |word: &String| is_heavy(word) || COUNTING.contains(&word.as_str());
        words.iter().all(is_known) && words.iter().any(|word| is_heavy(word))
    };
    if is_negated(&forbids) {
        let is_kind = words.first().is_some_and(|word| word == "non");
        // Issues that do not block may be listed.
        if is_kind { Meaning::Spares } else { Meaning::Clears }
    } else if has(&FORBIDDING) || counts() || is_negated(&affirms) || needs_work(words) {
        Meaning::Forbids
    } else if has(&VERDICTS) {
        Meaning::Verdict
    } else if has(&AFFIRMING) || words.iter().any(|word| affirms(word)) {
        Meaning::Affirms
    } else if has(&STATING) {
        Meaning::States
    } else {
        Meaning::Nothing
    }
}

/// Tells whether a key demands work first: `requires_changes`, `needs_a_fix`.
fn needs_work(words: &[String]) -> bool {
    let begins_with = |beginnings: &[&str]| words.iter().any(|word| begins(word, beginnings));
    begins_with(&["need", "requir", "must"])
        && begins_with(&["change", "work", "fix", "revis", "rework", "rewrit"])
}

/// Returns the words of a key in small letters: `canMerge` and `can_merge` have the same two.
fn key_words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in key.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_small) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase() || c.is_numeric();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Tells whether a value is false, or words that begin with a refusal.
fn refuses(value: &Tree) -> bool {
    *value == Tree::Bool(false)
        || value.words().is_some_and(|text| begins(&first_word(&text), &REFUSING))
}

/// Tells whether words describe another state than a good or a finished one.
fn is_other_state(value: &Tree) -> bool {
    let Tree::Text(text) = value else { return false };
    let word = first_word(text);
    !word.is_empty() && !begins(&word, &APPROVING) && !begins(&word, &FINISHED)
}

/// Tells whether words approve under a condition.
fn has_condition(value: &Tree) -> bool {
    let text = value.words().unwrap_or_default().to_lowercase();
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.next().is_some_and(|word| begins(word, &APPROVING))
        && words.any(|word| begins(word, &PLAIN_CONDITIONS))
}

/// Tells whether a value alone is a word for a refusal.
fn blocks(value: &Tree) -> bool {
    value.words().is_some_and(|text| BLOCKING.contains(&folded(&text).as_str()))
}

/// Tells whether a verdict in words says the opposite of the stated one. An approval must consist of a
/// few approving words, without a condition.
fn opposes(value: &Tree, stated: StatedVerdict) -> bool {
    let is_approval = stated == StatedVerdict::Approved;
    let text = match value {
        Tree::Bool(approves) => return *approves != is_approval,
        Tree::Text(text) => text.to_lowercase(),
        Tree::Null | Tree::Number(_) | Tree::List(_) | Tree::Object(_) => return is_approval,
    };
    let words: Vec<_> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let Some((first, others)) = words.split_first() else { return is_approval };
    if !is_approval {
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

/// Tells whether a value is empty, zero, false or null, or a word for nothing.
fn is_nothing(value: &Tree) -> bool {
    const NONE: [&str; 10] =
        ["none", "no", "nothing", "zero", "0", "false", "found", "issues", "blockers", "warnings"];
    match value {
        Tree::Null | Tree::Bool(false) => true,
        Tree::Bool(true) => false,
        Tree::Number(number) => number == "0",
        Tree::Text(text) => {
            let text = text.to_lowercase();
            let mut words =
                text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.next().is_none_or(|word| NONE[..6].contains(&word))
                && words.all(|word| NONE.contains(&word))
        }
        Tree::List(values) => values.is_empty(),
        Tree::Object(pairs) => pairs.iter().all(|(_, value)| is_nothing(value)),
    }
}

/// Finds where a text has a key of a judgement in quotation marks: a draft or another verdict.
pub(super) fn judging_keys(text: &str) -> Option<usize> {
    let lower = text.to_ascii_lowercase();
    let keys = ["verdict", "decision", "severity", "issues", "rejected", "blockers"];
    let quoted = keys.iter().flat_map(|key| [format!("\"{key}\""), format!("'{key}'")]);
    quoted.filter_map(|key| lower.find(&key)).min()
}
