//! Writes a configuration file for a project whose documents are in another folder than the
//! default.

use std::fs;
use std::path::Path;

use convoke_engine::file::stays_inside;

use crate::settings::{LOCAL_FILE, PROJECT_FILE};

/// The default folder for documents.
const DEFAULT_DIR: &str = ".moai/design";

/// The documents that Convoke reads there.
const DEFAULT_NAMES: [&str; 4] = ["spec", "system", "research", "pencil-plan"];

/// Where projects keep such documents.
const USUAL_DIRS: [&str; 4] = ["docs/design", "design", "docs/specs", "specs"];

/// How many documents a brief is made of at most here; the user can name more.
const MOST_NAMES: usize = 8;

/// A configuration that differs from the default.
pub(super) struct Configuration {
    /// The difference, in a few words.
    pub(super) what: String,
    /// The file's text, with comments.
    pub(super) text: String,
}

/// Returns the configuration that a project needs; `None` if the defaults fit, or if it has one.
pub(super) fn configuration(project: &Path) -> Option<Configuration> {
    let has_file = |name: &str| project.join(name).symlink_metadata().is_ok();
    if has_file(PROJECT_FILE) || has_file(LOCAL_FILE) || has_file(".moai") {
        return None;
    }
    let (dir, names) = USUAL_DIRS.iter().find_map(|dir| Some((*dir, documents(project, dir)?)))?;
    let is_usual = names.iter().any(|name| DEFAULT_NAMES.contains(&name.as_str()));
    let priority = if is_usual { String::new() } else { priority(&names) };
    let text = format!(
        "# Settings of this project for all who work on it; `convoke config list` shows all.\n\
         \n\
         [brief]\n\
         # The documents that `convoke brief` packs for agents (default: {DEFAULT_DIR}).\n\
         dir = \"{dir}\"\n{priority}"
    );
    Some(Configuration { what: format!("`convoke brief` reads {dir}"), text })
}

fn priority(names: &[String]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
    format!(
        "# Which of them, the most important first (default: {}).\npriority = [{}]\n",
        DEFAULT_NAMES.join(", "),
        quoted.join(", ")
    )
}

/// Returns the names of a folder's documents; `None` without any.
fn documents(project: &Path, dir: &str) -> Option<Vec<String>> {
    if !stays_inside(project, Path::new(dir)) {
        return None;
    }
    let entries = fs::read_dir(project.join(dir)).ok()?;
    let mut names: Vec<_> = entries
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".md")?.to_owned()))
        .filter(|name| is_plain(name))
        .collect();
    names.sort_unstable();
    names.truncate(MOST_NAMES);
    (!names.is_empty()).then_some(names)
}

/// Only such a name is one in every place that it is written to.
fn is_plain(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    !name.is_empty() && name.chars().all(is_word)
}
