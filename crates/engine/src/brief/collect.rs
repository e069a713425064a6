//! Reading the documents that a person names.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use convoke_domain::brief::collection::{DocumentPath, NamedDocument};
use convoke_domain::finding::{FileFinding, Unreadable};

use super::secrets::SecretRules;
use super::selection::{Chosen, SelectedDocument};
use crate::lane::cancel::Cancel;
use crate::{batch, file};

/// The most bytes that are read for one block.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// How often a file that changes while Convoke reads it is read again.
const TRIES: usize = 3;

/// How to handle documents with a likely secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretHandling {
    /// They are packed, and the user is warned.
    Warn,
    /// They are left out.
    LeaveOut,
}

/// What bounds the reading of documents.
#[derive(Debug, Clone)]
pub struct ReadLimits {
    /// The most bytes of one document.
    pub max_file_bytes: u64,
    /// Ends the reading. The documents that are left count as unreadable, so the caller has to look
    /// whether it was cancelled.
    pub cancel: Cancel,
}

/// The documents, read.
#[derive(Debug, Clone, Default)]
pub struct Collected {
    /// The documents, in their order in the block.
    pub documents: Vec<NamedDocument>,
    /// Binary files that only a folder or pattern named. They are no documents.
    pub binaries: Vec<String>,
}

/// Reads documents, four at a time, and searches for likely secrets. It never fails: an unreadable
/// file is a finding.
pub fn collect(
    selected: &[SelectedDocument],
    limits: &ReadLimits,
    rules: &SecretRules,
    handling: SecretHandling,
) -> Collected {
    let allowed = within(selected, MOST_BYTES, limits.max_file_bytes);
    let tasks: Vec<_> = selected.iter().zip(allowed).collect();
    let found = batch::in_parallel(&tasks, |(document, is_allowed)| {
        if *is_allowed && !limits.cancel.is_cancelled() {
            open(document, limits.max_file_bytes, rules, handling)
        } else {
            let finding = FileFinding::Unreadable(Unreadable::BeyondTotal);
            NamedDocument { path: DocumentPath::new(&document.shown), finding, secrets: Vec::new() }
        }
    });
    let mut collected = Collected::default();
    for (document, (selected, _)) in found.into_iter().zip(tasks) {
        let is_binary = document.finding == FileFinding::Unreadable(Unreadable::Binary);
        if is_binary && selected.chosen == Chosen::ByPattern {
            collected.binaries.push(document.path.as_str().to_owned());
        } else {
            collected.documents.push(document);
        }
    }
    collected
}

/// Tells of each document whether it and those before it stay within a number of bytes. A file that is too
/// large by itself is never read, so it takes no room from the others.
fn within(selected: &[SelectedDocument], most: u64, most_of_file: u64) -> Vec<bool> {
    let mut total = 0_u64;
    let sizes = selected.iter().map(|document| {
        let size = fs::metadata(&document.path).map_or(0, |metadata| metadata.len());
        if size > most_of_file {
            return true;
        }
        total = total.saturating_add(size);
        total <= most
    });
    sizes.collect()
}

fn open(
    selected: &SelectedDocument,
    max_file_bytes: u64,
    rules: &SecretRules,
    handling: SecretHandling,
) -> NamedDocument {
    let mut finding = read_document(&selected.path, selected.boundary.as_deref(), max_file_bytes);
    let secrets = match &finding {
        FileFinding::Text(text) => rules.scan(&selected.shown, text),
        FileFinding::Absent | FileFinding::Unreadable(_) => Vec::new(),
    };
    if handling == SecretHandling::LeaveOut && !secrets.is_empty() {
        finding = FileFinding::Unreadable(Unreadable::Withheld);
    }
    NamedDocument { path: DocumentPath::new(&selected.shown), finding, secrets }
}

/// Reads one document. No link may lead out of its boundary, and a file that holds NUL bytes is
/// binary, whether or not the rest of it is text.
pub fn read_document(path: &Path, boundary: Option<&Path>, max_file_bytes: u64) -> FileFinding {
    let read = || match boundary {
        Some(folder) => file::read_below(folder, path, max_file_bytes),
        None => file::read(path, max_file_bytes),
    };
    let finding = steady(|| stamp(path), read);
    let is_binary = match &finding {
        FileFinding::Text(text) => text.as_bytes().contains(&0),
        FileFinding::Unreadable(reason) => *reason == Unreadable::InvalidUtf8 && holds_nul(path),
        FileFinding::Absent => false,
    };
    if is_binary { FileFinding::Unreadable(Unreadable::Binary) } else { finding }
}

/// Reads until the file is the same before and after, so that no half of a change is packed.
fn steady<S: PartialEq>(
    stamp: impl Fn() -> S,
    mut read: impl FnMut() -> FileFinding,
) -> FileFinding {
    for _ in 0..TRIES {
        let before = stamp();
        let finding = read();
        if before == stamp() {
            return finding;
        }
    }
    FileFinding::Unreadable(Unreadable::Changing)
}

fn stamp(path: &Path) -> Option<(PathBuf, u64, Option<SystemTime>)> {
    let metadata = fs::metadata(path).ok()?;
    Some((fs::canonicalize(path).ok()?, metadata.len(), metadata.modified().ok()))
}

/// Only files that were read before and are no text come here, so the size is within the limit.
fn holds_nul(path: &Path) -> bool {
    const LOOKED_AT: u64 = 64 * 1024 * 1024;
    file::bytes(path, LOOKED_AT).is_some_and(|bytes| bytes.contains(&0))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    // B-87
    #[test]
    fn a_file_that_changes_is_read_again_and_then_given_up() {
        let run = |changes: u32| {
            let clock = Cell::new(0);
            let read = || {
                clock.set(clock.get() + 1);
                FileFinding::Text(format!("read {}", clock.get()))
            };
            steady(|| clock.get().min(changes), read)
        };
        assert_eq!(run(0), FileFinding::Text("read 1".to_owned()));
        assert_eq!(run(1), FileFinding::Text("read 2".to_owned()));
        assert_eq!(run(9), FileFinding::Unreadable(Unreadable::Changing));
    }

    // B-87
    #[test]
    fn what_fills_the_memory_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let selected: Vec<_> = ["a", "b", "c"]
            .into_iter()
            .map(|name| {
                let path = folder.path().join(name);
                fs::write(&path, "12345").unwrap();
                let shown = name.to_owned();
                SelectedDocument { path, shown, boundary: None, chosen: Chosen::ByName }
            })
            .collect();
        assert_eq!(within(&selected, 10, 100), [true, true, false]);
        // What is never read takes no room.
        assert_eq!(within(&selected, 10, 3), [true, true, true]);
    }
}
