//! The plan, and how the draft became it.

use convoke_service::run::{PlanVersionReport, RunShowReport};
use maud::{Markup, html};

use super::citations::citations;
use crate::diff::{changes, matter_link};
use crate::markdown::{markdown, plain};

/// Shows the present plan and every change to it.
pub fn plan(report: &RunShowReport) -> Markup {
    let plans = &report.evidence.plans;
    let Some(last) = plans.last() else {
        return html! {
            section #plan aria-labelledby="plan-title" {
                h2 #plan-title { "Plan" }
                p.soft { "There is no plan yet." }
            }
        };
    };
    html! {
        section #plan aria-labelledby="plan-title" {
            h2 #plan-title { "Plan" }
            details data-open="plan" open[plans.len() == 1] {
                summary {
                    @if plans.len() == 1 { "The plan, as drafted" } @else { "The plan, after " (revisions(plans.len() - 1)) }
                }
                div.prose.document tabindex="0" role="group" aria-label="Plan" { (markdown(&last.text)) }
            }
            (citations(report, |citation| citation.part == "plan"))
            @for (place, pair) in plans.windows(2).enumerate() {
                (revision(report, place + 1, &pair[0], &pair[1]))
            }
        }
    }
}

fn revisions(count: usize) -> String {
    if count == 1 { "1 revision".to_owned() } else { format!("{count} revisions") }
}

fn revision(
    report: &RunShowReport,
    number: usize,
    before: &PlanVersionReport,
    after: &PlanVersionReport,
) -> Markup {
    let notes = after.matters.iter().filter_map(|id| {
        let finding = report.results.findings.iter().find(|finding| finding.id == *id)?;
        Some((id, finding.note.as_deref()?))
    });
    let what = if number == 1 { "Draft against revised plan" } else { "The next revision" };
    html! {
        h3 { (what) }
        p {
            @if after.cause == "interview" {
                "Revised for a person's answers about the plan."
            } @else if after.matters.is_empty() {
                "Revised; no finding is named here."
            } @else {
                "Revised for "
                @for (place, id) in after.matters.iter().enumerate() {
                    @if place > 0 { ", " }
                    (matter_link(id))
                }
                "."
            }
        }
        ul.notes {
            @for (id, note) in notes {
                li { (matter_link(id)) ": " (plain(note)) }
            }
        }
        (changes(&before.text, after))
    }
}
