//! A newcomer's first hour as a script: a fresh home, a fresh clone of a sample repository, and every
//! step's output as a page that a person can read.
//!
//! Two tests play it. `cargo xtask clients claude` plays it with the real client. An end-to-end test
//! of the program includes this file and plays the client by its recorded events, so that a plain test
//! run holds the same pages. So nothing here depends on either crate.

#[path = "newcomer/pages.rs"]
mod pages;
#[path = "newcomer/stable.rs"]
mod stable;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) use self::pages::{Acceptance, hold};
use self::stable::Stable;

/// Any reason why the hour did not end well.
pub(crate) type HourError = Box<dyn std::error::Error>;

/// The sample repository: a plan, a rule for agents, and a little code.
const SAMPLE: [(&str, &str); 4] = [
    ("README.md", "# Notes\n\nA program that keeps notes.\n"),
    ("AGENTS.md", "# Rules\n\nUse tabs.\n"),
    (
        "docs/plan.md",
        "# Settings\n\n**Goal:** Read settings from a file.\n\n### Task 1: Write the parser\n\n\
         Begin with a test for an empty file.\n\n### Task 2: Write the printer\n\n\
         Print what the parser reads.\n",
    ),
    ("src/main.sh", "#!/bin/sh\necho notes\n"),
];

/// One run of the client in the newcomer's session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A session begins.
    Begin,
    /// The session is compacted.
    Compact,
    /// The session goes on.
    GoOn,
}

impl Turn {
    /// Returns the page with what the client tells its hooks in this turn.
    pub(crate) const fn events_page(self) -> &'static str {
        match self {
            Self::Begin => "events-begin.jsonl",
            Self::Compact => "events-compact.jsonl",
            Self::GoOn => "events-go-on.jsonl",
        }
    }
}

/// The newcomer: a home, a project, and a client.
pub(crate) trait Newcomer {
    /// Returns the folder that holds the home and the project, and nothing else.
    fn top(&self) -> PathBuf;

    /// Prepares a program to run in the project, with the newcomer's environment alone.
    fn program(&self, name: &str) -> Command;

    /// Runs the client once.
    fn turn(&mut self, turn: Turn) -> Result<(), HourError>;

    /// Returns the one wake-up that the client's model received last.
    fn wake_up(&self) -> Result<String, HourError>;

    /// Takes what the client told its hooks in the last turn, if that was watched.
    fn watched_events(&mut self) -> Result<Option<String>, HourError> {
        Ok(None)
    }
}

/// A page: its file's name, and what is on it.
pub(crate) type Page = (&'static str, String);

/// Plays the hour and returns its pages. Fails if a step fails, or if the undone project is not the
/// cloned one, byte for byte.
pub(crate) fn play(newcomer: &mut impl Newcomer) -> Result<Vec<Page>, HourError> {
    clone_sample(newcomer)?;
    let project = newcomer.top().join("project");
    let before = tree(&project)?;
    let mut hour = Hour { stable: Stable::new(&newcomer.top()), pages: Vec::new() };
    hour.step(newcomer, "01-init.txt", &["init", "--yes"])?;
    hour.step(newcomer, "02-import.txt", &["task", "import", "docs/plan.md"])?;
    hour.turn(newcomer, Turn::Begin)?;
    hour.page("03-session-begins.txt", "what the model received", &newcomer.wake_up()?);
    hour.step(newcomer, "04-task-start.txt", &["task", "start"])?;
    hour.turn(newcomer, Turn::Compact)?;
    hour.turn(newcomer, Turn::GoOn)?;
    hour.page("05-after-compaction.txt", "what the model received", &newcomer.wake_up()?);
    hour.step(newcomer, "06-hooks-status.txt", &["hooks", "status", "claude"])?;
    hour.step(newcomer, "07-design.txt", &["design", "--rehearse", "--auto"])?;
    hour.step(newcomer, "08-status.txt", &["status"])?;
    hour.step(newcomer, "09-undo.txt", &["init", "--undo"])?;
    match difference(&before, &tree(&project)?) {
        None => Ok(hour.pages),
        Some(path) => Err(format!("after `init --undo`, {path} is not as it was").into()),
    }
}

/// The hour so far.
struct Hour {
    stable: Stable,
    pages: Vec<Page>,
}

impl Hour {
    /// Runs Convoke and keeps all that it prints.
    fn step(
        &mut self,
        newcomer: &impl Newcomer,
        page: &'static str,
        words: &[&str],
    ) -> Result<(), HourError> {
        let (stdout, stderr) = run(newcomer.program("convoke").args(words))?;
        let stderr = if stderr.is_empty() { stderr } else { format!("--- stderr\n{stderr}") };
        self.page(page, &format!("$ convoke {}", words.join(" ")), &(stdout + &stderr));
        Ok(())
    }

    /// Runs the client, and keeps what it told its hooks.
    fn turn(&mut self, newcomer: &mut impl Newcomer, turn: Turn) -> Result<(), HourError> {
        newcomer.turn(turn)?;
        if let Some(events) = newcomer.watched_events()? {
            self.pages.push((turn.events_page(), self.stable.text(&events)));
        }
        Ok(())
    }

    fn page(&mut self, page: &'static str, title: &str, text: &str) {
        let text = self.stable.text(text);
        self.pages.push((page, format!("{title}\n\n{}\n", text.trim_end())));
    }
}

/// Runs a program that must succeed; returns what it printed on stdout and on stderr.
fn run(command: &mut Command) -> Result<(String, String), HourError> {
    let ended = command.output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (stdout, stderr) = (text(&ended.stdout), text(&ended.stderr));
    if ended.status.success() {
        return Ok((stdout, stderr));
    }
    Err(format!("{command:?} failed: {}\n{stdout}{stderr}", ended.status).into())
}

/// Makes the sample repository with a commit, and clones it into the project's folder.
fn clone_sample(newcomer: &impl Newcomer) -> Result<(), HourError> {
    let sample = newcomer.top().join("home/sample");
    for (name, text) in SAMPLE {
        let path = sample.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&sample))?;
        fs::write(path, text)?;
    }
    let folder = sample.display().to_string();
    let who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
    for words in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["add", "--all"],
        &["commit", "--quiet", "--message=Keep notes"],
    ] {
        run(newcomer.program("git").args(who).args(["-C", &folder]).args(words))?;
    }
    run(newcomer.program("git").args(["clone", "--quiet", &folder, "."])).map(drop)
}

/// Every file below a folder with its bytes; folders have none.
type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// Reads a project. Two files of git's folder are left out: the index, which git may refresh at any
/// look at the working tree, and the id by which Convoke finds the stored tasks again.
fn tree(project: &Path) -> Result<Tree, HourError> {
    let mut found = Tree::new();
    let mut folders = vec![project.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let is_folder = fs::symlink_metadata(&path)?.is_dir();
            if is_folder {
                folders.push(path.clone());
            }
            let bytes = if is_folder { None } else { Some(fs::read(&path)?) };
            found.insert(path.strip_prefix(project)?.to_owned(), bytes);
        }
    }
    for file in [".git/index", ".git/convoke-id"] {
        found.remove(Path::new(file));
    }
    Ok(found)
}

/// Names the first path that is missing, new or changed.
fn difference(before: &Tree, after: &Tree) -> Option<String> {
    let paths = before.keys().chain(after.keys());
    let mut changed = paths.filter(|path| before.get(*path) != after.get(*path));
    changed.next().map(|path| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_that_is_not_as_it_was_is_named() {
        let tree = |files: &[(&str, &str)]| -> Tree {
            files.iter().map(|(name, text)| (name.into(), Some(text.as_bytes().into()))).collect()
        };
        let before = tree(&[("a", "1"), ("b", "2")]);
        assert_eq!(difference(&before, &before.clone()), None);
        for (after, named) in [
            (tree(&[("a", "1")]), "b"),
            (tree(&[("a", "1"), ("b", "3")]), "b"),
            (tree(&[("a", "1"), ("b", "2"), ("c", "")]), "c"),
        ] {
            assert_eq!(difference(&before, &after).as_deref(), Some(named));
        }
    }
}
