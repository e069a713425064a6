//! Keeping lanes: which there are, how each ended, and what it spent.

use convoke_domain::lane::event::Usage;
use convoke_domain::lane::ledger::{LaneEnding, LaneEntry, LaneStart};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::scope::Scope;
use jiff::Timestamp;

use crate::error::StoreError;

/// Selects lanes. They belong to a user: a budget covers all projects.
#[derive(Debug, Clone, Copy, Default)]
pub struct LaneQuery<'a> {
    /// Of one project, over all its branches.
    pub project: Option<&'a str>,
    /// That began then or later.
    pub since: Option<Timestamp>,
    /// That are part of one run.
    pub run: Option<&'a str>,
    /// Only lanes without an end.
    pub open: bool,
    /// Only the last so many.
    pub last: Option<u32>,
}

/// The lanes by which it is decided whether another may begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerLook {
    /// Lanes since the requested time.
    pub lanes: Vec<LaneEntry>,
    /// Lanes before these, as far as a running lane is to be compared with them; empty if none runs.
    pub earlier: Vec<LaneEntry>,
}

/// Decides whether a lane may begin: `Some` is the record of one that may not. It must not use the
/// store.
pub type RefuseLane<'a> = dyn FnMut(&LedgerLook) -> Option<LaneEnding> + 'a;

/// Keeps lanes.
pub trait LaneStore {
    /// Writes down that a lane begins, and returns its number.
    fn begin_lane(&self, scope: &Scope, lane: &LaneStart) -> Result<i64, StoreError>;

    /// Writes down that a lane begins, and returns its number, unless `refuse` has a reason against it:
    /// then the lane is recorded as ended. No other lane begins between the look at the ledger and the
    /// record, in any process or on any machine, so that two lanes cannot both take the rest of a budget.
    fn begin_lane_unless(
        &self,
        scope: &Scope,
        lane: &LaneStart,
        since: Option<Timestamp>,
        refuse: &mut RefuseLane<'_>,
    ) -> Result<i64, StoreError>;

    /// Records how a lane ended, and returns its usage: the client's counters now, minus those last
    /// recorded for the same session. `None` if unknown.
    fn end_lane(&self, id: i64, ending: &LaneEnding) -> Result<Option<Usage>, StoreError>;

    /// Closes a lane that its process did not end; without an outcome it was lost. Returns
    /// `false`, and changes nothing, if it is closed already.
    fn close_lane(
        &self,
        id: i64,
        outcome: Option<LaneOutcome>,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Returns a lane, of any project; `None` if no lane has this number.
    fn lane(&self, id: i64) -> Result<Option<LaneEntry>, StoreError>;

    /// Returns lanes, in the order in which they began.
    fn lanes(&self, query: LaneQuery<'_>) -> Result<Vec<LaneEntry>, StoreError>;

    /// Visits every lane of a project, or of all, that began at a time or later, in the order in which
    /// they began. It holds few of them in memory at any time, and others can write to the store meanwhile.
    fn each_lane(
        &self,
        project: Option<&str>,
        since: Option<Timestamp>,
        visit: &mut dyn FnMut(LaneEntry),
    ) -> Result<(), StoreError>;

    /// Returns a client's last counters for a session.
    fn last_count(&self, agent: &str, session: &str) -> Result<Option<Usage>, StoreError>;
}
