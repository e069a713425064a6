//! Every command and flag that a text of Convoke's names must exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, Command, CommandFactory};

use super::Cli;

/// Flags that `help`, `tree check` and plumbing read word by word, plumbing as scripts of the original's
/// did.
const READ_BY_HAND: [&str; 6] =
    ["all", "baseline", "design-tmpdir", "implement-tmpdir", "mode", "sidecar"];

// A hint that cannot be followed is worse than none.
#[test]
fn every_flag_that_a_text_names_exists() {
    let mut root = Cli::command();
    root.build();
    let all = all_flags(&root);
    let mut unknown = Vec::new();
    for path in sources() {
        let source = fs::read_to_string(&path).unwrap();
        for text in literals(without_tests(&source)) {
            for code in codes(&text) {
                for flag in unknown_flags(&root, &all, code) {
                    unknown.push(format!("{}: `{code}`: {flag}", path.display()));
                }
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

#[test]
fn a_flag_that_does_not_exist_is_found() {
    let mut root = Cli::command();
    root.build();
    let all = all_flags(&root);
    let found = |text: &str| {
        let texts = literals(text);
        let codes = texts.iter().flat_map(|text| codes(text));
        codes.flat_map(|code| unknown_flags(&root, &all, code)).collect::<Vec<_>>()
    };
    assert_eq!(
        found(r#"hint("raise `--budget`, or pass `--skip-branch-check`")"#),
        ["--skip-branch-check"]
    );
    assert_eq!(found(r#"hint("run `convoke brief init --force`")"#), ["--force"]);
    assert_eq!(found(r#"hint("`convoke design --no-branch` stays; `git stash --all`")"#), [""; 0]);
    assert_eq!(
        found("hint(format!(\"convoke resume {id} \\\n   --budgets MORE\"))"),
        ["--budgets"]
    );
    assert_eq!(
        found("// `--in-a-comment`\nlet x = '\"'; r#\"`--in-raw-text`\"#"),
        ["--in-raw-text"]
    );
}

fn sources() -> Vec<PathBuf> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders: Vec<_> =
        ["app", "service", "engine", "domain"].map(|name| crates.join(name).join("src")).into();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && path.file_name().is_none_or(|name| name != "tests") {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") && !is_test(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

fn is_test(path: &Path) -> bool {
    path.file_stem().is_some_and(|name| name == "tests" || name == "hint_flags")
}

fn without_tests(source: &str) -> &str {
    source.split("#[cfg(test)]\nmod ").next().unwrap_or_default()
}

/// Returns the string literals of a source, with their escapes as they are, and with continued lines
/// joined.
fn literals(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    while let Some(at) = rest.find(['"', '/', '\'', 'r']) {
        let tail = &rest[at..];
        let skipped = if tail.starts_with("//") {
            tail.find('\n').unwrap_or(tail.len())
        } else if tail.starts_with("'\"'") || tail.starts_with("'\\") {
            3
        } else if let Some(hashes) = raw_start(tail) {
            let end = format!("\"{}", "#".repeat(hashes));
            let start = hashes + 2;
            let length = tail[start..].find(&end).unwrap_or(tail.len() - start);
            found.push(tail[start..start + length].to_owned());
            (start + length + end.len()).min(tail.len())
        } else if let Some(inside) = tail.strip_prefix('"') {
            let length = closing_quote(inside);
            found.push(joined(&inside[..length]));
            (length + 2).min(tail.len())
        } else {
            1
        };
        rest = &tail[skipped..];
    }
    found
}

/// Returns the number of hashes of a raw literal that begins here.
fn raw_start(tail: &str) -> Option<usize> {
    let after = tail.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

fn closing_quote(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at,
            _ => {}
        }
    }
    text.len()
}

fn joined(literal: &str) -> String {
    let mut parts = literal.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.trim_start())
}

/// Returns what a text sets in back-ticks, or all of it if it is a command itself.
fn codes(text: &str) -> Vec<&str> {
    if text.starts_with("convoke ") {
        return vec![text];
    }
    text.split('`').skip(1).step_by(2).collect()
}

fn unknown_flags(root: &Command, all: &BTreeSet<String>, code: &str) -> Vec<String> {
    let words: Vec<_> = code.split_whitespace().collect();
    let is_read_by_hand = |flag: &String| READ_BY_HAND.contains(&flag.as_str());
    let flags = words.iter().filter_map(|word| flag(word)).filter(|flag| !is_read_by_hand(flag));
    match words.first() {
        Some(&"convoke") => {
            let known = flags_of(root, &words[1..]);
            flags.filter(|flag| !known.contains(flag)).map(|flag| format!("--{flag}")).collect()
        }
        Some(word) if word.starts_with("--") => flags
            .take(1)
            .filter(|flag| !all.contains(flag))
            .map(|flag| format!("--{flag}"))
            .collect(),
        Some(_) | None => Vec::new(),
    }
}

fn flag(word: &str) -> Option<String> {
    let name = word.strip_prefix("--")?;
    let end = name.find(|c: char| !c.is_ascii_lowercase() && c != '-' && !c.is_ascii_digit());
    Some(name[..end.unwrap_or(name.len())].to_owned()).filter(|name| !name.is_empty())
}

/// Returns the flags of the command that the words name.
fn flags_of(root: &Command, words: &[&str]) -> BTreeSet<String> {
    let mut flags = own_flags(root);
    let mut command = root;
    for word in words {
        let word = word.trim_end_matches([',', ';', '.', ':']);
        let Some(below) = command.find_subcommand(word) else { continue };
        command = below;
        flags.extend(own_flags(command));
    }
    flags
}

fn own_flags(command: &Command) -> BTreeSet<String> {
    let long = command.get_arguments().filter_map(Arg::get_long_and_visible_aliases);
    let mut flags: BTreeSet<_> = long.flatten().map(str::to_owned).collect();
    flags.extend(["help", "version"].map(str::to_owned));
    flags
}

fn all_flags(command: &Command) -> BTreeSet<String> {
    let mut flags = own_flags(command);
    for below in command.get_subcommands() {
        flags.extend(all_flags(below));
    }
    flags
}
