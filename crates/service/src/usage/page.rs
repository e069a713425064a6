//! The usage of lanes for one page: grouped in several ways, read once.

use convoke_domain::lane::ledger::LaneGrouping;
use convoke_domain::session_usage::UsageSince;
use serde::Serialize;

use super::{LaneUsageReport, PeriodUsage, midnight, today};
use crate::failure::Failure;
use crate::now::SpendingTodayReport;
use crate::session::Session;
use crate::settings::wake;
use crate::workspace::{Workspace, refused};

/// The ways in which a page groups lanes.
const GROUPINGS: [LaneGrouping; 5] = [
    LaneGrouping::Day,
    LaneGrouping::Agent,
    LaneGrouping::Role,
    LaneGrouping::Model,
    LaneGrouping::Run,
];

/// How many of the last lanes of each kind a forecast uses.
const LAST: usize = 50;

/// The period that a page shows first, in days.
pub const USUAL_DAYS: u16 = 30;

/// The usage of lanes for one page.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsagePageReport {
    /// The first day, by the clock that times are shown by.
    pub since: String,
    /// The same lanes, grouped by day, agent, role, model and run.
    pub groups: Vec<LaneUsageReport>,
    /// Today's spending of all projects against each budget of a day.
    pub spending: SpendingTodayReport,
}

/// Adds up what the lanes of the project have spent in the last days.
pub fn usage_page(session: &Session, days: u16) -> Result<UsagePageReport, Failure> {
    let workspace = Workspace::open(session, None)?;
    let Workspace { store, scope } = &workspace;
    let clock = wake::settings(session)?.clock;
    let first = UsageSince::LastDays(days).day(today(session, clock));
    let mut usage = PeriodUsage::new(GROUPINGS, clock, LAST);
    let since = midnight(first, clock);
    let visited = store.each_lane(Some(&scope.project), since, &mut |entry| usage.add(&entry));
    visited.map_err(refused)?;
    Ok(UsagePageReport {
        since: first.to_string(),
        groups: usage.into_reports().into(),
        spending: SpendingTodayReport::of(session, &workspace)?,
    })
}
