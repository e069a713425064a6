//! The house style of documents and of the program's words, as far as a test can hold it: a sentence
//! names who acts, and lines are short.
#![expect(clippy::unwrap_used, reason = "a test that cannot read the repository should stop")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

#[path = "language/comments.rs"]
mod comments;
#[path = "language/help.rs"]
mod help;
#[path = "language/literals.rs"]
mod literals;
#[path = "language/sources.rs"]
mod sources;

/// Words that hide who does what, and when.
const HIDING: [&str; 13] = [
    "nobody",
    "anybody",
    "everybody",
    "somebody",
    "whoever",
    "whatever",
    "perhaps",
    "all the same",
    "at once",
    "will do",
    "is none",
    "stands",
    "it is asked",
];

/// Clauses without an actor.
const ACTORLESS: [&str; 17] = [
    "whomever",
    "that which",
    "became of",
    "are none",
    "is asked",
    "are asked",
    "was asked",
    "were asked",
    "is told",
    "are told",
    "was told",
    "were told",
    "is said",
    "are said",
    "was said",
    "were said",
    "told of",
];

/// Words for money and tokens that a reader would have to learn: *budget*, *spent* and *remaining* are
/// enough.
const BUDGET: [&str; 7] =
    ["cap", "overdraft", "uncounted", "allowance", "foresight", "purse", "may not do"];

/// The longest line of a document, in characters.
const LONGEST: usize = 400;

fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found
}

/// Returns the documents that people write, without those that are made from the code.
fn written_pages() -> Vec<PathBuf> {
    let root = xtask::root();
    let made: BTreeSet<_> = xtask::docs::pages().iter().map(|(path, _)| root.join(path)).collect();
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let mut found: Vec<_> = top.iter().map(|name| root.join(name)).collect();
    found.extend(pages(&root.join("docs")));
    found.extend(pages(&root.join("plugin")));
    found.retain(|page| !made.contains(page));
    found.sort();
    found
}

/// Returns the prose of a document in lower case: each line without code.
fn prose(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let is_border = line.trim_start().starts_with("```");
        is_code ^= is_border;
        let outside: Vec<_> = line.split('`').step_by(2).collect();
        let is_prose = !is_code && !is_border;
        lines.push(if is_prose { outside.join("`").to_lowercase() } else { String::new() });
    }
    lines
}

/// Returns the phrases of a list that a text holds as whole words.
fn held<'a>(text: &str, phrases: &[&'a str]) -> Vec<&'a str> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let is_held = |phrase: &str| {
        text.match_indices(phrase).any(|(at, _)| {
            !text[..at].ends_with(in_word) && !text[at + phrase.len()..].starts_with(in_word)
        })
    };
    phrases.iter().copied().filter(|phrase| is_held(phrase)).collect()
}

#[test]
fn documents_name_who_acts() {
    let mut found = Vec::new();
    for page in written_pages() {
        for (index, line) in prose(&fs::read_to_string(&page).unwrap()).iter().enumerate() {
            for phrase in
                [held(line, &HIDING), held(line, &ACTORLESS), held(line, &BUDGET)].concat()
            {
                found.push(format!("{}:{}: {phrase}", page.display(), index + 1));
            }
        }
    }
    assert!(found.is_empty(), "say who does what, and when: {found:#?}");
}

#[test]
fn lines_of_documents_are_short() {
    for page in written_pages() {
        for (index, line) in fs::read_to_string(&page).unwrap().lines().enumerate() {
            let length = line.chars().count();
            let place = format!("{}:{}", page.display(), index + 1);
            assert!(length <= LONGEST, "{place} has {length} characters; break it at a sentence");
        }
    }
}

// Two branches that add an entry at one place leave it twice.
#[test]
fn the_changelog_says_everything_once() {
    let changelog = fs::read_to_string(xtask::root().join("CHANGELOG.md")).unwrap();
    let beginning = |entry: &str| entry.chars().take(40).collect::<String>();
    let mut entries: Vec<_> =
        changelog.lines().filter(|line| line.starts_with("- ")).map(beginning).collect();
    entries.sort_unstable();
    for pair in entries.windows(2) {
        assert_ne!(pair[0], pair[1], "two entries of CHANGELOG.md begin alike");
    }
}

#[test]
fn code_is_no_prose() {
    let text = "Nobody, `whoever`.\n```text\nperhaps\n```\nAt once; understands somebody's `x` it.";
    let lines = prose(text);
    let found: Vec<_> = lines.iter().map(|line| held(line, &HIDING).join(",")).collect();
    assert_eq!(found, ["nobody", "", "", "", "somebody,at once"]);
}
