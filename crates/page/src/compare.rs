//! Two runs side by side, or a run and the plan of one agent alone: figures, findings that only one
//! has, and both plans.

use convoke_domain::design::tally::FindingVerdict;
use convoke_service::run::{
    CompareReport, CompareSideReport, ComparedFindingReport, ComparedRunReport, RunComparisonReport,
};
use maud::{Markup, html};

use crate::components::{duration, empty, money, number, time};
use crate::markdown::{markdown, plain};
use crate::run::{RUN_STYLE_PATH, names_of_one, only_names, run_path};

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
                        (pair.first.verdict.map_or("not voted on", FindingVerdict::word)) ", "
                        (pair.second.verdict.map_or("not voted on", FindingVerdict::word)) ")"
                    }
                }
            }
        }
        (plans([&first.run, &second.run], [first.plan.as_deref(), second.plan.as_deref()]))
    }
}

/// Shows a run beside the plan that one agent wrote alone.
pub fn compare_with_single_pass(report: &CompareReport) -> Markup {
    let CompareReport { run, panel, single, findings, .. } = report;
    let accepted =
        findings.iter().filter(|finding| finding.verdict == Some(FindingVerdict::Accepted)).count();
    html! {
        link rel="stylesheet" href=(RUN_STYLE_PATH);
        h1 { "A run and its single pass" }
        p { (plain(&report.feature)) }
        p.soft {
            "After the run, " (plain(&report.agent))
            @if let Some(model) = &report.model { " (" (plain(model)) ")" }
            " planned the same feature alone, on " (time(&report.made_at))
            ". It knew neither the panel's plan nor its sketches, and its plan had no review."
        }
        @if !report.is_finished {
            p.warn { "The run has not ended, so the panel's plan is unfinished." }
        }
        @for decision in &report.decided { p.warn { (plain(decision)) } }
        (table(
            [html! { "Panel: " a.mono href=(run_path(run)) { (run) } }, html! { "Single pass" }],
            SIDES.map(|(name, of)| (name, of(panel), of(single))),
        ))
        section aria-labelledby="findings-title" {
            h2 #findings-title { "Findings that only the panel has" }
            @if findings.is_empty() {
                p.soft { "The panel's reviewers raised no finding." }
            } @else {
                p { (findings.len()) " raised, " (accepted) " accepted" (for_each(panel, accepted)) }
                ul { @for finding in findings { (finding_line(run, finding)) } }
            }
        }
        (plans(["Panel", "Single pass"], [Some(&report.panel_plan), Some(&report.single_plan)]))
    }
}

/// Returns the page before runs are chosen.
pub fn choose_runs() -> Markup {
    html! {
        h1 { "Compare" }
        div.empty {
            p { "Choose two runs: open one of them, and name the other one below its summary." }
            p { a href="/runs" { "Runs of this project" } }
        }
    }
}

/// Returns what one accepted finding cost, at the end of a sentence.
fn for_each(panel: &CompareSideReport, accepted: usize) -> String {
    let share = |micro: u64| micro.checked_div(accepted as u64);
    let cost = panel.micro_dollars.and_then(share);
    cost.map_or(".".to_owned(), |micro| format!("; {} for each of them.", money(Some(micro))))
}

/// Says how to get the plan of one agent alone.
pub fn no_single_pass(run: &str) -> Markup {
    html! {
        h1 { "A run and its single pass" }
        (empty(
            "This machine keeps no plan that one agent wrote alone for this run. The command below has \
             the run's host write one, which costs as much as one lane.",
            &format!("convoke compare {run}"),
        ))
        p { a href=(run_path(run)) { "Back to the run" } }
    }
}

/// Returns the path of the page with a run and its single pass.
pub fn single_pass_path(run: &str) -> String {
    format!("{}/single-pass", run_path(run))
}

/// A row of the table of a run and its single pass.
type SideFigure = (&'static str, fn(&CompareSideReport) -> String);

const SIDES: [SideFigure; 9] = [
    ("words of the plan", |side| number(side.words as u64)),
    ("tasks", |side| number(side.tasks as u64)),
    ("required sections that are missing", |side| number(side.missing as u64)),
    ("lanes", |side| number(side.lanes)),
    ("lanes that reported no usage", |side| number(side.without_usage)),
    ("tokens read", |side| side.input_tokens.map_or("not reported".to_owned(), number)),
    ("tokens written", |side| side.output_tokens.map_or("not reported".to_owned(), number)),
    ("cost", |side| money(side.micro_dollars)),
    ("work of all lanes together", |side| duration(side.seconds * 1000)),
];

/// Shows two plans, and what each of them names alone.
fn plans(names: [&str; 2], texts: [Option<&str>; 2]) -> Markup {
    let [first, second] = names_of_one(texts.map(Option::unwrap_or_default));
    html! {
        section aria-labelledby="plans-title" {
            h2 #plans-title { "Plans" }
            div.columns {
                (plan(names[0], texts[0], &first))
                (plan(names[1], texts[1], &second))
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
    table([head(first), head(second)], FIGURES.map(|(name, of)| (name, of(first), of(second))))
}

fn table<const ROWS: usize>(
    heads: [Markup; 2],
    rows: [(&'static str, String, String); ROWS],
) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Table" {
            table.figures {
                caption { "In figures" }
                thead {
                    tr {
                        td {}
                        @for head in heads { th.title scope="col" { (head) } }
                    }
                }
                tbody {
                    @for (name, first, second) in rows {
                        tr data-row {
                            th scope="row" { (name) }
                            td { (first) }
                            td { (second) }
                        }
                    }
                }
            }
        }
    }
}

fn finding_line(run: &str, finding: &ComparedFindingReport) -> Markup {
    html! {
        li data-row {
            a href={ (run_path(run)) "#" (finding.id) } { (finding.id) } " " (plain(&finding.title))
            " (" (finding.verdict.map_or("not voted on", FindingVerdict::word)) ")"
        }
    }
}

fn only(run: &ComparedRunReport) -> Markup {
    html! {
        article.card {
            h3 { "Only in " span.mono { (run.run) } ": " (run.only_here.len()) }
            @if run.only_here.is_empty() { p.soft { "None." } }
            ul { @for finding in &run.only_here { (finding_line(&run.run, finding)) } }
        }
    }
}

fn plan(name: &str, text: Option<&str>, only: &[String]) -> Markup {
    let label = format!("Plan: {name}");
    html! {
        article.card {
            h3 { (name) }
            @match text {
                Some(text) => {
                    (only_names("Only this plan names: ", only))
                    div.prose.document tabindex="0" role="group" aria-label=(label) { (markdown(text)) }
                }
                None => { p.soft { "There is no plan yet." } }
            }
        }
    }
}
