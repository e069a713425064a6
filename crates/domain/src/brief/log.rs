//! The contract's log lines: other programs match them word by word.

use std::fmt;

use super::name::BriefName;
use super::settings::{BriefSettings, Configured};
use super::{BriefEntry, DocumentOutcome, Folder};

/// One line for the log channel, never for the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLine<'a> {
    /// The project has no settings for the brief.
    NotConfigured,
    /// There is no design folder.
    NotInitialized,
    /// The same in the original's words, which name another tool's command.
    NotInitializedLiteral,
    /// A document is still its scaffold.
    Skipped(&'a BriefName),
    /// Every document that could be read is still its scaffold.
    AllScaffold,
    /// A document was dropped. Not part of the contract; reported only on request.
    Dropped(&'a BriefName),
}

impl fmt::Display for LogLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConfigured => f.write_str("design_docs not configured — using defaults"),
            Self::NotInitialized => f.write_str(
                "design docs not initialized — run `convoke brief init` to create a design folder",
            ),
            Self::NotInitializedLiteral => f.write_str(
                "design docs not initialized — run /moai init or SPEC-DESIGN-DOCS-001 to create",
            ),
            Self::Skipped(name) => write!(f, "skip: {name} — _TBD_ only"),
            Self::AllScaffold => {
                f.write_str("design docs present but all are _TBD_ — no content loaded")
            }
            Self::Dropped(name) => write!(f, "drop: {name} — over token budget"),
        }
    }
}

pub(super) fn lines<'a>(
    settings: &BriefSettings,
    folder: &Folder,
    entries: &[BriefEntry<'a>],
) -> Vec<LogLine<'a>> {
    let mut lines = Vec::new();
    if *folder == Folder::GateClosed {
        return lines;
    }
    if settings.configured == Configured::Nowhere {
        lines.push(LogLine::NotConfigured);
    }
    if *folder == Folder::Missing {
        lines.push(if settings.literal_source {
            LogLine::NotInitializedLiteral
        } else {
            LogLine::NotInitialized
        });
    }
    let scaffolds =
        entries.iter().filter(|entry| matches!(entry.fate, DocumentOutcome::Scaffold(_)));
    let before = lines.len();
    lines.extend(scaffolds.map(|entry| LogLine::Skipped(entry.name)));
    let read = entries
        .iter()
        .filter(|entry| {
            !matches!(entry.fate, DocumentOutcome::Absent | DocumentOutcome::Unreadable(_))
        })
        .count();
    if read > 0 && lines.len() - before == read {
        lines.push(LogLine::AllScaffold);
    }
    lines
}
