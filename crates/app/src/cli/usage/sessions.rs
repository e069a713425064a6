//! `convoke usage --all-sessions`: what all sessions used, by the clients' own records.

use convoke_domain::lane::budget::dollars;
use convoke_domain::session_usage::{SessionGrouping, UsageSince};
use convoke_service::failure::Failure;
use convoke_service::usage::{
    SessionUsageReport, SessionUsageRequest, SessionUsageRow, StatedAmount, session_usage,
};

use crate::app::{App, Format};
use crate::cli::table;
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::grid::Grid;

pub(super) fn run(
    by: SessionGrouping,
    since: Option<UsageSince>,
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let report = session_usage(&app.session, &SessionUsageRequest { by, since })?;
    match app.format {
        Format::Json => output.json(&report)?,
        Format::Text => {
            if report.total.answers == 0 {
                output.data("No answers in the clients' records.\n")?;
            } else {
                output.table(&sums(&report))?;
            }
            for note in notes(&report) {
                output.say(&note);
            }
        }
    }
    Ok(Exit::Done)
}

fn sums(report: &SessionUsageReport) -> Grid {
    let header = [
        report.by,
        "sessions",
        "answers",
        "input",
        "cached",
        "written",
        "output",
        "reasoning",
        "cost",
    ];
    let total = [cells(&report.total, Some("total"))];
    let rows = report.rows.iter().map(|row| cells(row, None)).chain(total);
    table::grid(header, rows, &[1, 2, 3, 4, 5, 6, 7, 8])
}

/// A sum that is not complete is marked, and an unknown one is not zero.
fn cells(row: &SessionUsageRow, name: Option<&str>) -> [String; 9] {
    let tokens = |amount: u64| match row.without_usage {
        0 => amount.to_string(),
        all if all == row.answers => "-".to_owned(),
        _ => format!("{amount}+"),
    };
    let stated = |amount: StatedAmount, shown: fn(u64) -> String| {
        let more = if row.without_usage + amount.unstated > 0 { "+" } else { "" };
        amount.amount.map_or("-".to_owned(), |amount| shown(amount) + more)
    };
    let number = |amount: u64| amount.to_string();
    [
        name.or(row.name.as_deref()).unwrap_or("-").to_owned(),
        row.sessions.to_string(),
        row.answers.to_string(),
        tokens(row.input_tokens),
        stated(row.cached_tokens, number),
        stated(row.cache_write_tokens, number),
        tokens(row.output_tokens),
        stated(row.reasoning_tokens, number),
        stated(row.micro_dollars, dollars),
    ]
}

/// Renders what the sums do not include.
fn notes(report: &SessionUsageReport) -> Vec<String> {
    let note = |count: u64, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("note: 1 {one}")),
        more => Some(format!("note: {more} {many}")),
    };
    let without = &report.clients_without_usage;
    let cost = report.total.micro_dollars.unstated;
    let priced = report.total.answers - report.total.without_usage;
    [
        note(
            report.total.without_usage,
            "answer states no usage and is not counted",
            "answers state no usage and are not counted",
        ),
        (cost > 0).then(|| format!("note: the cost of {cost} of {priced} answers is unknown")),
        note(
            report.undated,
            "answer has no time and is not counted",
            "answers have no time and are not counted",
        ),
        note(report.unreadable, "file could not be read", "files could not be read"),
        note(report.broken_lines, "damaged line was skipped", "damaged lines were skipped"),
        note(
            report.long_lines,
            "line is too long to read and was skipped",
            "lines are too long to read and were skipped",
        ),
        (!without.is_empty())
            .then(|| format!("note: the records of {} hold no usage", without.join(", "))),
    ]
    .into_iter()
    .flatten()
    .collect()
}
