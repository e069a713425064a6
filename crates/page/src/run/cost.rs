//! What a run cost: by step, by seat, and for each accepted finding.

use convoke_service::run::{RunShowReport, SpendingReport, SpendingRow};
use maud::{Markup, html};

use crate::components::{money, number};
use crate::markdown::plain;

/// Shows the cost of a run.
pub fn cost(report: &RunShowReport) -> Markup {
    let cost = &report.cost;
    html! {
        section #cost aria-labelledby="cost-title" {
            h2 #cost-title { "Cost" }
            p { (in_all(cost)) }
            div.columns {
                (table("By step", "step", &cost.steps, &cost.total))
                (table("By seat", "seat", &cost.seats, &cost.total))
            }
        }
    }
}

fn in_all(cost: &SpendingReport) -> Markup {
    let total = &cost.total;
    html! {
        @if cost.is_recorded { "Nothing was paid: every answer was recorded. With them came " }
        (number(total.input_tokens)) " tokens read, " (number(total.output_tokens)) " tokens written"
        @if !cost.is_recorded { ", " (money(total.micro_dollars)) }
        "."
        @if let Some(tokens) = cost.tokens_per_accepted_finding {
            " " (number(tokens)) " tokens"
            @if let Some(micro) = cost.micro_dollars_per_accepted_finding { ", " (money(Some(micro))) }
            " for each of " (cost.accepted_findings) " accepted findings."
        }
        @if total.without_usage > 0 {
            " " (total.without_usage) " of " (total.lanes) " lanes reported no usage and are not counted."
        }
        @if cost.recorded_lanes > 0 && !cost.is_recorded {
            " " (cost.recorded_lanes) " lanes were played from a recording, at no cost."
        }
    }
}

fn table(caption: &str, first: &str, rows: &[SpendingRow], total: &SpendingRow) -> Markup {
    html! {
        div.scroll tabindex="0" role="group" aria-label="Table" {
            table {
                caption { (caption) }
                thead {
                    tr {
                        th scope="col" { (first) }
                        @for column in ["lanes", "read", "written", "cost"] { th.number scope="col" { (column) } }
                    }
                }
                tbody {
                    @for row in rows { (cells(row)) }
                }
                tfoot { (cells(total)) }
            }
        }
    }
}

fn cells(row: &SpendingRow) -> Markup {
    html! {
        tr {
            th.title scope="row" { (plain(&row.name)) }
            td.number { (row.lanes) }
            td.number { (number(row.input_tokens)) }
            td.number { (number(row.output_tokens)) }
            td.number { (row.micro_dollars.map_or_else(|| "–".to_owned(), |micro| money(Some(micro)))) }
        }
    }
}
