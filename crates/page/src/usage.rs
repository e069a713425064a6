//! The page Usage: tokens and money by day, agent, role, model and run, with forecasts and budgets.

use convoke_domain::lane::ledger::LaneGrouping;
use convoke_domain::run::RunId;
use convoke_service::now::SpendingTodayReport;
use convoke_service::usage::{LaneForecastReport, LaneUsageReport, LaneUsageRow, UsagePageReport};
use maud::{Markup, html};

use crate::chart::{Bar, bar_chart};
use crate::components::{duration, empty, money, number, tokens};
use crate::now::spending;

/// The periods to choose from, in days.
pub const PERIODS: [u16; 4] = [1, 7, 30, 365];

/// The most rows of a table.
const MOST_ROWS: usize = 100;

/// Returns the page.
pub fn usage_page(report: &UsagePageReport, days: u16) -> Markup {
    let is_empty = report.groups.iter().all(|group| group.rows.is_empty());
    html! {
        h1 { "Usage" }
        nav aria-label="Period" {
            ul.tabs { @for period in PERIODS {
                li { a href={ "/usage?days=" (period) } aria-current=[(period == days).then_some("page")] {
                    @match period { 1 => "Today", 365 => "A year", _ => { (period) " days" } }
                } }
            } }
        }
        (budgets(&report.spending))
        @if is_empty {
            (empty("No lane of this project used a model in this period.", "convoke lane run --agent claude \"PROMPT\""))
        } @else {
            @if let Some(first) = report.groups.first() { (total(&first.total, &report.since)) }
            @for group in &report.groups { (section(group, days)) }
        }
    }
}

fn budgets(today: &SpendingTodayReport) -> Markup {
    html! { section { (spending(today)) } }
}

fn total(row: &LaneUsageRow, since: &str) -> Markup {
    html! {
        h2 { "Since " (since) }
        dl.facts {
            dt { "Lanes" } dd { (number(row.lanes))
                @if row.without_usage > 0 { " (" (number(row.without_usage)) " reported no usage)" } }
            dt { "Prompts" } dd { (tokens(row.input_tokens)) ", of which " (number(row.cached_tokens)) " from a cache" }
            dt { "Answers" } dd { (tokens(row.output_tokens)) ", of which " (number(row.reasoning_tokens)) " reasoning" }
            dt { "Cost" } dd { (money(row.micro_dollars))
                @if row.without_money > 0 { " (" (number(row.without_money)) " lanes reported no cost)" } }
        }
    }
}

fn section(group: &LaneUsageReport, days: u16) -> Markup {
    let name = |row: &LaneUsageRow| row.name.clone().unwrap_or_else(|| "none".to_owned());
    let used = |row: &LaneUsageRow| row.input_tokens.saturating_add(row.output_tokens);
    let bar =
        |row: &LaneUsageRow| Bar { name: name(row), amount: used(row), words: tokens(used(row)) };
    let mut rows: Vec<&LaneUsageRow> = group.rows.iter().collect();
    if group.by == "day" {
        rows.reverse();
    } else {
        rows.sort_by_key(|row| std::cmp::Reverse(used(row)));
    }
    let bars: Vec<_> = rows.iter().map(|row| bar(row)).collect();
    let more = rows.len().saturating_sub(MOST_ROWS);
    rows.truncate(MOST_ROWS);
    html! {
        section {
            h2 { "By " (group.by) }
            div.scroll tabindex="0" role="group" aria-label={ "Chart of tokens by " (group.by) } {
                (bar_chart(&format!("Tokens by {}", group.by), &bars))
            }
            details data-row {
                summary { "Table by " (group.by) }
                div.scroll tabindex="0" role="group" aria-label="Table" { table {
                    thead { tr {
                        th scope="col" { (group.by) } th.number scope="col" { "Lanes" } th.number scope="col" { "Prompt tokens" }
                        th.number scope="col" { "Cached" } th.number scope="col" { "Answer tokens" } th.number scope="col" { "Cost" }
                        th scope="col" { "Next lane: median, 9 of 10" }
                    } }
                    tbody { @for row in &rows { tr data-row {
                        th scope="row" { @match run_link(group, row) {
                            Some(link) => a href=(link) { (name(row)) },
                            None => (name(row)),
                        } }
                        td.number { (number(row.lanes)) } td.number { (number(row.input_tokens)) }
                        td.number { (number(row.cached_tokens)) } td.number { (number(row.output_tokens)) }
                        td.number { (money(row.micro_dollars)) }
                        td { (forecast(row.forecast.as_ref())) }
                    } } }
                } }
                @if more > 0 { p.soft {
                    (number(more as u64)) " more. " code { "convoke usage --by " (group.by) " --since " (days) "d" } " lists all."
                } }
            }
        }
    }
}

/// Returns the address of the run that a row is about.
fn run_link(group: &LaneUsageReport, row: &LaneUsageRow) -> Option<String> {
    let name = row.name.as_deref().filter(|_| group.by == LaneGrouping::Run.name())?;
    Some(format!("/runs/{}", RunId::parse(name).ok()?))
}

fn forecast(found: Option<&LaneForecastReport>) -> String {
    let Some(found) = found else { return "no earlier lane".to_owned() };
    let mut parts =
        vec![format!("{} and {}", tokens(found.tokens.median), tokens(found.tokens.p90))];
    if let Some(cost) = found.micro_dollars {
        parts.push(format!("{} and {}", money(Some(cost.median)), money(Some(cost.p90))));
    }
    if let Some(took) = found.took_ms {
        parts.push(format!("{} and {}", duration(took.median), duration(took.p90)));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests;
