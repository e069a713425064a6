//! The page Dispatch: which documents each role read, round by round.

use convoke_service::dispatch::{
    DispatchMatrixReport, DispatchRateRow, FeatureMatrixReport, MatrixReceiptReport,
    MatrixReceiptState, MatrixRoundReport,
};
use maud::{Markup, html};

use crate::components::{empty, number, time, tokens};
use crate::run::RUN_STYLE_PATH;

/// Returns the page.
pub fn dispatch_page(report: &DispatchMatrixReport) -> Markup {
    html! {
        link rel="stylesheet" href=(RUN_STYLE_PATH);
        h1 { "Dispatch" }
        @if report.features.is_empty() {
            (empty("No role was dispatched in this project.", "convoke dispatch run --client claude COMMAND/ROLE"))
        } @else {
            (legend())
            @for feature in &report.features { (matrix(feature)) }
            @if report.left_out > 0 { p.soft { (number(report.left_out as u64)) " earlier features are not listed." } }
            (rates(&report.rates.roles, &report.rates.all))
            @if report.rates.escalate {
                p.failure { "More than a fifth of the first dispatches did not confirm that they read." }
            }
            @if report.rates.resumes_badly {
                p.failure { "More than a fifth of the tries to resume a session ended in a fresh start." }
            }
        }
    }
}

fn legend() -> Markup {
    use MatrixReceiptState::{Earlier, InDoubt, NoRecord, NotRead, Older, Part, Whole};
    let meanings = [
        (Whole, "the client's own record shows that the agent read all of it"),
        (Part, "some of its lines"),
        (Older, "a text that differs from the document"),
        (Earlier, "all of it, in an earlier round of the same session"),
        (InDoubt, "a command may have shown it; the record does not tell"),
        (NotRead, "nothing of it before the answer"),
        (NoRecord, "the client left no record"),
    ];
    html! {
        details {
            summary { "What the states mean" }
            ul.rows { @for (state, meaning) in meanings { li { (state_tag(state)) " " (meaning) } } }
            p.soft { "An empty cell: the round did not require the document. Open a state to see its evidence." }
        }
    }
}

fn state_tag(state: MatrixReceiptState) -> Markup {
    let (words, mark, class) = match state {
        MatrixReceiptState::Whole => ("whole", "✓", "good"),
        MatrixReceiptState::Part => ("part", "◐", "warn"),
        MatrixReceiptState::Older => ("older", "↺", "warn"),
        MatrixReceiptState::Earlier => ("earlier round", "✓", "warn"),
        MatrixReceiptState::InDoubt => ("in doubt", "?", "warn"),
        MatrixReceiptState::NotRead => ("not read", "✗", "bad"),
        MatrixReceiptState::NoRecord => ("no record", "–", "warn"),
    };
    html! { span class={ "tag " (class) } { span aria-hidden="true" { (mark) } " " (words) } }
}

fn matrix(feature: &FeatureMatrixReport) -> Markup {
    html! {
        section {
            h2 { (feature.feature) }
            @if feature.left_out > 0 { p.soft { (number(feature.left_out as u64)) " earlier rounds are not listed." } }
            div.scroll tabindex="0" role="group" aria-label={ "Receipts of " (feature.feature) } {
                table.matrix {
                    thead { tr {
                        th scope="col" { "Role" } th.number scope="col" { "Round" } th scope="col" { "Verdict" }
                        th scope="col" { "Prompt" }
                        th scope="col" { "Claim" }
                        @for document in &feature.documents { th scope="col" { (document) } }
                        th scope="col" { "When" }
                    } }
                    tbody { @for round in &feature.rounds { (row(round, &feature.documents)) } }
                }
            }
        }
    }
}

fn row(round: &MatrixRoundReport, documents: &[String]) -> Markup {
    html! {
        tr data-row {
            th scope="row" { (round.role) " " span.soft { (round.command) } }
            td.number { (round.iteration) }
            td { @match round.verdict.as_deref() {
                Some("PASS") => span.tag.good { "✓ PASS" },
                Some(word @ ("FAIL" | "UNPROVEN")) => span.tag.bad { "✗ " (word) },
                Some(word) => span.tag.warn { "? " (word) },
                None => span.soft { "none" },
            } }
            td { (prompt(round)) }
            td { @match round.confirmed {
                Some(true) => "confirms reading",
                Some(false) => span.tag.warn { "does not confirm" },
                None => "none required",
            } }
            @for document in documents { td { (cell(round, document)) } }
            td { (time(&round.at)) }
        }
    }
}

fn prompt(round: &MatrixRoundReport) -> Markup {
    html! {
        @match round.mode {
            "resume" => "resumed with a delta",
            "fallback" => "fresh after a failed resume",
            _ => "fresh",
        }
        @if let Some(why) = round.why { ": " (why) }
        @if let Some(chars) = round.prompt_chars { " · " (number(chars)) " characters" }
        @if let (Some(chars), Some(saved)) = (round.saved_chars, round.saved_tokens) {
            " · saved about " (tokens(saved)) " (" (number(chars)) " characters)"
        }
    }
}

fn cell(round: &MatrixRoundReport, document: &str) -> Markup {
    html! {
        @if let Some(cell) = round.receipts.get(document) {
            details {
                summary { (state_tag(cell.state)) span.hidden { " in " (document) } }
                (evidence(cell))
                @if round.confirmed.is_some() {
                    p.soft { "The answer " @if cell.is_named { "names" } @else { "does not name" } " it as read." }
                }
            }
        }
    }
}

/// Shows the calls and lines that a state follows from.
fn evidence(cell: &MatrixReceiptReport) -> Markup {
    html! {
        @match &cell.receipt {
            Some(receipt) => {
                p { "Reading: " (receipt.words()) "." }
                @if !receipt.shown_by.is_empty() {
                    ul { @for showing in &receipt.shown_by { li {
                        @match &showing.call {
                            Some(command) => code { (command) },
                            None => "the client, without a call of the agent",
                        }
                        " showed " (showing.lines.words())
                    } } }
                }
                @if let Some(command) = &receipt.doubt {
                    p { code { (command) } " may have shown it, or more of it." }
                }
            },
            None if cell.state == MatrixReceiptState::NoRecord => {
                p { "The client left no record of what its agent read." }
            },
            None => p { "An earlier version of Convoke checked this round and kept no lines and no calls." },
        }
    }
}

fn rates(roles: &[DispatchRateRow], all: &DispatchRateRow) -> Markup {
    html! {
        section {
            h2 { "How often roles read" }
            div.scroll tabindex="0" role="group" aria-label="Table" { table {
                thead { tr { th scope="col" { "Role" } th.number scope="col" { "Dispatches" } th.number scope="col" { "Not confirmed" }
                    th.number scope="col" { "With a record" } th.number scope="col" { "Unproven" }
                    th.number scope="col" { "Resumed" } th.number scope="col" { "Fell back" } } }
                tbody { @for row in roles.iter().chain([all]) { tr {
                    th scope="row" { (row.name) } td.number { (number(row.dispatches)) } td.number { (number(row.warnings)) }
                    td.number { (number(row.recorded)) } td.number { (number(row.unproven)) }
                    td.number { (number(row.resumed)) } td.number { (number(row.fallbacks)) }
                } } }
            } }
        }
    }
}

#[cfg(test)]
mod tests;
