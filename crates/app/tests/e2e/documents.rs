//! The README and the guides show the program's real behaviour.
//!
//! Blocks of a document are played in order, in a repository of their own:
//!
//! - the info string `LANGUAGE,file=PATH` is a file that the reader writes;
//! - `console` is a list of commands behind `$ `, each with all that it prints; a line `…` is any
//!   number of lines that the document leaves out, and ids of tasks need not be the same;
//! - `sh` is for commands that need an agent: they are parsed, not run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Parser;
use convoke::cli::Cli;

use crate::harness::Project;

/// One fenced block of a document.
struct Block {
    info: String,
    text: String,
}

fn blocks(document: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut fence: Option<String> = None;
    for line in document.lines() {
        match &fence {
            Some(open) if line == open => fence = None,
            Some(_) => found.last_mut().unwrap().text.extend([line, "\n"]),
            None if line.starts_with("```") => {
                let info = line.trim_start_matches('`');
                fence = Some(line[..line.len() - info.len()].to_owned());
                found.push(Block { info: info.to_owned(), text: String::new() });
            }
            None => {}
        }
    }
    assert!(fence.is_none(), "a fence is not closed");
    found
}

/// Returns where the ids of tasks in a text begin.
fn ids(text: &str) -> Vec<&str> {
    let places = text.match_indices("t-").filter_map(|(at, _)| text.get(at..at + 7));
    places.filter(|id| id[2..].bytes().all(|digit| digit.is_ascii_hexdigit())).collect()
}

fn without_ids(text: &str) -> String {
    ids(text).into_iter().fold(text.to_owned(), |text, id| text.replace(id, "t-ID"))
}

/// Tells whether lines are those that are shown, where `…` is any number of them.
fn fits(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"…", rest)) => (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..])),
        Some((first, rest)) => printed.split_first().is_some_and(|(line, others)| {
            without_ids(first) == without_ids(line) && fits(rest, others)
        }),
    }
}

/// Runs the commands of a block, and compares their output with the document's.
fn play(project: &Project, text: &str, known: &mut BTreeMap<String, String>) {
    for run in text.split("$ ").filter(|run| !run.is_empty()) {
        let (line, shown) = run.split_once('\n').unwrap_or((run, ""));
        let line = known.iter().fold(line.to_owned(), |line, (id, real)| line.replace(id, real));
        let outcome = project.shell(&format!("{line} 2>&1"), "");
        assert_eq!(outcome.code, Some(0), "{line}\n{outcome}");
        let printed: Vec<_> = outcome.stdout.trim_end().lines().map(str::trim_end).collect();
        let shown: Vec<_> = shown.trim_end().lines().collect();
        assert!(fits(&shown, &printed), "$ {line}\n{}", outcome.stdout);
        for (shown, printed) in shown.iter().zip(&printed) {
            let pairs = ids(shown).into_iter().zip(ids(printed));
            known.extend(pairs.map(|(id, real)| (id.to_owned(), real.to_owned())));
        }
    }
}

/// Splits a line as a shell does, as far as documents need it, up to a pipe, a comment or a file.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => quote = Some(letter),
            (None, '|' | '#' | '>') => break,
            (None, ' ') => words.push(String::new()),
            (_, letter) => words.last_mut().unwrap().push(letter),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Checks that clap accepts each Convoke command in a block.
fn parse(text: &str) {
    for line in text.replace("\\\n", " ").lines().filter(|line| line.starts_with("convoke ")) {
        let parsed = Cli::try_parse_from(words(line));
        assert!(parsed.is_ok(), "{line}\n{}", parsed.err().unwrap());
    }
}

fn follow(document: &Path) {
    let programs = Path::new(env!("CARGO_BIN_EXE_convoke")).parent().unwrap().display();
    let path = format!("{programs}:/usr/bin:/bin");
    let project = Project::new().in_repository("main").variable("PATH", &path);
    let mut known = BTreeMap::new();
    for block in blocks(&fs::read_to_string(document).unwrap()) {
        if let Some((_, path)) = block.info.split_once(",file=") {
            let path = project.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, block.text).unwrap();
        } else if block.info == "console" {
            play(&project, &block.text, &mut known);
        } else if block.info == "sh" {
            parse(&block.text);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn guide(name: &str) -> PathBuf {
    root().join("docs/guide").join(name)
}

#[test]
fn the_readme_can_be_followed() {
    follow(&root().join("README.md"));
}

#[test]
fn the_guide_to_designs_can_be_followed() {
    follow(&guide("plan-a-feature.md"));
}

#[test]
fn the_guide_to_wake_ups_can_be_followed() {
    follow(&guide("never-lose-your-place.md"));
}

#[test]
fn the_guide_to_dispatches_can_be_followed() {
    follow(&guide("send-reviewers.md"));
}

#[test]
fn the_guide_to_briefs_can_be_followed() {
    follow(&guide("feed-documents.md"));
}

#[test]
fn the_guide_to_lanes_can_be_followed() {
    follow(&guide("supervise-agents.md"));
}

#[test]
fn the_page_about_data_can_be_followed() {
    follow(&guide("your-data.md"));
}

#[test]
fn lines_that_are_shown_are_compared() {
    assert!(fits(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(fits(&["t-1bef1  Model"], &["t-00000  Model"]));
    assert!(!fits(&["a"], &["a", "b"]) && !fits(&["a", "…", "d"], &["a", "b"]));
}
