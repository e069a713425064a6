//! Reports that travel: one page, or one comment, that says what a run decided and can be checked
//! against the run's journal.
//!
//! Such a report holds only what follows from the journal, so that anyone with the journal can
//! render it again. Its first lines have a header with the run, the event, the hash of the journal's
//! chain, the program's version and how the report was made; `verify` renders the report anew with
//! these and compares every byte.

mod comment;
mod document;
mod header;
mod published;
mod shortened;
mod verdict;

use convoke_service::run::RunShowReport;

pub use self::header::{HeaderError, ReportForm, ReportHeader, read_header};
pub use self::verdict::{JournalAnswer, ReportCheck, verify};

/// The most bytes of a page.
pub const MOST_BYTES: usize = 3 * 1024 * 1024 - 1;

/// The most characters of a comment on a pull request or an issue.
pub const MOST_CHARACTERS: usize = 65_536;

/// The version of the reports' form. Every change to what a report looks like raises it: a program
/// with another number cannot tell whether a report is genuine.
pub const REPORT_FORMAT: u32 = 2;

/// How a report shows the run's diagram.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportDiagram {
    /// As this SVG.
    Drawn(String),
    /// As text.
    Text,
}

impl ReportDiagram {
    /// Returns the word in the header.
    const fn word(&self) -> &'static str {
        match self {
            Self::Drawn(_) => "svg",
            Self::Text => "text",
        }
    }
}

/// Renders a run as one page that needs nothing else.
pub fn html_report(report: &RunShowReport, diagram: &ReportDiagram) -> String {
    let header = ReportHeader::new(ReportForm::Html, report, diagram.word());
    let withheld = published::withheld_note(report);
    shortened::fitting(
        &document::LIMITS,
        |limits| {
            let shown = published::published(report, limits.text);
            let body = document::document(&shown, diagram, withheld.as_deref(), limits);
            header.before(&body)
        },
        |text| text.len() <= MOST_BYTES,
    )
}

/// Renders a run as Markdown for a pull request or an issue.
pub fn markdown_report(report: &RunShowReport) -> String {
    let header = ReportHeader::new(ReportForm::Markdown, report, "text");
    let withheld = published::withheld_note(report);
    shortened::fitting(
        &comment::LIMITS,
        |limits| {
            let shown = published::published(report, limits.text);
            header.before(&comment::comment(&shown, withheld.as_deref(), limits))
        },
        |text| text.chars().count() <= MOST_CHARACTERS,
    )
}

#[cfg(test)]
mod tests;
