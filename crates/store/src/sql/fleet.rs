//! Lanes of workers in SQL.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::lease::clock;
use super::row::{Time, one_of, stored};
use super::{SqlStore, failed, first_row};
use super::{fleet_attempt, fleet_worker};
use crate::error::StoreError;
use crate::fleet::{
    AttemptFence, BeginAnswer, EventPlace, FenceAnswer, FleetEvent, FleetLane, FleetLaneState,
    FleetStore, FleetWorker, FleetWorkerState, NewFleetLane, PermitLimit, RenewAnswer,
    ResubmitAnswer, ReturnKind, SubmitAnswer,
};
use crate::sql::driver::{self, Connection, Row, params};

/// Everything of a lane but its prompt, which may be long.
const COLUMNS: &str = "id, project, queue, request, generation, attempt, state, worker, outcome, \
                       report, submitted_at, not_before, started_at, beat_at, watched_at, \
                       ended_at, most_attempts, returned, complaints";

impl FleetStore for SqlStore {
    fn submit_fleet_lane(
        &self,
        lane: &NewFleetLane<'_>,
        now: Timestamp,
    ) -> Result<SubmitAnswer, StoreError> {
        let submit = || {
            let transaction = self.begin()?;
            if let Some(known) = find(&transaction, lane.id)? {
                let sql = "SELECT prompt FROM fleet_lanes WHERE id = ?1";
                let prompt: String =
                    transaction.query_row(sql, params![lane.id], |row| row.get(0))?;
                let is_same = prompt == lane.prompt && known.queue == lane.queue;
                let known = SubmitAnswer::Known(Box::new(known));
                return Ok(if is_same { known } else { SubmitAnswer::Different });
            }
            let now = clock(&transaction, now)?;
            let open = open_lanes(&transaction, &lane.permit, now)?;
            if lane.permit.most.is_some_and(|most| open >= most) {
                return Ok(SubmitAnswer::Full { open });
            }
            let sql = "INSERT INTO fleet_lanes (id, project, queue, request, prompt, permit, \
                       generation, attempt, state, submitted_at, watched_at, most_attempts) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1, 0, 'waiting', ?7, ?7, ?8)";
            let NewFleetLane { id, project, queue, request, prompt, permit, most_attempts } = lane;
            let values =
                params![id, project, queue, request, prompt, permit.key, Time(now), most_attempts];
            transaction.execute(sql, values)?;
            transaction.commit()?;
            Ok(SubmitAnswer::Submitted)
        };
        submit().map_err(failed("submit the lane"))
    }

    fn resubmit_fleet_lane(
        &self,
        id: &str,
        generation: u64,
        request: &str,
        permit: &PermitLimit<'_>,
        delay: SignedDuration,
        now: Timestamp,
    ) -> Result<ResubmitAnswer, StoreError> {
        let resubmit = || {
            let transaction = self.begin()?;
            let now = clock(&transaction, now)?;
            if !delay.is_positive() {
                let open = open_lanes(&transaction, permit, now)?;
                if permit.most.is_some_and(|most| open >= most) {
                    return Ok(ResubmitAnswer::Full { open });
                }
            }
            let sql = "UPDATE fleet_lanes SET generation = generation + 1, attempt = 0, \
                       state = 'waiting', worker = NULL, outcome = NULL, report = NULL, \
                       not_before = ?3, started_at = NULL, beat_at = NULL, ended_at = NULL, \
                       begun = 0, returned = 0, complaints = '{}', request = ?5, \
                       watched_at = ?4 WHERE id = ?1 AND generation = ?2 AND state = 'ended'";
            let start = Time(now.checked_add(delay).unwrap_or(now));
            let values = params![id, stored(generation), start, Time(now), request];
            let changed = transaction.execute(sql, values)?;
            transaction.commit()?;
            let next = ResubmitAnswer::Submitted(generation.saturating_add(1));
            Ok(if changed > 0 { next } else { ResubmitAnswer::Moved })
        };
        resubmit().map_err(failed("submit the lane again"))
    }

    fn stop_fleet_lane(
        &self,
        id: &str,
        generation: u64,
        outcome: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let stop = || {
            let transaction = self.begin()?;
            let now = clock(&transaction, now)?;
            // The next generation: no attempt of this one may say how it ended.
            let sql = "UPDATE fleet_lanes SET generation = generation + 1, attempt = 0, \
                       state = 'ended', outcome = ?2, ended_at = ?3 \
                       WHERE id = ?1 AND generation = ?4 AND state <> 'ended'";
            let values = params![id, outcome, Time(now), stored(generation)];
            let changed = transaction.execute(sql, values)?;
            transaction.commit()?;
            Ok(changed > 0)
        };
        stop().map_err(failed("stop the lane"))
    }

    fn open_lanes(&self, permit: &PermitLimit<'_>, now: Timestamp) -> Result<u32, StoreError> {
        let count = || {
            let connection = self.connection();
            let now = clock(&connection, now)?;
            open_lanes(&connection, permit, now)
        };
        count().map_err(failed("count the open lanes"))
    }

    fn fleet_clock(&self, now: Timestamp) -> Result<Timestamp, StoreError> {
        clock(&self.connection(), now).map_err(failed("read the store's clock"))
    }

    fn watch_fleet_lane(&self, id: &str, now: Timestamp) -> Result<Option<FleetLane>, StoreError> {
        let watch = || {
            let transaction = self.begin()?;
            let now = clock(&transaction, now)?;
            let sql = "UPDATE fleet_lanes SET watched_at = ?2 WHERE id = ?1";
            transaction.execute(sql, params![id, Time(now)])?;
            let lane = find(&transaction, id)?;
            transaction.commit()?;
            Ok(lane)
        };
        watch().map_err(failed("watch the lane"))
    }

    fn fleet_lane(&self, id: &str) -> Result<Option<FleetLane>, StoreError> {
        find(&self.connection(), id).map_err(failed("find the lane"))
    }

    fn fleet_lanes(&self, ended: u32) -> Result<Vec<FleetLane>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM fleet_lanes WHERE state <> 'ended' UNION ALL \
             SELECT * FROM (SELECT {COLUMNS} FROM fleet_lanes WHERE state = 'ended' \
             ORDER BY ended_at DESC LIMIT ?1) AS last ORDER BY submitted_at, id"
        );
        self.read_all("read the lanes of workers", &sql, params![ended], read_lane)
    }

    fn fleet_events(&self, id: &str, after: EventPlace) -> Result<Vec<FleetEvent>, StoreError> {
        let sql = "SELECT generation, attempt, number, line FROM fleet_events WHERE lane = ?1 \
                   AND (generation, attempt, number) > (?2, ?3, ?4) \
                   ORDER BY generation, attempt, number";
        let EventPlace { generation, attempt, number } = after;
        let values = params![id, stored(generation), stored(attempt), stored(number)];
        self.read_all("read the lane's lines", sql, values, |row| {
            let place = EventPlace {
                generation: count(row, "generation")?,
                attempt: count(row, "attempt")?,
                number: count(row, "number")?,
            };
            Ok(FleetEvent { place, line: row.get("line")? })
        })
    }

    fn begin_attempt(
        &self,
        fence: &AttemptFence,
        worker: &str,
        now: Timestamp,
    ) -> Result<BeginAnswer, StoreError> {
        let begin = || {
            let transaction = self.begin()?;
            let answer = fleet_attempt::begin(&transaction, fence, worker, now)?;
            transaction.commit()?;
            Ok(answer)
        };
        begin().map_err(failed("begin the attempt"))
    }

    fn renew_attempt(
        &self,
        fence: &AttemptFence,
        now: Timestamp,
    ) -> Result<RenewAnswer, StoreError> {
        let renew = || {
            let transaction = self.begin()?;
            let answer = fleet_attempt::renew(&transaction, fence, now)?;
            transaction.commit()?;
            Ok(answer)
        };
        renew().map_err(failed("renew the attempt"))
    }

    fn return_attempt(
        &self,
        fence: &AttemptFence,
        kind: ReturnKind,
        why: &str,
        now: Timestamp,
    ) -> Result<FenceAnswer, StoreError> {
        let give_back = || {
            let transaction = self.begin()?;
            let answer = fleet_attempt::give_back(&transaction, fence, kind, why, now)?;
            transaction.commit()?;
            Ok(answer)
        };
        give_back().map_err(failed("give the lane back"))
    }

    fn append_fleet_events(
        &self,
        fence: &AttemptFence,
        first: u64,
        lines: &[String],
    ) -> Result<FenceAnswer, StoreError> {
        let append = || {
            let transaction = self.begin()?;
            let answer = fleet_attempt::append(&transaction, fence, first, lines)?;
            transaction.commit()?;
            Ok(answer)
        };
        append().map_err(failed("add to the lane"))
    }

    fn end_attempt(
        &self,
        fence: &AttemptFence,
        outcome: &str,
        report: &str,
        now: Timestamp,
    ) -> Result<FenceAnswer, StoreError> {
        let end = || {
            let transaction = self.begin()?;
            let answer = fleet_attempt::end(&transaction, fence, outcome, report, now)?;
            transaction.commit()?;
            Ok(answer)
        };
        end().map_err(failed("end the lane"))
    }

    fn beat_worker(
        &self,
        worker: &FleetWorker,
        now: Timestamp,
    ) -> Result<FleetWorkerState, StoreError> {
        let beat = || {
            let transaction = self.begin()?;
            let state = fleet_worker::beat(&transaction, worker, now)?;
            transaction.commit()?;
            Ok(state)
        };
        beat().map_err(failed("note the worker"))
    }

    fn end_worker(&self, process: &str) -> Result<(), StoreError> {
        let sql = "DELETE FROM fleet_workers WHERE process = ?1";
        self.change("remove the worker", sql, params![process]).map(drop)
    }

    fn drain_workers(&self, name: &str) -> Result<usize, StoreError> {
        let sql = "UPDATE fleet_workers SET state = 'draining' \
                   WHERE name = ?1 AND state <> 'evicted'";
        self.change("drain the worker", sql, params![name])
    }

    fn evict_workers(&self, name: &str) -> Result<usize, StoreError> {
        let sql = "UPDATE fleet_workers SET state = 'evicted' WHERE name = ?1";
        self.change("evict the worker", sql, params![name])
    }

    fn fleet_workers(&self) -> Result<Vec<FleetWorker>, StoreError> {
        let sql = "SELECT * FROM fleet_workers ORDER BY name, process";
        self.read_all("read the workers", sql, params![], fleet_worker::read_worker)
    }

    fn prune_fleet(&self, older_than: SignedDuration, now: Timestamp) -> Result<(), StoreError> {
        let prune = || {
            let transaction = self.begin()?;
            let now = clock(&transaction, now)?;
            let before = Time(now.checked_sub(older_than).unwrap_or(now));
            let sql = format!(
                "DELETE FROM fleet_events WHERE lane IN (SELECT id FROM fleet_lanes WHERE {OVER})"
            );
            transaction.execute(&sql, params![before])?;
            let sql = format!("DELETE FROM fleet_lanes WHERE {OVER}");
            transaction.execute(&sql, params![before])?;
            let sql = "DELETE FROM fleet_workers WHERE beat_at < ?1";
            transaction.execute(sql, params![before])?;
            transaction.commit()
        };
        prune().map_err(failed("remove old lanes of workers"))
    }
}

/// A lane of which nothing has been heard since a time: it ended before, or its submitter and its worker
/// were there last.
const OVER: &str = "CASE WHEN state = 'ended' THEN ended_at < ?1 ELSE watched_at < ?1 \
                    AND coalesce(beat_at, '') < ?1 AND coalesce(not_before, '') < ?1 END";

/// Counts the lanes that hold a permit. One whose submitter and worker are both gone holds none, and
/// neither does one that waits for its time.
fn open_lanes(
    connection: &Connection,
    permit: &PermitLimit<'_>,
    now: Timestamp,
) -> driver::Result<u32> {
    let since = Time(now.checked_sub(permit.counts_for).unwrap_or(now));
    let values = params![permit.key, since, Time(now)];
    #[cfg(feature = "postgres")]
    if matches!(connection, Connection::Server(_)) {
        // A member does not see the lanes of all projects, and the limit counts them.
        let sql = "SELECT team_open_lanes(?1, ?2, ?3)";
        return connection.query_row(sql, values, |row| row.get(0));
    }
    let sql = "SELECT count(*) FROM fleet_lanes WHERE permit = ?1 AND state <> 'ended' \
               AND (watched_at >= ?2 OR coalesce(beat_at, '') >= ?2) \
               AND coalesce(not_before, '') <= ?3";
    connection.query_row(sql, values, |row| row.get(0))
}

pub(super) fn find(connection: &Connection, id: &str) -> driver::Result<Option<FleetLane>> {
    let sql = format!("SELECT {COLUMNS} FROM fleet_lanes WHERE id = ?1");
    first_row(connection, &sql, params![id], read_lane)
}

/// Reads what workers said. A member may have written anything there by SQL: what is no such list says nothing.
pub(super) fn complaints(text: &str) -> BTreeMap<String, String> {
    serde_json::from_str(text).unwrap_or_default()
}

fn count(row: &Row<'_>, column: &str) -> driver::Result<u64> {
    row.get(column).map(i64::unsigned_abs)
}

fn time(row: &Row<'_>, column: &str) -> driver::Result<Option<Timestamp>> {
    let found: Option<Time> = row.get(column)?;
    Ok(found.map(|Time(at)| at))
}

fn read_lane(row: &Row<'_>) -> driver::Result<FleetLane> {
    Ok(FleetLane {
        id: row.get("id")?,
        project: row.get("project")?,
        queue: row.get("queue")?,
        request: row.get("request")?,
        generation: count(row, "generation")?,
        attempt: count(row, "attempt")?,
        state: one_of(row, "state", FleetLaneState::parse)?,
        worker: row.get("worker")?,
        outcome: row.get("outcome")?,
        report: row.get("report")?,
        submitted_at: row.get("submitted_at").map(|Time(at)| at)?,
        not_before: time(row, "not_before")?,
        started_at: time(row, "started_at")?,
        beat_at: time(row, "beat_at")?,
        watched_at: row.get("watched_at").map(|Time(at)| at)?,
        ended_at: time(row, "ended_at")?,
        most_attempts: row.get("most_attempts")?,
        returned: count(row, "returned")?,
        complaints: row.get("complaints").map(|text: String| complaints(&text))?,
    })
}
