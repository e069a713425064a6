//! Renders a brief, byte for byte.

use std::borrow::Cow;
use std::fmt;

use super::name::BriefName;
use super::settings::BriefSettings;
use super::{BriefEntry, DocumentOutcome};
use crate::text::CharOffset;

/// Returns the first line, which names the folder as citations do.
fn header(settings: &BriefSettings) -> String {
    format!("## Design Context (from {}/)\n", settings.cited_dir())
}

/// The rendered block. It borrows the documents, so printing copies nothing.
#[derive(Debug, Clone)]
pub struct BriefBlock<'a> {
    pieces: Vec<Cow<'a, str>>,
}

impl<'a> BriefBlock<'a> {
    pub(super) fn nothing() -> Self {
        Self { pieces: Vec::new() }
    }

    pub(super) fn render(settings: &BriefSettings, entries: &[BriefEntry<'a>]) -> Self {
        let mut pieces = vec![Cow::Owned(header(settings))];
        for entry in entries {
            if let Some(text) = entry.included() {
                let source = source_line(settings, entry.name);
                pieces.push(Cow::Owned(format!("\n{source}\n")));
                pieces.push(Cow::Borrowed(text.as_str().trim_end_matches(['\r', '\n'])));
                pieces.push(Cow::Borrowed("\n"));
            }
            if let DocumentOutcome::Cut(_, cut) = entry.fate {
                let marker = truncated_line(&entry.name.file_name(), cut.at);
                pieces.push(Cow::Owned(format!("\n{marker}\n")));
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

impl fmt::Display for BriefBlock<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().try_for_each(|piece| f.write_str(piece))
    }
}

/// Returns the line that cites a document.
pub(super) fn source_line(settings: &BriefSettings, name: &BriefName) -> String {
    format!("> source: {}/{}", settings.cited_dir(), name.file_name())
}

/// Returns the line that marks a cut.
pub(super) fn truncated_line(file: &str, at: CharOffset) -> String {
    format!("> truncated: {file} at char_offset={at}")
}

/// Returns one item per unreadable document, in priority order.
pub fn warnings(entries: &[BriefEntry<'_>]) -> Vec<String> {
    entries
        .iter()
        .filter_map(|entry| match entry.fate {
            DocumentOutcome::Unreadable(reason) => {
                Some(format!("{} unreadable: {reason}", entry.name))
            }
            DocumentOutcome::Absent
            | DocumentOutcome::Scaffold(_)
            | DocumentOutcome::Whole(_)
            | DocumentOutcome::Cut(..)
            | DocumentOutcome::Dropped(..) => None,
        })
        .collect()
}
