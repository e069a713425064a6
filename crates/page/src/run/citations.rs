//! What agents cite, with what Convoke found there.

use convoke_service::run::{CitationReport, RunShowReport};
use maud::{Markup, html};

use crate::markdown::plain;

/// How many places of one text are listed; those that fail come first.
const MOST_PLACES: usize = 20;

/// Lists the citations of one text; nothing if it cites nothing.
pub(super) fn citations(
    report: &RunShowReport,
    is_meant: impl Fn(&CitationReport) -> bool,
) -> Markup {
    let mut listed: Vec<_> =
        report.evidence.citations.iter().filter(|citation| is_meant(citation)).collect();
    listed.sort_by_key(|citation| citation.verdict != "fails");
    let more = listed.len().saturating_sub(MOST_PLACES);
    html! {
        @if !listed.is_empty() {
            p.soft { "Cited, and looked up by Convoke:" }
            ul {
                @for citation in listed.iter().take(MOST_PLACES) { li { (one(citation)) } }
                @if more > 0 { li.soft { (more) " more" } }
            }
        }
    }
}

fn one(citation: &CitationReport) -> Markup {
    let tone = match citation.verdict {
        "holds" => "good",
        "fails" => "bad",
        _ => "warn",
    };
    html! {
        code { (plain(&citation.place)) } " " span.(tone) { (citation.found) }
        @if let Some(words) = &citation.words { " (“" (plain(words)) "”)" }
    }
}
