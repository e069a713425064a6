//! Workers in SQL.

use jiff::Timestamp;

use super::lease::clock;
use super::row::{Time, one_of};
use crate::fleet::{FleetWorker, FleetWorkerState};
use crate::sql::driver::{self, Connection, Row, params};

/// Notes that a worker is there. A request to drain or to end is never taken back.
pub(super) fn beat(
    connection: &Connection,
    worker: &FleetWorker,
    now: Timestamp,
) -> driver::Result<FleetWorkerState> {
    let now = clock(connection, now)?;
    let sql = "INSERT INTO fleet_workers (process, name, machine, pid, offers, slots, version, \
               state, started_at, beat_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9) \
               ON CONFLICT (process) DO UPDATE SET beat_at = excluded.beat_at, state = \
               CASE WHEN fleet_workers.state = 'working' THEN excluded.state \
               ELSE fleet_workers.state END \
               RETURNING state";
    let FleetWorker { process, name, machine, pid, offers, slots, version, state, .. } = worker;
    let values =
        params![process, name, machine, pid, offers, slots, version, state.name(), Time(now)];
    connection.query_row(sql, values, |row| one_of(row, "state", FleetWorkerState::parse))
}

pub(super) fn read_worker(row: &Row<'_>) -> driver::Result<FleetWorker> {
    Ok(FleetWorker {
        process: row.get("process")?,
        name: row.get("name")?,
        machine: row.get("machine")?,
        pid: row.get("pid")?,
        offers: row.get("offers")?,
        slots: row.get("slots")?,
        version: row.get("version")?,
        state: one_of(row, "state", FleetWorkerState::parse)?,
        started_at: row.get("started_at").map(|Time(at)| at)?,
        beat_at: row.get("beat_at").map(|Time(at)| at)?,
    })
}
