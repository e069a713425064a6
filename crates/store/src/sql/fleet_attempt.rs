//! Attempts of workers at lanes in SQL. Each function runs within its caller's transaction.

use jiff::Timestamp;

use super::first_row;
use super::fleet::{complaints, find};
use super::lease::clock;
use super::row::{Time, stored};
use crate::fleet::{AttemptFence, BeginAnswer, FenceAnswer, RenewAnswer, ReturnKind};
use crate::sql::driver::{self, Connection, OptionalExtension, params};

/// The row of an attempt that may add to its lane.
const CURRENT: &str = "id = ?1 AND generation = ?2 AND attempt = ?3 AND state = 'running'";

/// The outcome of a lane that no worker ended.
const LOST: &str = "lost";

/// The longest complaint that is kept, in characters, and of how many workers.
const COMPLAINTS: (usize, usize) = (400, 20);

pub(super) fn begin(
    connection: &Connection,
    fence: &AttemptFence,
    worker: &str,
    now: Timestamp,
) -> driver::Result<BeginAnswer> {
    let now = clock(connection, now)?;
    let AttemptFence { lane, generation, attempt } = fence;
    let (generation, attempt) = (stored(*generation), stored(*attempt));
    // The engine's number counts also attempts that were given back, or never came to the store.
    let sql = "UPDATE fleet_lanes SET generation = generation + 1, attempt = 0, state = 'ended', \
               outcome = ?4, ended_at = ?5 WHERE id = ?1 AND generation = ?2 AND attempt < ?3 \
               AND begun >= most_attempts AND state <> 'ended'";
    if connection.execute(sql, params![lane, generation, attempt, LOST, Time(now)])? > 0 {
        return Ok(BeginAnswer::Superseded);
    }
    let sql = "UPDATE fleet_lanes SET begun = begun + CASE WHEN attempt < ?3 THEN 1 ELSE 0 END, \
               attempt = ?3, state = 'running', worker = ?4, \
               started_at = ?5, beat_at = ?5 WHERE id = ?1 AND generation = ?2 \
               AND (attempt < ?3 OR (attempt = ?3 AND worker = ?4)) \
               AND state <> 'ended' RETURNING prompt";
    let values = params![lane, generation, attempt, worker, Time(now)];
    let prompt: Option<String> = connection.query_row(sql, values, |row| row.get(0)).optional()?;
    let found = find(connection, lane)?;
    Ok(match (prompt, found) {
        (Some(prompt), Some(lane)) => BeginAnswer::Begun { lane: Box::new(lane), prompt },
        (_, Some(_)) => BeginAnswer::Superseded,
        (_, None) => BeginAnswer::Hidden,
    })
}

pub(super) fn renew(
    connection: &Connection,
    fence: &AttemptFence,
    now: Timestamp,
) -> driver::Result<RenewAnswer> {
    let now = clock(connection, now)?;
    let sql = format!("UPDATE fleet_lanes SET beat_at = ?4 WHERE {CURRENT} RETURNING watched_at");
    let AttemptFence { lane, generation, attempt } = fence;
    let values = params![lane, stored(*generation), stored(*attempt), Time(now)];
    let watched: Option<Time> = connection.query_row(&sql, values, |row| row.get(0)).optional()?;
    Ok(watched.map_or(RenewAnswer::Superseded, |Time(watched_at)| RenewAnswer::Current {
        now,
        watched_at,
    }))
}

pub(super) fn give_back(
    connection: &Connection,
    fence: &AttemptFence,
    kind: ReturnKind,
    why: &str,
    now: Timestamp,
) -> driver::Result<FenceAnswer> {
    let now = clock(connection, now)?;
    let AttemptFence { lane, generation, attempt } = fence;
    let (generation, attempt) = (stored(*generation), stored(*attempt));
    let sql = format!("SELECT worker, complaints FROM fleet_lanes WHERE {CURRENT}");
    let values = params![lane, generation, attempt];
    let found: Option<(String, String)> =
        first_row(connection, &sql, values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Some((worker, known)) = found else { return Ok(FenceAnswer::Superseded) };
    let mut known = complaints(&known);
    known.remove(&worker);
    while known.len() >= COMPLAINTS.1 {
        known.pop_first();
    }
    // Only workers that cannot begin the lane are known by their names alone.
    let who = match kind {
        ReturnKind::Unfit => worker,
        ReturnKind::Failed => format!("{worker} (failed)"),
        ReturnKind::Drained => format!("{worker} (drained)"),
    };
    known.insert(who, why.chars().take(COMPLAINTS.0).collect());
    let known = serde_json::to_string(&known).unwrap_or_default();
    let counts_not = i64::from(kind != ReturnKind::Failed);
    let returned = i64::from(kind == ReturnKind::Unfit);
    let sql = format!(
        "UPDATE fleet_lanes SET state = 'waiting', worker = NULL, beat_at = ?6, \
         begun = begun - ?4, returned = returned + ?7, complaints = ?5 WHERE {CURRENT}"
    );
    let values = params![lane, generation, attempt, counts_not, known, Time(now), returned];
    connection.execute(&sql, values).map(answer)
}

pub(super) fn append(
    connection: &Connection,
    fence: &AttemptFence,
    first: u64,
    lines: &[String],
) -> driver::Result<FenceAnswer> {
    let AttemptFence { lane, generation, attempt } = fence;
    let (generation, attempt) = (stored(*generation), stored(*attempt));
    let sql = format!("SELECT count(*) FROM fleet_lanes WHERE {CURRENT}");
    let current: i64 =
        connection.query_row(&sql, params![lane, generation, attempt], |row| row.get(0))?;
    if current == 0 {
        return Ok(FenceAnswer::Superseded);
    }
    let sql = "INSERT INTO fleet_events (lane, generation, attempt, number, line) \
               VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO NOTHING";
    for (number, line) in (first..).zip(lines) {
        connection.execute(sql, params![lane, generation, attempt, stored(number), line])?;
    }
    Ok(FenceAnswer::Current)
}

pub(super) fn end(
    connection: &Connection,
    fence: &AttemptFence,
    outcome: &str,
    report: &str,
    now: Timestamp,
) -> driver::Result<FenceAnswer> {
    let now = clock(connection, now)?;
    let AttemptFence { lane, generation, attempt } = fence;
    let (generation, attempt) = (stored(*generation), stored(*attempt));
    let sql = format!(
        "UPDATE fleet_lanes SET state = 'ended', outcome = ?4, report = ?5, ended_at = ?6 \
         WHERE {CURRENT}"
    );
    let values = params![lane, generation, attempt, outcome, report, Time(now)];
    if connection.execute(&sql, values)? > 0 {
        return Ok(FenceAnswer::Current);
    }
    // An attempt that did not hear of its success says it again.
    let sql = "SELECT count(*) FROM fleet_lanes WHERE id = ?1 AND generation = ?2 \
               AND attempt = ?3 AND state = 'ended' AND outcome = ?4 AND report = ?5";
    let values = params![lane, generation, attempt, outcome, report];
    let same: i64 = connection.query_row(sql, values, |row| row.get(0))?;
    Ok(answer(usize::from(same > 0)))
}

const fn answer(changed: usize) -> FenceAnswer {
    if changed > 0 { FenceAnswer::Current } else { FenceAnswer::Superseded }
}
