//! `convoke usage`: what lanes have spent, or all sessions of the clients.

mod sessions;

use clap::builder::PossibleValuesParser;
use convoke_domain::lane::budget::dollars;
use convoke_domain::lane::ledger::LaneGrouping;
use convoke_domain::session_usage::{SessionGrouping, UsageSince};
use convoke_service::failure::{ErrorClass, Failure};
use convoke_service::usage::{
    LaneRangeReport, LaneUsageReport, LaneUsageRequest, LaneUsageRow, lane_usage,
};

use super::table;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::grid::Grid;

/// The keys by which something can be added up: those of lanes, and those of sessions alone.
const KEYS: [&str; 8] = ["day", "agent", "role", "phase", "run", "model", "client", "project"];

/// Show what lanes spent: tokens, and money if the client reports it
///
/// Counts a resumed session once: if a client reports the total of the whole session, Convoke
/// subtracts what it reported before. Days begin at midnight in the time zone of `wake.clock`.
///
/// With `--all-sessions`, reads the clients' own records instead, of all projects, also of sessions that
/// Convoke did not start. Counts each answer once, however many forked and resumed sessions repeat it.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Add up lanes by day, agent, role, phase, run or model; sessions by day, model, client or project
    #[arg(
        long,
        value_name = "KEY",
        default_value = "day",
        hide_possible_values = true,
        value_parser = PossibleValuesParser::new(KEYS)
    )]
    by: String,

    /// Count only what began on this day or later: `2026-01-31`, `today`, or the last days, such as `7d`
    #[arg(long, value_name = "DATE", value_parser = since)]
    since: Option<UsageSince>,

    /// Read the clients' own records and count every session, whether Convoke started it or not
    #[arg(long, conflicts_with_all = ["all_projects", "forecast", "last"])]
    all_sessions: bool,

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

/// A key that does not fit what is added up.
#[derive(Debug, thiserror::Error)]
#[error("cannot add up {things} by `{key}`: the keys are {keys}")]
struct WrongKey {
    things: &'static str,
    key: String,
    keys: String,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if self.all_sessions {
            let by = SessionGrouping::parse(&self.by).ok_or_else(|| {
                let keys = SessionGrouping::ALL.map(SessionGrouping::name);
                self.refuse_key("sessions", &keys)
            })?;
            return sessions::run(by, self.since, app, output);
        }
        let report = lane_usage(&app.session, &self.request()?)?;
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

    fn request(&self) -> Result<LaneUsageRequest, Failure> {
        let by = LaneGrouping::parse(&self.by).ok_or_else(|| {
            self.refuse_key("lanes", &LaneGrouping::ALL.map(LaneGrouping::name))
                .hint(format!("`convoke usage --all-sessions --by {}` adds up sessions", self.by))
        })?;
        Ok(LaneUsageRequest {
            by,
            since: self.since,
            all_projects: self.all_projects,
            last: self.last,
        })
    }

    fn refuse_key(&self, things: &'static str, keys: &[&str]) -> Failure {
        let error = WrongKey { things, key: self.by.clone(), keys: keys.join(", ") };
        Failure::new(ErrorClass::Usage, error)
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
    let partial = note(
        total.partial_usage,
        "reported a part of its usage; only that is counted",
        "reported a part of their usage; only that is counted",
    );
    unknown.into_iter().chain(partial).chain(unsaid).collect()
}

/// A sum that is not complete is marked, and an unknown one is not zero.
fn cells(row: &LaneUsageRow, name: Option<&str>) -> [String; 7] {
    let more = if row.without_usage + row.partial_usage + row.without_money > 0 { "+" } else { "" };
    let cost = row.micro_dollars.map_or("-".to_owned(), |amount| dollars(amount) + more);
    let tokens = |amount: u64| match row.without_usage {
        0 if row.partial_usage == 0 => amount.to_string(),
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

fn since(text: &str) -> Result<UsageSince, &'static str> {
    UsageSince::parse(text).ok_or("it must be a day such as 2026-01-31, `today`, or `7d`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_can_be_typed() {
        let lanes = LaneGrouping::ALL.map(LaneGrouping::name);
        let sessions = SessionGrouping::ALL.map(SessionGrouping::name);
        for name in lanes.iter().chain(&sessions) {
            assert!(KEYS.contains(name), "{name}");
        }
        assert!(KEYS.iter().all(|key| lanes.contains(key) || sessions.contains(key)));
    }
}
