//! Facts of a design as text: notices as lines, results as files. Only here are they put into words
//! that programs read, and nothing reads them back.

mod files;
mod independence;

use std::borrow::Cow;

pub use self::files::files;
pub(super) use self::files::{accepted_findings, nothing_voted, rejected_findings, tally};
pub use self::independence::independence_in_short;

use super::board::Board;
use super::notice::Notice;
use super::progress::Breadcrumbs;
use super::quote;

/// A line to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Text: a breadcrumb, a warning, an artifact.
    Text(String),
    /// How the lanes of a phase stand; the next one takes its place where that can be done.
    Table(Board),
}

impl Line {
    /// Returns the text.
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Table(board) => Cow::Owned(board.text()),
        }
    }
}

/// Renders a notice. Agents' words cannot steer a terminal that shows it.
pub fn line(notice: &Notice, crumbs: &Breadcrumbs) -> Line {
    let text = match notice {
        Notice::LaneBoard(board) => return Line::Table(board.clone()),
        Notice::StepBegins { step, with: None } => crumbs.start(*step),
        Notice::StepBegins { step, with: Some(payload) } => crumbs.start_with(*step, payload),
        Notice::StepDone { step, what, seconds } => crumbs.done(*step, what, *seconds),
        Notice::StepSkipped { step, why, seconds } => crumbs.skipped(*step, why, *seconds),
        Notice::ArtifactSaved { saved, seconds } => crumbs.saved(*saved, *seconds),
        Notice::ArtifactText { heading, text } => format!("{heading}\n\n{}", text.trim_end()),
        Notice::Warning(text)
        | Notice::Reminder(text)
        | Notice::ResultText(text)
        | Notice::Words(text) => return Line::Text(quote::visible(text)),
    };
    Line::Text(quote::visible(&text))
}
