//! A report as one page: everything is in it, and nothing in it acts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use convoke_service::run::RunShowReport;
use maud::{Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use super::ReportDiagram;
use super::shortened::{Limits, cut, left_out};
use crate::layout::STYLE;
use crate::markdown::plain;
use crate::run::{
    DiagramView, RUN_STYLE, cost, decisions, diagram, findings, gantt, independence, journal, plan,
    summary, warnings,
};

/// What is tried until the page fits.
pub(super) const LIMITS: [Limits; 7] = [
    Limits { document: 400_000, text: 20_000, rows: 400 },
    Limits { document: 200_000, text: 8000, rows: 300 },
    Limits { document: 100_000, text: 4000, rows: 200 },
    Limits { document: 50_000, text: 1500, rows: 150 },
    Limits { document: 25_000, text: 600, rows: 100 },
    Limits { document: 10_000, text: 200, rows: 50 },
    Limits { document: 2000, text: 60, rows: 20 },
];

/// Why a diagram is not drawn.
const AS_TEXT: &str = "Convoke could not draw it when it made this page.";

/// The most bytes of a drawing. A larger one is shown as text.
const MOST_DRAWING: usize = 1024 * 1024;

/// Renders the page, after its first line.
pub(super) fn document(
    report: &RunShowReport,
    drawing: &ReportDiagram,
    withheld: Option<&str>,
    limits: Limits,
) -> String {
    let (report, cuts) = bounded(report, limits);
    let style = format!("{STYLE}{RUN_STYLE}");
    let policy = policy(&style);
    let view = match drawing {
        ReportDiagram::Drawn(svg) if svg.len() <= MOST_DRAWING => DiagramView::Picture(svg),
        ReportDiagram::Drawn(_) | ReportDiagram::Text => DiagramView::Text(AS_TEXT),
    };
    let page = html! {
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { (plain(&report.feature)) " · Convoke" }
                style { (PreEscaped(&style)) }
            }
            body.standalone {
                main #content {
                    (summary(&report))
                    @for note in withheld.into_iter().chain(cuts.iter().map(String::as_str)) { p.notice { (note) } }
                    (decisions(&report))
                    (findings(&report))
                    (undecided(&report))
                    (plan(&report))
                    (diagram(&report, &view))
                    (course(&report))
                    (independence(&report))
                    (cost(&report))
                    (warnings(&report))
                    (journal(&report))
                    (checking(&report))
                }
            }
        }
    };
    page.into_string() + "\n"
}

/// Only this style applies, only pictures in the page are shown, and nothing else happens.
fn policy(style: &str) -> String {
    let hash = STANDARD.encode(Sha256::digest(style.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; base-uri 'none'; \
         form-action 'none'"
    )
}

/// Cuts lists and long documents, and says so.
fn bounded(report: &RunShowReport, limits: Limits) -> (RunShowReport, Vec<String>) {
    let mut report = report.clone();
    let rows = limits.rows;
    let findings = &mut report.results.findings;
    let decisions = &mut report.results.decisions;
    let lanes = &mut report.timeline.lanes;
    let notes = [
        left_out(findings.len(), rows, "findings"),
        left_out(decisions.len(), rows, "decisions"),
        left_out(lanes.len(), rows, "lanes"),
        left_out(report.results.voices.len(), rows, "answers"),
        left_out(report.warnings.len(), rows, "warnings"),
        left_out(report.cost.seats.len(), rows, "seats"),
    ];
    findings.truncate(rows);
    decisions.truncate(rows);
    lanes.truncate(rows);
    report.results.voices.truncate(rows);
    report.warnings.truncate(rows);
    report.cost.seats.truncate(rows);
    let plans = &mut report.evidence.plans;
    // The draft and the present plan are worth more than what is between.
    if plans.len() > 6 {
        plans.drain(1..plans.len() - 5);
    }
    for plan in plans.iter_mut() {
        plan.text = cut(&plan.text, limits.document);
    }
    if let Some(text) = &mut report.evidence.diagram_text {
        *text = cut(text, limits.document);
    }
    (report, notes.into_iter().flatten().collect())
}

fn undecided(report: &RunShowReport) -> Markup {
    html! {
        @if !report.matters.undecided.is_empty() {
            section #undecided aria-labelledby="undecided-title" {
                h2 #undecided-title { "Left to a person" }
                ul {
                    @for matter in &report.matters.undecided {
                        li { a href={ "#" (matter.id) } { (matter.id) } " " (plain(&matter.title)) " (" (matter.panel) ")" }
                    }
                }
            }
        }
    }
}

fn course(report: &RunShowReport) -> Markup {
    html! {
        section #timeline aria-labelledby="timeline-title" {
            h2 #timeline-title { "Course" }
            (gantt(&report.timeline, None))
        }
    }
}

fn checking(report: &RunShowReport) -> Markup {
    html! {
        p.soft {
            "Made by Convoke " (env!("CARGO_PKG_VERSION")) ". In the project of run " (report.run) ", "
            code { "convoke verify FILE" } " says whether this page is as it was made."
        }
    }
}
