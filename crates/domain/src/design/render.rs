//! Facts of a design as text: notices as lines, results as files. Only here are they put into words
//! that programs read, and nothing reads them back.

mod files;
mod independence;
mod notes;
mod people;
mod warnings;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) use self::files::accepted_findings;
pub use self::files::files;
use self::files::{rejected_findings, tally};
pub use self::independence::independence_in_short;
pub use self::people::{is_same_failure, warnings_for_people};
pub use self::warnings::warnings;
#[cfg(test)]
pub(super) use self::warnings::{sentence, sentence_in};

use super::board::Board;
use super::event::Settings;
use super::notice::{Notice, ToldArtifact};
use super::outcome;
use super::outline::DesignOutline;
use super::progress::{Breadcrumbs, Shown};
use super::quote;
use super::resolution;

/// The heading of the tally and the scoreboard together.
const TALLY: &str = "## Voting Tally and Reviewer Competition Scoreboard";

/// A line of output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Text: a breadcrumb, a warning, an artifact.
    Text(String),
    /// The states of a phase's lanes; the next such line replaces it where the output allows that.
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

/// Renders all notices of a design so far.
pub fn lines(outline: &DesignOutline) -> Vec<Line> {
    let Some(settings) = &outline.settings else { return Vec::new() };
    outline.notices.iter().map(|notice| line(notice, settings)).collect()
}

/// Renders every artifact that a design has made so far, by file name.
pub fn artifacts(outline: &DesignOutline) -> BTreeMap<String, Arc<str>> {
    let settings = outline.settings.as_ref();
    settings.map(|settings| files(&outline.results, settings)).unwrap_or_default()
}

/// Renders a notice. Agents' words cannot steer a terminal that shows it.
pub fn line(notice: &Notice, settings: &Settings) -> Line {
    let crumbs = Breadcrumbs { prefix: settings.prefix.clone() };
    let text = match notice {
        Notice::LaneBoard(board) => return Line::Table(board.clone()),
        Notice::StepBegins { step, with: None } => crumbs.start(*step),
        Notice::StepBegins { step, with: Some(payload) } => crumbs.start_with(*step, payload),
        Notice::StepDone { step, what, seconds } => crumbs.done(*step, what, *seconds),
        Notice::DecisionsResolved { step, count, seconds } => {
            crumbs.resolved(*step, *count, *seconds)
        }
        Notice::StepSkipped { step, why, seconds } => crumbs.skipped(*step, why, *seconds),
        Notice::ArtifactSaved { saved, seconds } => crumbs.saved(*saved, *seconds),
        Notice::Artifact(artifact) => under_heading(artifact),
        Notice::Tally(review) => tally(review).trim_end().to_owned(),
        Notice::Independence(voices) => {
            let short = independence_in_short(voices, settings).unwrap_or_default();
            format!("**ℹ Independence — {short}. More in independence.md.**")
        }
        Notice::Warning(warning) | Notice::Reminder(warning) => {
            warnings::warning(warning, settings)
        }
        Notice::Note(note) => notes::note(note, settings, &crumbs),
    };
    Line::Text(quote::visible(&text))
}

/// Renders an artifact below its heading.
fn under_heading(artifact: &ToldArtifact) -> String {
    let (heading, text): (_, Cow<'_, str>) = match artifact {
        ToldArtifact::Synthesis(synthesis) => {
            (Shown::Synthesis.header(), synthesis.text.as_str().into())
        }
        ToldArtifact::Resolutions(resolutions) => {
            (Shown::Resolutions.header(), resolution::entries(resolutions).into())
        }
        ToldArtifact::Plan(plan) => (Shown::Plan.header(), (&*plan.text).into()),
        ToldArtifact::RevisedPlan(plan) => (Shown::RevisedPlan.header(), (&*plan.text).into()),
        ToldArtifact::Tally(review) => (TALLY, tally(review)),
        ToldArtifact::Accepted(review) => {
            (Shown::Accepted.header(), accepted_findings(review).into())
        }
        ToldArtifact::Rejected(review) => {
            (Shown::Rejected.header(), rejected_findings(review).into())
        }
        ToldArtifact::Declined(review) => {
            let declined = outcome::out_of_scope_declined(&review.findings, &review.tally);
            (Shown::OutOfScope.header(), declined.into())
        }
        ToldArtifact::OutOfScope(review) => {
            let all = outcome::out_of_scope(&review.findings, &review.tally);
            (Shown::OutOfScope.header(), all.into())
        }
        ToldArtifact::Diagram(fence) => (Shown::Diagram.header(), fence.trim().into()),
    };
    format!("{heading}\n\n{}", text.trim_end())
}
