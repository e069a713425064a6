//! The ledgers of the original workflow: when its steps began and how long agents took, and what
//! they used. Several programs write to the same two files, so every byte of a row is agreed on.
//!
//! Nothing here may stop a workflow: an error is a warning, and a row that is not written.

pub mod bracket;
pub mod of_lanes;
pub mod place;
pub mod request;
pub mod timing;
pub mod timing_report;
pub mod token_report;
pub mod tokens;

/// Agents that a row may be about.
pub const VENDORS: [&str; 3] = ["codex", "cursor", "gemini"];

/// Words that are no request, or a value that a ledger does not take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LedgerMisuse(String);

impl LedgerMisuse {
    fn new(text: impl Into<String>) -> Self {
        // Typed text must not begin a new line.
        Self(text.into().replace(char::is_control, " "))
    }
}

/// Returns a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\r', '\n'], " ")
}
