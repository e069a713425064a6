//! Comments and names of tests, in all crates. People read this code to learn from it, so a comment
//! names who acts, too. No exception is left; rephrase a comment instead of adding one.

use std::fs;
use std::path::{Path, PathBuf};

use super::literals::texts;
use super::{ACTORLESS, BUDGET, HIDING, held};

/// The folders with Rust sources.
const FOLDERS: [&str; 3] = ["crates", "examples", "xtask"];

/// Returns the Rust sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns every source with its path in the repository.
fn all_sources() -> Vec<(String, String)> {
    let root = xtask::root();
    let paths = FOLDERS.iter().flat_map(|folder| sources(&root.join(folder)));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path.strip_prefix(&root).unwrap().display().to_string(), text)
    };
    paths.map(read).collect()
}

/// Returns a comment's prose on one line, in lower case and without code.
fn sentences(comment: &str) -> String {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in comment.lines() {
        let is_border = line.starts_with("```");
        is_code ^= is_border;
        if !is_code && !is_border {
            lines.push(line);
        }
    }
    lines.join(" ").split('`').step_by(2).collect::<Vec<_>>().join("`").to_lowercase()
}

/// Returns the listed phrases of a comment.
fn listed(comment: &str) -> Vec<&'static str> {
    let words = sentences(comment);
    [held(&words, &HIDING), held(&words, &ACTORLESS), held(&words, &BUDGET)].concat()
}

/// Returns the names of a source's tests, each with its line.
fn test_names(source: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut is_test = false;
    for (index, line) in source.lines().enumerate() {
        is_test |= line.trim() == "#[test]";
        if let Some(rest) = line.trim_start().strip_prefix("fn ").filter(|_| is_test) {
            found.push((index + 1, rest.split(['(', '<']).next().unwrap_or(rest)));
            is_test = false;
        }
    }
    found
}

#[test]
fn comments_name_who_acts() {
    let mut found = Vec::new();
    for (path, source) in all_sources() {
        for comment in texts(&source).comments {
            for phrase in listed(&comment.text) {
                found.push(format!("{path}:{}: {phrase}", comment.line));
            }
        }
    }
    assert!(found.is_empty(), "say who does what, in the reader's words: {found:#?}");
}

#[test]
fn names_of_tests_name_who_acts() {
    let mut found = Vec::new();
    for (path, source) in all_sources() {
        for (line, name) in test_names(&source) {
            let words = name.replace('_', " ");
            for phrase in [held(&words, &HIDING), held(&words, &ACTORLESS)].concat() {
                found.push(format!("{path}:{line}: {phrase} in {name}"));
            }
        }
    }
    assert!(found.is_empty(), "name a test as the rule that it holds: {found:#?}");
}

#[test]
fn a_phrase_counts_across_lines_and_not_in_code() {
    let found =
        listed("`whoever` is fine, and at\nonce is not.\n```text\nnobody\n```\nIt is\nasked.");
    assert_eq!(found, ["at once", "it is asked", "is asked"]);
}

#[test]
fn only_tests_have_names_of_tests() {
    let source =
        "#[test]\n#[cfg(unix)]\nfn one_is_none() {\n    fn nobody() {}\n}\n\nfn two() {}\n";
    assert_eq!(test_names(source), [(3, "one_is_none")]);
}
