//! `convoke usage`: what lanes have spent.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::lane::cap::dollars;
use convoke_domain::lane::forecast::{LaneForecast, Range, forecast};
use convoke_domain::lane::ledger::{LaneEntry, LaneGrouping, Sum, groups};
use convoke_store::lane::{LaneQuery, LaneStore};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use serde::Serialize;

use super::table;
use crate::app::{App, Format};
use crate::config::wake;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// Say what lanes have spent: tokens, and money where the client says it
///
/// A session that is resumed is counted once: clients that count the whole session again have what
/// they said before taken off. Days are those of `wake.clock`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to put together
    #[arg(long, value_name = "KEY", default_value = "day", value_parser = key())]
    by: LaneGrouping,

    /// Only lanes that began on this day or later, such as 2026-01-31
    #[arg(long, value_name = "DATE", value_parser = date)]
    since: Option<Date>,

    /// Lanes of every project
    #[arg(long)]
    all_projects: bool,

    /// Say instead what a lane needs: half of the earlier ones no more than the first number, nine
    /// of ten no more than the second
    #[arg(long)]
    forecast: bool,

    /// How many lanes of each kind a forecast looks at, the last ones
    #[arg(long, value_name = "N", default_value = "20")]
    last: usize,
}

#[derive(Serialize)]
struct Report {
    by: &'static str,
    rows: Vec<Row>,
    total: Row,
}

#[derive(Serialize)]
struct Row {
    /// What they have in common; none if it is not known.
    name: Option<String>,
    lanes: u64,
    /// How many could not tell what they spent.
    uncounted: u64,
    /// How many of the others did not say what they cost.
    without_money: u64,
    input_tokens: u64,
    cached_tokens: u64,
    output_tokens: u64,
    reasoning_tokens: u64,
    micro_dollars: Option<u64>,
    forecast: Option<ForecastReport>,
}

#[derive(Serialize)]
struct ForecastReport {
    lanes: usize,
    tokens: RangeReport,
    micro_dollars: Option<RangeReport>,
    took_ms: Option<RangeReport>,
}

#[derive(Serialize)]
struct RangeReport {
    median: u64,
    p90: u64,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let Workspace { store, scope } = Workspace::open(app, None)?;
        let clock = wake::settings(app)?.clock;
        let query = LaneQuery {
            project: (!self.all_projects).then_some(scope.project.as_str()),
            since: self.since.and_then(|date| midnight(date, clock)),
            ..LaneQuery::default()
        };
        let entries = store.lanes(query).map_err(refused)?;
        let row = |(name, entries): (Option<String>, Vec<&LaneEntry>)| {
            Row::new(name, &entries, self.last)
        };
        let all: Vec<_> = entries.iter().collect();
        let report = Report {
            by: self.by.name(),
            rows: groups(&entries, self.by, clock).into_iter().map(row).collect(),
            total: Row::new(None, &all, self.last),
        };
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text if entries.is_empty() => output.data("No lanes yet.\n")?,
            Format::Text if self.forecast => output.data(&report.forecasts())?,
            Format::Text => {
                output.data(&report.sums())?;
                report.notes().iter().for_each(|note| output.say(note));
            }
        }
        Ok(Exit::Done)
    }
}

impl Report {
    fn sums(&self) -> String {
        let header = [self.by, "lanes", "input", "cached", "output", "reasoning", "cost"];
        let total = [self.total.cells(Some("total"))];
        let rows = self.rows.iter().map(|row| row.cells(None)).chain(total);
        table::render(header, rows, &[1, 2, 3, 4, 5, 6])
    }

    fn forecasts(&self) -> String {
        let header = [self.by, "lanes", "tokens", "cost", "time"];
        let cells = |row: &Row| {
            let name = row.name.clone().unwrap_or_else(|| "-".to_owned());
            let Some(forecast) = &row.forecast else {
                let [none, dash] = ["no earlier lanes", "-"].map(str::to_owned);
                return [name, "0".to_owned(), none, dash.clone(), dash];
            };
            let seconds = |it: u64| format!("{}.{} s", it / 1000, it % 1000 / 100);
            let range = |range: Option<&RangeReport>, shown: fn(u64) -> String| {
                range.map_or("-".to_owned(), |it| {
                    format!("{} … {}", shown(it.median), shown(it.p90))
                })
            };
            [
                name,
                forecast.lanes.to_string(),
                range(Some(&forecast.tokens), |it| it.to_string()),
                range(forecast.micro_dollars.as_ref(), dollars),
                range(forecast.took_ms.as_ref(), seconds),
            ]
        };
        table::render(header, self.rows.iter().map(cells), &[1, 2, 3, 4])
    }

    /// Says what the sums do not hold.
    fn notes(&self) -> Vec<String> {
        let Row { uncounted, without_money, .. } = self.total;
        let note = |count, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("note: 1 lane {one}")),
            more => Some(format!("note: {more} lanes {many}")),
        };
        let unknown = note(uncounted, "cannot tell what it spent", "cannot tell what they spent");
        let unsaid = note(without_money, "did not say what it cost", "did not say what they cost");
        unknown.into_iter().chain(unsaid).collect()
    }
}

impl Row {
    fn new(name: Option<String>, entries: &[&LaneEntry], last: usize) -> Self {
        let sum = Sum::of_all(entries.iter().copied());
        let Sum { lanes, uncounted, without_money, usage, .. } = sum;
        Self {
            name,
            lanes,
            uncounted,
            without_money,
            input_tokens: usage.input,
            cached_tokens: usage.cached,
            output_tokens: usage.output,
            reasoning_tokens: usage.reasoning,
            micro_dollars: usage.micro_dollars,
            forecast: forecast(entries, last).map(ForecastReport::from),
        }
    }

    /// What is not all is marked, and what nobody knows is not nothing.
    fn cells(&self, name: Option<&str>) -> [String; 7] {
        let more = if self.uncounted + self.without_money > 0 { "+" } else { "" };
        let cost = self.micro_dollars.map_or("-".to_owned(), |it| dollars(it) + more);
        [
            name.or(self.name.as_deref()).unwrap_or("-").to_owned(),
            self.lanes.to_string(),
            self.tokens(self.input_tokens),
            self.tokens(self.cached_tokens),
            self.tokens(self.output_tokens),
            self.tokens(self.reasoning_tokens),
            cost,
        ]
    }

    fn tokens(&self, amount: u64) -> String {
        match self.uncounted {
            0 => amount.to_string(),
            all if all == self.lanes => "-".to_owned(),
            _ => format!("{amount}+"),
        }
    }
}

impl From<LaneForecast> for ForecastReport {
    fn from(found: LaneForecast) -> Self {
        let range = |Range { median, p90 }: Range| RangeReport { median, p90 };
        Self {
            lanes: found.lanes,
            tokens: range(found.tokens),
            micro_dollars: found.micro_dollars.map(range),
            took_ms: found.took_ms.map(range),
        }
    }
}

/// Returns when a day begins by a clock.
fn midnight(date: Date, clock: Offset) -> Option<Timestamp> {
    clock.to_timestamp(date.to_datetime(jiff::civil::Time::midnight())).ok()
}

fn date(text: &str) -> Result<Date, &'static str> {
    text.parse().map_err(|_| "it must be a day such as 2026-01-31")
}

fn key() -> impl TypedValueParser<Value = LaneGrouping> {
    PossibleValuesParser::new(LaneGrouping::ALL.map(LaneGrouping::name))
        .try_map(|name| LaneGrouping::parse(&name).ok_or("no such key"))
}
