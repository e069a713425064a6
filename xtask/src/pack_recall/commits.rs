//! Commits to measure with: what each changed, and the words that it was announced with.

use std::path::Path;

use convoke_domain::repository_pack::is_lock_file;

use crate::Error;
use crate::process::command;

/// Commits that change more files are moves and renamings, which no feature describes.
const MOST_FILES: usize = 12;

/// A shorter message describes nothing.
const LEAST_WORDS: usize = 4;

/// A changed place of a file, by the text before the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChangedPlace {
    pub(super) path: String,
    /// Lines that were removed or changed; for new lines, the line before them.
    pub(super) lines: Vec<String>,
}

/// A commit that can be measured.
#[derive(Debug, Clone)]
pub(super) struct MeasuredCommit {
    pub(super) id: String,
    pub(super) parent: String,
    /// The message.
    pub(super) feature: String,
    /// Files of the parent that it changed.
    pub(super) files: Vec<String>,
    pub(super) places: Vec<ChangedPlace>,
}

/// Which half of the commits is measured: every other one is kept for tuning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Half {
    /// The commits that the published figures come from
    Report,
    /// The commits that weights may be tuned with
    Tune,
}

/// Returns the newest commits that qualify, of one half.
pub(super) fn commits(clone: &Path, half: Half, most: usize) -> Result<Vec<MeasuredCommit>, Error> {
    let listed = git(clone, &["log", "--no-merges", "--format=%H %P", "HEAD"])?;
    let pairs = listed.lines().filter_map(|line| line.split_once(' '));
    let mut found = Vec::new();
    let mut seen = 0;
    for (id, parent) in pairs {
        if found.len() == most {
            break;
        }
        let Some(commit) = qualify(clone, id, parent)? else { continue };
        seen += 1;
        let wanted = match half {
            Half::Report => seen % 2 == 0,
            Half::Tune => seen % 2 == 1,
        };
        if wanted {
            found.push(commit);
        }
    }
    Ok(found)
}

fn qualify(clone: &Path, id: &str, parent: &str) -> Result<Option<MeasuredCommit>, Error> {
    let feature = git(clone, &["log", "-1", "--format=%B", id])?;
    let feature = without_trailers(&feature);
    if feature.split_whitespace().count() < LEAST_WORDS {
        return Ok(None);
    }
    let names = git(clone, &["diff", "--no-renames", "--name-status", "-z", parent, id])?;
    let mut parts = names.split('\0');
    let (mut files, mut all) = (Vec::new(), 0);
    while let (Some(status), Some(name)) = (parts.next(), parts.next()) {
        all += 1;
        if matches!(status, "M" | "D") && !is_lock_file(name) {
            files.push(name.to_owned());
        }
    }
    if files.is_empty() || all > MOST_FILES {
        return Ok(None);
    }
    let diff = git(clone, &["diff", "--no-renames", "--no-color", "-U1", parent, id])?;
    let places = places(&diff, &files);
    let (id, parent) = (id.to_owned(), parent.to_owned());
    Ok(Some(MeasuredCommit { id, parent, feature, files, places }))
}

/// Lines such as `Signed-off-by:` and references to issues are no part of a feature.
fn without_trailers(message: &str) -> String {
    let is_trailer = |line: &&str| {
        ["Signed-off-by:", "Co-authored-by:", "Reviewed-by:"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    let kept: Vec<_> = message.lines().filter(|line| !is_trailer(line)).collect();
    kept.join("\n").trim().to_owned()
}

/// Reads the changed places of a diff with one line of context. Only lines of some length count: a brace
/// is everywhere.
fn places(diff: &str, files: &[String]) -> Vec<ChangedPlace> {
    let mut places: Vec<ChangedPlace> = Vec::new();
    let mut path = None;
    let mut context: Vec<String> = Vec::new();
    let mut removed: Vec<String> = Vec::new();
    let mut close =
        |path: &Option<String>, removed: &mut Vec<String>, context: &mut Vec<String>| {
            let lines =
                if removed.is_empty() { std::mem::take(context) } else { std::mem::take(removed) };
            context.clear();
            removed.clear();
            if let Some(path) = path.clone().filter(|_| !lines.is_empty()) {
                places.push(ChangedPlace { path, lines });
            }
        };
    for line in diff.lines() {
        if line.starts_with("diff --git ") || line.starts_with("@@ ") {
            close(&path, &mut removed, &mut context);
            if line.starts_with("diff ") {
                path = None;
            }
        } else if let Some(name) = line.strip_prefix("--- a/") {
            path = files.iter().find(|file| *file == name).cloned();
        } else if let Some(text) = line.strip_prefix('-') {
            keep(text, &mut removed);
        } else if let Some(text) = line.strip_prefix(' ') {
            keep(text, &mut context);
        }
    }
    close(&path, &mut removed, &mut context);
    places
}

fn keep(text: &str, lines: &mut Vec<String>) {
    const LEAST: usize = 8;
    let text = text.trim();
    if text.len() >= LEAST {
        lines.push(text.to_owned());
    }
}

/// Runs git in a folder, and returns what it prints.
pub(super) fn git(folder: &Path, arguments: &[&str]) -> Result<String, Error> {
    let done = command("git").arg("-C").arg(folder).args(arguments).output()?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    Err(format!("`git {}` failed: {}", arguments.join(" "), said.trim_end()).into())
}
