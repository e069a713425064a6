//! The program's texts: its string literals. Its help texts are comments, which `comments` checks.

use std::fs;
use std::path::{Path, PathBuf};

use super::literals::texts;
use super::{BUDGET, HIDING, held, prose};

/// Literals that say a listed word, with the reason. Nothing may be added but lines that others
/// depend on.
const CONTRACTS: [(&str, &str); 15] = [
    // Lines of the original workflow, which other programs and recorded runs depend on.
    ("crates/domain/src/design/render/warnings.rs", "synthesis decision stands."),
    ("crates/domain/src/design/resolution.rs", "over-cap"),
    ("crates/domain/src/design/resolution.rs", "(no debate — ranked outside cap)"),
    ("crates/domain/src/design/resolution.rs", "dialectic selection cap"),
    ("crates/domain/src/design/resolution.rs", "Why over-cap"),
    ("crates/domain/src/dispatch/prompt.rs", "FAILED at iteration cap"),
    ("crates/page/src/run/decisions.rs", "over-cap"),
    ("crates/domain/src/lane/budget_stop.rs", "Token budget cap hit"),
    // Lines of artifacts, whose hashes recorded runs hold until the rules have a new version.
    ("crates/domain/src/design/ballot.rs", "Judge each item on its merits, whoever raised it."),
    ("crates/domain/src/design/prompt.rs", "which binds everybody"),
    ("crates/domain/src/design/outcome.rs", "Nobody said how the plan was revised for it."),
    ("crates/domain/src/design/render/independence.rs", "nobody has voted or judged"),
    ("crates/domain/src/design/render/independence.rs", "nobody was replaced"),
    // Words of a person, which the program reads.
    ("crates/domain/src/design/discussion.rs", "whatever"),
    ("crates/domain/src/design/discussion.rs", "whatever you think"),
];

/// Returns the sources of a folder, without its tests.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_tests = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_tests {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") && !is_tests {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Returns every source of the program with its path, up to its tests.
fn program() -> Vec<(String, String)> {
    let root = xtask::root();
    let folders = fs::read_dir(root.join("crates")).unwrap();
    let paths = folders.flat_map(|krate| sources(&krate.unwrap().path().join("src")));
    let is_test = |line: &&str| line.starts_with("#[cfg(") && line.contains("test");
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        let code: Vec<_> = text.lines().take_while(|line| !is_test(line)).collect();
        (path.strip_prefix(&root).unwrap().display().to_string(), code.join("\n"))
    };
    paths.map(read).collect()
}

/// Returns the listed words of a text that a person reads.
fn listed(text: &str) -> Vec<&'static str> {
    let lines = prose(text);
    lines.iter().flat_map(|line| [held(line, &HIDING), held(line, &BUDGET)].concat()).collect()
}

fn is_contract(path: &str, text: &str) -> bool {
    CONTRACTS.iter().any(|(file, line)| path == *file && text.contains(line))
}

#[test]
fn the_program_names_who_acts() {
    let mut found = Vec::new();
    for (path, source) in program() {
        let literals = texts(&source).literals;
        for literal in literals.iter().filter(|literal| !is_contract(&path, &literal.text)) {
            for phrase in listed(&literal.text) {
                found.push(format!("{path}:{}: {phrase}", literal.line));
            }
        }
    }
    assert!(found.is_empty(), "say who does what, in the reader's words: {found:#?}");
}

/// The words of [`HIDING`] for a person without a role. Prompts are older than the rest of the list.
const ROLELESS: [&str; 5] = ["nobody", "anybody", "everybody", "somebody", "whoever"];

/// Returns the Markdown files below a folder.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(markdown(&path));
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
    found
}

/// Prompts that designs keep as artifacts: a recount compares them with those of recorded runs.
const RECORDED: [&str; 2] = ["debate/antithesis.md", "debate/debate.md"];

// Prompts, rubrics and templates are Markdown files beside the sources.
#[test]
fn prompts_name_who_acts() {
    let folders = fs::read_dir(xtask::root().join("crates")).unwrap();
    let files: Vec<_> =
        folders.flat_map(|krate| markdown(&krate.unwrap().path().join("src"))).collect();
    assert!(files.len() > 30, "the prompts are elsewhere: {files:?}");
    let mut found = Vec::new();
    for path in files.iter().filter(|path| !RECORDED.iter().any(|kept| path.ends_with(kept))) {
        for (index, line) in prose(&fs::read_to_string(path).unwrap()).iter().enumerate() {
            for phrase in held(line, &ROLELESS) {
                found.push(format!("{}:{}: {phrase}", path.display(), index + 1));
            }
        }
    }
    assert!(found.is_empty(), "say who does what, in the reader's words: {found:#?}");
}

// Every exception must be needed, so that the list can only shrink.
#[test]
fn every_excepted_line_is_needed() {
    let program = program();
    for (file, line) in CONTRACTS {
        let (_, source) = program.iter().find(|(path, _)| path == file).unwrap();
        let is_needed = |text: &str| text.contains(line) && !listed(text).is_empty();
        let is_said = texts(source).literals.iter().any(|literal| is_needed(&literal.text));
        assert!(is_said, "{file} needs no exception for `{line}`");
    }
}
