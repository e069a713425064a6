//! The list of designs.

use convoke_service::run::{RunStateReport, RunSummaryReport};
use maud::{Markup, html};

use crate::components::{empty, number, time};

/// How many designs a page lists.
pub const MOST_LISTED: usize = 100;

/// Returns a page of the list, the last design first.
pub fn designs_page(runs: &[RunSummaryReport], from: usize) -> Markup {
    let shown = runs.iter().skip(from).take(MOST_LISTED);
    let next = from.saturating_add(MOST_LISTED);
    html! {
        h1 { "Runs" }
        @if runs.is_empty() {
            (empty("This project has no design.", "convoke design --rehearse"))
        } @else {
            p.soft { (number(runs.len() as u64)) " designs, the last one first" }
            div.scroll tabindex="0" role="group" aria-label="Table" { table {
                thead { tr { th scope="col" { "Feature" } th scope="col" { "State" } th scope="col" { "Warnings" }
                    th scope="col" { "Undecided" } th scope="col" { "Began" } th scope="col" { "Run" } } }
                tbody { @for run in shown { tr data-row {
                    th scope="row" { a href={ "/runs/" (run.run) } { (run.feature) } }
                    td { span.tag.good[run.state == RunStateReport::Ended].info[run.state == RunStateReport::Running].warn[run.state == RunStateReport::Stopped] { (run.state) } }
                    td { (count(run.warnings)) }
                    td { (count(run.undecided)) }
                    td { (time(&run.started_at)) }
                    td.mono { (run.run) }
                } } }
            } }
            @if next < runs.len() {
                p { a.button rel="next" href={ "/runs?from=" (next) } { "Earlier designs" } }
            }
        }
    }
}

fn count(found: Option<usize>) -> String {
    found.map_or_else(|| "unknown".to_owned(), |count| number(count as u64))
}
