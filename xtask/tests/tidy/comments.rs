//! Comments that say more than the name below them.

use std::fs;

use super::{files, relative};

/// Words that add nothing to a name.
const EMPTY: [&str; 7] = ["the", "its", "a", "an", "their", "this", "one"];

/// Returns the words of a name: `laneEnd`, `LaneEnd` and `lane_end` have the same.
fn name_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c == '_' || c.is_uppercase() {
            words.push(String::new());
        }
        if c != '_' {
            words.last_mut().unwrap().extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Returns the name that a line defines: that of a field, a variant or a type.
fn defined_name(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    for before in ["pub ", "pub(crate) ", "pub(super) ", "struct ", "enum ", "trait ", "type "] {
        rest = rest.strip_prefix(before).unwrap_or(rest);
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, after) = rest.split_at(end);
    let is_keyword = matches!(name, "fn" | "const" | "static" | "mod" | "use" | "let" | "impl");
    let is_definition = after.is_empty() || after.starts_with([':', ',', '(', ' ', '<', ';']);
    (!name.is_empty() && !is_keyword && is_definition).then_some(name)
}

/// Tells whether a comment says only the name again.
fn restates(comment: &str, name: &str) -> bool {
    let text = comment.trim().trim_end_matches('.').to_lowercase();
    let mut words: Vec<_> = text.split(' ').collect();
    if EMPTY.contains(&words[0]) {
        words.remove(0);
    }
    !words.is_empty() && words == name_words(name)
}

/// Returns the lines of comments of one line that restate the name below them.
fn restating(text: &str) -> Vec<usize> {
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let comment = |at: usize| lines.get(at).and_then(|line| line.strip_prefix("/// "));
    let is_restating = |at: &usize| {
        let Some(words) = comment(*at) else { return false };
        let is_alone = comment(at + 1).is_none() && (*at == 0 || comment(at - 1).is_none());
        let mut below = lines[at + 1..].iter().filter(|line| !line.starts_with("#["));
        let name = below.next().and_then(|line| defined_name(line));
        is_alone && name.is_some_and(|name| restates(words, name))
    };
    (0..lines.len()).filter(is_restating).map(|at| at + 1).collect()
}

#[test]
fn comments_say_more_than_the_name() {
    let mut places = Vec::new();
    for entry in fs::read_dir(xtask::root().join("crates")).unwrap() {
        for path in files(&entry.unwrap().path().join("src"), ".rs") {
            let lines = restating(&fs::read_to_string(&path).unwrap());
            places.extend(lines.iter().map(|line| format!("{}:{line}", relative(&path))));
        }
    }
    assert!(places.is_empty(), "say units, invariants, or when a value is absent: {places:#?}");
}

#[test]
fn a_restating_comment_is_seen() {
    for (text, expected) in [
        ("/// The run.\npub run: String,", vec![1]),
        ("/// Its text.\n#[serde(flatten)]\ntext: String,", vec![1]),
        ("/// Tokens.\npub tokens: u64,", vec![1]),
        ("/// The end of the lane.\npub struct LaneEnd {", vec![]),
        ("/// The lane end.\npub struct LaneEnd {", vec![1]),
        ("/// The plan.\nPlan,", vec![1]),
        ("/// The plan.\nPlan(DesignPlan),", vec![1]),
        ("/// The run's id.\npub run: String,", vec![]),
        ("/// The run.\n/// It may have ended.\npub run: String,", vec![]),
        ("// The run.\npub run: String,", vec![]),
    ] {
        assert_eq!(restating(text), expected, "{text}");
    }
}
