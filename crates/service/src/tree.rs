//! Whether a working tree is still as it was, for programs that run agents themselves.

use std::path::{Path, PathBuf};

use convoke_domain::tree::sidecar::{TreeMode, TreeNote, TreeRequest};
use convoke_domain::tree::{DirtyReason, TreeStatus};
use convoke_engine::git::sidecar::{check, read, write_baseline};
use serde::Serialize;

use crate::session::Session;

/// The result of a check of the tree.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeNoteReport {
    /// The file that the check left, where several are read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Whether the tree is clean, dirty, or unknown.
    pub status: &'static str,
    /// The kind of comparison.
    pub mode: Option<&'static str>,
    /// Whether there was a list to compare with.
    pub has_baseline: Option<bool>,
    /// The file that lists what changed of what git knows.
    pub tracked_paths_file: Option<String>,
    /// The file that lists untracked files.
    pub new_untracked_paths_file: Option<String>,
    /// Why the tree is not clean, or nothing is known.
    pub reason: Option<&'static str>,
}

/// The notes of several checks.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct TreeNotesReport {
    /// One for each file.
    pub notes: Vec<TreeNoteReport>,
    /// Whether all of them report a clean tree.
    #[serde(skip)]
    pub is_clean: bool,
}

/// A list of the files that git does not know yet.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeBaselineReport {
    /// The file to write; `None` unless exactly one was named.
    pub file: Option<String>,
    /// Whether there is a list now.
    pub written: bool,
    /// Why Convoke wrote no list.
    pub reason: Option<&'static str>,
}

/// Writes down which files git does not know yet, sorted, with a NUL behind each path, to the one file
/// that the words of a program name. A list that is there is not lost to words that are wrong.
pub fn write_untracked(session: &Session, words: &[String]) -> TreeBaselineReport {
    let [file] = words else { return TreeBaselineReport::without_file() };
    if file.is_empty() || file.starts_with('-') {
        return TreeBaselineReport::without_file();
    }
    let written = write_baseline(&session.project, Path::new(file));
    let reason = (!written).then_some("git or the file system refused");
    TreeBaselineReport { file: Some(file.clone()), written, reason }
}

impl TreeBaselineReport {
    const fn without_file() -> Self {
        Self { file: None, written: false, reason: Some("name exactly one file for it") }
    }
}

/// Checks the tree according to a program's words: `--mode`, `--baseline`, `--sidecar`. The reply's
/// reason reports an error in them.
pub fn check_tree(session: &Session, words: &[String]) -> TreeNote {
    match TreeRequest::parse(words) {
        Ok(request) => check(&session.project, &request),
        Err(reason) => TreeNote::unknown(None, Some(reason)),
    }
}

/// Reads what checks left.
pub fn read_notes(files: &[PathBuf]) -> TreeNotesReport {
    let notes: Vec<_> = files.iter().map(|file| (file, read(file))).collect();
    let is_clean = notes.iter().all(|(_, note)| note.status == TreeStatus::Clean);
    let report = |(file, note): (&PathBuf, TreeNote)| TreeNoteReport {
        file: Some(file.display().to_string()),
        ..TreeNoteReport::from(note)
    };
    TreeNotesReport { notes: notes.into_iter().map(report).collect(), is_clean }
}

impl From<TreeNote> for TreeNoteReport {
    fn from(note: TreeNote) -> Self {
        Self {
            file: None,
            status: note.status.name(),
            mode: note.mode.map(TreeMode::name),
            has_baseline: note.has_baseline,
            tracked_paths_file: note.tracked,
            new_untracked_paths_file: note.new_untracked,
            reason: note.reason.map(DirtyReason::name),
        }
    }
}
