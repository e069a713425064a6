//! How a brief reads, byte for byte.

use std::borrow::Cow;
use std::fmt;

use super::settings::Settings;
use super::{Entry, Fate};

/// The first line, whatever folder the documents come from.
pub const HEADER: &str = "## Design Context (from .moai/design/)";

/// The rendered block. It borrows the documents, so printing copies nothing.
#[derive(Debug, Clone)]
pub struct Block<'a> {
    pieces: Vec<Cow<'a, str>>,
}

impl<'a> Block<'a> {
    pub(super) fn nothing() -> Self {
        Self { pieces: Vec::new() }
    }

    pub(super) fn render(settings: &Settings, entries: &[Entry<'a>]) -> Self {
        let mut pieces = vec![Cow::Borrowed(HEADER), Cow::Borrowed("\n")];
        for entry in entries {
            if let Some(text) = entry.included() {
                let dir = settings.cited_dir();
                let file = entry.name.file_name();
                pieces.push(Cow::Owned(format!("\n> source: {dir}/{file}\n")));
                pieces.push(Cow::Borrowed(text.as_str().trim_end_matches(['\r', '\n'])));
                pieces.push(Cow::Borrowed("\n"));
            }
            if let Fate::Cut(_, cut) = entry.fate {
                let file = entry.name.file_name();
                let at = cut.at;
                pieces.push(Cow::Owned(format!("\n> truncated: {file} at char_offset={at}\n")));
            }
        }
        let warnings = warnings(entries);
        if !warnings.is_empty() {
            pieces.push(Cow::Owned(format!("\n> warnings: [{}]\n", warnings.join(", "))));
        }
        Self { pieces }
    }

    /// Returns the pieces in order; joined, they are the block.
    pub fn pieces(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().map(Cow::as_ref)
    }
}

impl fmt::Display for Block<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().try_for_each(|piece| f.write_str(piece))
    }
}

/// Returns one item per unreadable document, in priority order.
pub fn warnings(entries: &[Entry<'_>]) -> Vec<String> {
    entries
        .iter()
        .filter_map(|entry| match entry.fate {
            Fate::Unreadable(reason) => Some(format!("{} unreadable: {reason}", entry.name)),
            Fate::Absent
            | Fate::Scaffold(_)
            | Fate::Whole(_)
            | Fate::Cut(..)
            | Fate::Dropped(..) => None,
        })
        .collect()
}
