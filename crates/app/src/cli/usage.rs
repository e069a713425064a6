//! `convoke usage`: what lanes have spent.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::lane::budget::dollars;
use convoke_domain::lane::ledger::LaneGrouping;
use convoke_service::failure::Failure;
use convoke_service::usage::{
    LaneRangeReport, LaneUsageReport, LaneUsageRequest, LaneUsageRow, lane_usage,
};
use jiff::civil::Date;

use super::table;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::grid::Grid;

/// Show what lanes spent: tokens, and money if the client reports it
///
/// Counts a resumed session once: if a client reports the total of the whole session, Convoke
/// subtracts what it reported before. Days begin at midnight in the time zone of `wake.clock`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Add up lanes by this key
    #[arg(long, value_name = "KEY", default_value = "day", value_parser = key())]
    by: LaneGrouping,

    /// Count only lanes that began on this day or later, such as `2026-01-31`
    #[arg(long, value_name = "DATE", value_parser = date)]
    since: Option<Date>,

    /// Count the lanes of every project
    #[arg(long)]
    all_projects: bool,

    /// Show instead what a lane needs: the median and the 90th percentile of earlier lanes
    #[arg(long)]
    forecast: bool,

    /// Base a forecast on this many recent lanes of each kind
    #[arg(long, value_name = "N", default_value = "20")]
    last: usize,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = lane_usage(&app.session, &self.request())?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text if report.total.lanes == 0 => output.data("No lanes yet.\n")?,
            Format::Text if self.forecast => output.table(&forecasts(&report))?,
            Format::Text => {
                output.table(&sums(&report))?;
                for note in notes(&report.total) {
                    output.say(&note);
                }
            }
        }
        Ok(Exit::Done)
    }

    const fn request(&self) -> LaneUsageRequest {
        LaneUsageRequest {
            by: self.by,
            since: self.since,
            all_projects: self.all_projects,
            last: self.last,
        }
    }
}

fn sums(report: &LaneUsageReport) -> Grid {
    let header = [report.by, "lanes", "input", "cached", "output", "reasoning", "cost"];
    let total = [cells(&report.total, Some("total"))];
    let rows = report.rows.iter().map(|row| cells(row, None)).chain(total);
    table::grid(header, rows, &[1, 2, 3, 4, 5, 6])
}

fn forecasts(report: &LaneUsageReport) -> Grid {
    let header = [report.by, "lanes", "tokens", "cost", "time"];
    let cells = |row: &LaneUsageRow| {
        let name = row.name.clone().unwrap_or_else(|| "-".to_owned());
        let Some(forecast) = &row.forecast else {
            let [none, dash] = ["no earlier lanes", "-"].map(str::to_owned);
            return [name, "0".to_owned(), none, dash.clone(), dash];
        };
        let seconds = |ms: u64| format!("{}.{} s", ms / 1000, ms % 1000 / 100);
        let range = |range: Option<&LaneRangeReport>, shown: fn(u64) -> String| {
            range.map_or("-".to_owned(), |range| {
                format!("{} … {}", shown(range.median), shown(range.p90))
            })
        };
        [
            name,
            forecast.lanes.to_string(),
            range(Some(&forecast.tokens), |tokens| tokens.to_string()),
            range(forecast.micro_dollars.as_ref(), dollars),
            range(forecast.took_ms.as_ref(), seconds),
        ]
    };
    table::grid(header, report.rows.iter().map(cells), &[1, 2, 3, 4])
}

/// Renders what the sums do not include.
fn notes(total: &LaneUsageRow) -> Vec<String> {
    let note = |count, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("note: 1 lane {one}")),
        more => Some(format!("note: {more} lanes {many}")),
    };
    let unknown = note(
        total.without_usage,
        "reported no usage and is not counted",
        "reported no usage and are not counted",
    );
    let unsaid = note(total.without_money, "reported no cost", "reported no cost");
    unknown.into_iter().chain(unsaid).collect()
}

/// A sum that is not complete is marked, and an unknown one is not zero.
fn cells(row: &LaneUsageRow, name: Option<&str>) -> [String; 7] {
    let more = if row.without_usage + row.without_money > 0 { "+" } else { "" };
    let cost = row.micro_dollars.map_or("-".to_owned(), |amount| dollars(amount) + more);
    let tokens = |amount: u64| match row.without_usage {
        0 => amount.to_string(),
        all if all == row.lanes => "-".to_owned(),
        _ => format!("{amount}+"),
    };
    [
        name.or(row.name.as_deref()).unwrap_or("-").to_owned(),
        row.lanes.to_string(),
        tokens(row.input_tokens),
        tokens(row.cached_tokens),
        tokens(row.output_tokens),
        tokens(row.reasoning_tokens),
        cost,
    ]
}

fn date(text: &str) -> Result<Date, &'static str> {
    text.parse().map_err(|_| "it must be a day such as 2026-01-31")
}

fn key() -> impl TypedValueParser<Value = LaneGrouping> {
    PossibleValuesParser::new(LaneGrouping::ALL.map(LaneGrouping::name))
        .try_map(|name| LaneGrouping::parse(&name).ok_or("no such key"))
}
