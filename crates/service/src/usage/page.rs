//! The usage of lanes for one page: grouped in several ways, read once.

use convoke_domain::lane::ledger::{LaneEntry, LaneGrouping, groups};
use convoke_domain::session_usage::UsageSince;
use convoke_store::lane::LaneQuery;
use serde::Serialize;

use super::{LaneUsageReport, LaneUsageRow, midnight, today};
use crate::failure::Failure;
use crate::lane::is_paid;
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
    let query = LaneQuery {
        project: Some(&scope.project),
        since: midnight(first, clock),
        ..LaneQuery::default()
    };
    let mut entries = store.lanes(query).map_err(refused)?;
    // A replayed lane asks no model and spends nothing.
    entries.retain(is_paid);
    let all: Vec<_> = entries.iter().collect();
    let total = LaneUsageRow::new(None, &all, LAST);
    let row = |(name, entries): (Option<String>, Vec<&LaneEntry>)| {
        LaneUsageRow::new(name, &entries, LAST)
    };
    let group = |by: LaneGrouping| LaneUsageReport {
        by: by.name(),
        rows: groups(&entries, by, clock).into_iter().map(row).collect(),
        total: total.clone(),
    };
    Ok(UsagePageReport {
        since: first.to_string(),
        groups: GROUPINGS.into_iter().map(group).collect(),
        spending: SpendingTodayReport::of(session, &workspace)?,
    })
}
