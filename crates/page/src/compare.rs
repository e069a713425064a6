//! Two runs side by side: figures, findings that only one has, and both plans.

use convoke_service::run::{ComparedFindingReport, ComparedRunReport, RunComparisonReport};
use maud::{Markup, html};

use crate::components::{money, number};
use crate::markdown::{markdown, plain};
use crate::run::{RUN_STYLE_PATH, run_path};

/// Shows two runs side by side.
pub fn compare_runs(report: &RunComparisonReport) -> Markup {
    let RunComparisonReport { first, second, shared } = report;
    html! {
        link rel="stylesheet" href=(RUN_STYLE_PATH);
        h1 { "Two runs side by side" }
        (figures(first, second))
        section aria-labelledby="findings-title" {
            h2 #findings-title { "Findings" }
            p.soft { "Two findings are the same if their titles have the same words." }
            div.columns {
                (only(first))
                (only(second))
            }
            h3 { "In both: " (shared.len()) }
            ul {
                @for pair in shared {
                    li {
                        (pair.first.id) " and " (pair.second.id) ": " (plain(&pair.first.title)) " ("
                        (pair.first.verdict.unwrap_or("not voted on")) ", "
                        (pair.second.verdict.unwrap_or("not voted on")) ")"
                    }
                }
            }
        }
        section aria-labelledby="plans-title" {
            h2 #plans-title { "Plans" }
            div.columns {
                (plan(&first.run, first.plan.as_deref()))
                (plan(&second.run, second.plan.as_deref()))
            }
        }
    }
}

/// A row of the table of two runs.
type Figure = (&'static str, fn(&ComparedRunReport) -> String);

const FIGURES: [Figure; 8] = [
    ("ending", |run| run.ending.clone()),
    ("words of the plan", |run| {
        run.plan
            .as_ref()
            .map_or("–".to_owned(), |plan| number(plan.split_whitespace().count() as u64))
    }),
    ("accepted findings", |run| number(run.accepted_findings)),
    ("warnings", |run| number(run.warnings as u64)),
    ("lanes", |run| number(run.cost.lanes)),
    ("tokens read", |run| number(run.cost.input_tokens)),
    ("tokens written", |run| number(run.cost.output_tokens)),
    ("cost", |run| money(run.cost.micro_dollars)),
];

fn figures(first: &ComparedRunReport, second: &ComparedRunReport) -> Markup {
    let head = |run: &ComparedRunReport| {
        html! {
            a.mono href=(run_path(&run.run)) { (run.run) }
            br;
            (plain(&run.feature))
        }
    };
    html! {
        div.scroll tabindex="0" role="group" aria-label="Table" {
            table {
                caption { "In figures" }
                thead {
                    tr {
                        th scope="col" { "" }
                        th.title scope="col" { (head(first)) }
                        th.title scope="col" { (head(second)) }
                    }
                }
                tbody {
                    @for (name, of) in FIGURES {
                        tr data-row {
                            th scope="row" { (name) }
                            td { (of(first)) }
                            td { (of(second)) }
                        }
                    }
                }
            }
        }
    }
}

fn only(run: &ComparedRunReport) -> Markup {
    let entry = |finding: &ComparedFindingReport| {
        html! {
            li data-row {
                a href={ (run_path(&run.run)) "#" (finding.id) } { (finding.id) } " " (plain(&finding.title))
                " (" (finding.verdict.unwrap_or("not voted on")) ")"
            }
        }
    };
    html! {
        article.card {
            h3 { "Only in " span.mono { (run.run) } ": " (run.only_here.len()) }
            @if run.only_here.is_empty() { p.soft { "None." } }
            ul { @for finding in &run.only_here { (entry(finding)) } }
        }
    }
}

fn plan(name: &str, text: Option<&str>) -> Markup {
    html! {
        article.card {
            h3 { (name) }
            @match text {
                Some(text) => { div.prose.document tabindex="0" role="group" aria-label="Plan" { (markdown(text)) } }
                None => { p.soft { "There is no plan yet." } }
            }
        }
    }
}
