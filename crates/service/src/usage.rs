//! The usage of lanes, and forecasts; the usage of every session by the clients' own records.

mod page;
mod sessions;

use convoke_domain::lane::forecast::{LaneForecast, Range};
use convoke_domain::lane::groups::{LaneGroup, LaneGroups};
use convoke_domain::lane::ledger::{LaneEntry, LaneGrouping, Sum};
use convoke_domain::session_usage::UsageSince;
use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::Offset;
use serde::Serialize;

pub use self::page::{USUAL_DAYS, UsagePageReport, usage_page};
pub use self::sessions::{
    SessionUsageReport, SessionUsageRequest, SessionUsageRow, StatedAmount, session_usage,
};
use crate::failure::Failure;
use crate::lane::is_paid;
use crate::session::Session;
use crate::settings::wake;
use crate::workspace::{Workspace, refused};

/// Which lanes to sum, and how.
#[derive(Debug, Clone, Copy)]
pub struct LaneUsageRequest {
    /// The key by which lanes are grouped.
    pub by: LaneGrouping,
    /// Only lanes that began on this day of `wake.clock` or later.
    pub since: Option<UsageSince>,
    /// Also lanes of other projects.
    pub all_projects: bool,
    /// How many of the last lanes of each kind a forecast uses.
    pub last: usize,
}

/// What lanes used, in groups, with their sum.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneUsageReport {
    /// The key by which lanes are grouped.
    pub by: &'static str,
    /// A sum for each kind of lane.
    pub rows: Vec<LaneUsageRow>,
    /// The sum of all of them.
    pub total: LaneUsageRow,
}

/// The usage of some lanes.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneUsageRow {
    /// The key's value; none if unknown.
    pub name: Option<String>,
    /// How many lanes they are.
    pub lanes: u64,
    /// How many reported no usage.
    pub without_usage: u64,
    /// How many of the others did not report their cost.
    pub without_money: u64,
    /// How many of the others reported a part of their usage.
    pub partial_usage: u64,
    /// Tokens of the prompts.
    pub input_tokens: u64,
    /// Tokens of the prompts that came from a cache.
    pub cached_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// Tokens of the answers that were thinking.
    pub reasoning_tokens: u64,
    /// Money, in millionths of a dollar.
    pub micro_dollars: Option<u64>,
    /// The forecast for a lane of this kind; none without earlier lanes.
    pub forecast: Option<LaneForecastReport>,
}

/// A lane's forecast from earlier lanes.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneForecastReport {
    /// How many earlier lanes it is from.
    pub lanes: usize,
    /// The range of tokens per lane, prompts and answers together.
    pub tokens: LaneRangeReport,
    /// Money, in millionths of a dollar.
    pub micro_dollars: Option<LaneRangeReport>,
    /// Time, in milliseconds.
    pub took_ms: Option<LaneRangeReport>,
}

/// A range that most lanes stay in.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneRangeReport {
    /// Half of the lanes needed no more.
    pub median: u64,
    /// Nine of ten lanes needed no more.
    pub p90: u64,
}

/// Adds up what lanes have spent.
pub fn lane_usage(
    session: &Session,
    request: &LaneUsageRequest,
) -> Result<LaneUsageReport, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let clock = wake::settings(session)?.clock;
    let project = (!request.all_projects).then_some(scope.project.as_str());
    let since = request.since.and_then(|since| midnight(since.day(today(session, clock)), clock));
    let mut usage = PeriodUsage::new([request.by], clock, request.last);
    store.each_lane(project, since, &mut |entry| usage.add(&entry)).map_err(refused)?;
    let [report] = usage.into_reports();
    Ok(report)
}

/// What the lanes of a period used, grouped in several ways while the store reads them.
struct PeriodUsage<const N: usize> {
    groups: [LaneGroups; N],
    total: LaneGroup,
}

impl<const N: usize> PeriodUsage<N> {
    fn new(by: [LaneGrouping; N], clock: Offset, last: usize) -> Self {
        let groups = by.map(|by| LaneGroups::new(by, clock, last));
        Self { groups, total: LaneGroup::new(last) }
    }

    fn add(&mut self, entry: &LaneEntry) {
        // A replayed lane asks no model and spends nothing.
        if is_paid(entry) {
            self.total.add(entry);
            for groups in &mut self.groups {
                groups.add(entry);
            }
        }
    }

    fn into_reports(self) -> [LaneUsageReport; N] {
        let total = LaneUsageRow::new(None, &self.total);
        self.groups.map(|groups| LaneUsageReport {
            by: groups.by().name(),
            rows: groups.into_rows().map(|(name, group)| LaneUsageRow::new(name, &group)).collect(),
            total: total.clone(),
        })
    }
}

impl LaneUsageRow {
    fn new(name: Option<String>, group: &LaneGroup) -> Self {
        let Sum { lanes, without_usage, without_money, partial_usage, usage, .. } = group.sum();
        Self {
            name,
            lanes,
            without_usage,
            without_money,
            partial_usage,
            input_tokens: usage.input,
            cached_tokens: usage.cached,
            output_tokens: usage.output,
            reasoning_tokens: usage.reasoning,
            micro_dollars: usage.micro_dollars,
            forecast: group.forecast().map(LaneForecastReport::from),
        }
    }
}

impl From<LaneForecast> for LaneForecastReport {
    fn from(found: LaneForecast) -> Self {
        let range = |Range { median, p90 }: Range| LaneRangeReport { median, p90 };
        Self {
            lanes: found.lanes,
            tokens: range(found.tokens),
            micro_dollars: found.micro_dollars.map(range),
            took_ms: found.took_ms.map(range),
        }
    }
}

/// Returns the present day by a clock.
fn today(session: &Session, clock: Offset) -> Date {
    clock.to_datetime(session.now()).date()
}

/// Returns when a day begins by a clock.
fn midnight(date: Date, clock: Offset) -> Option<Timestamp> {
    clock.to_timestamp(date.to_datetime(Time::midnight())).ok()
}
