//! Lanes in SQL.

use convoke_domain::lane::event::{FailureKind, Usage};
use convoke_domain::lane::ledger::{LaneEnding, LaneEntry, LaneStart, Purpose, RecordedEnding};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::owner::Owner;
use convoke_domain::scope::Scope;
use jiff::Timestamp;

use super::row::{Time, amount, one_of_at, stored};
use super::{SqlStore, failed, rows};
use crate::error::StoreError;
use crate::lane::{LaneQuery, LaneStore, LedgerLook, RefuseLane};
use crate::sql::driver::{self, Connection, OptionalExtension, Row, params};

/// How many lanes the running ones are compared with.
const COMPARED: u32 = 500;

/// How many lanes a visit of all holds in memory.
const HELD: i64 = 1000;

impl LaneStore for SqlStore {
    fn begin_lane(&self, scope: &Scope, lane: &LaneStart) -> Result<i64, StoreError> {
        insert(&self.connection(), scope, lane).map_err(failed("record the lane"))
    }

    fn begin_lane_unless(
        &self,
        scope: &Scope,
        lane: &LaneStart,
        since: Option<Timestamp>,
        refuse: &mut RefuseLane<'_>,
    ) -> Result<i64, StoreError> {
        let mut begin = || {
            let transaction = self.begin()?;
            let lanes = of_everyone(&transaction, since)?;
            let earlier = if lanes.iter().any(|lane| lane.over.is_none()) {
                let last = LaneQuery { last: Some(COMPARED), ..LaneQuery::default() };
                find(&transaction, last)?
            } else {
                Vec::new()
            };
            let refused = refuse(&LedgerLook { lanes, earlier });
            let id = insert(&transaction, scope, lane)?;
            if let Some(ending) = refused {
                end(&transaction, id, &ending)?;
            }
            transaction.commit()?;
            Ok(id)
        };
        begin().map_err(failed("record the lane"))
    }

    fn end_lane(&self, id: i64, ending: &LaneEnding) -> Result<Option<Usage>, StoreError> {
        let record = || {
            // Two runs of one session must not both take the same count for the one before.
            let transaction = self.begin()?;
            let spent = end(&transaction, id, ending)?;
            transaction.commit()?;
            Ok(spent)
        };
        record().map_err(failed("record how the lane ended"))
    }

    fn close_lane(
        &self,
        id: i64,
        outcome: Option<LaneOutcome>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE lanes SET outcome = ?2, ended_at = ?3 WHERE id = ?1 AND ended_at IS NULL";
        let values = params![id, outcome.map(LaneOutcome::name), Time(now)];
        let closed = self.change("close the lane", sql, values)?;
        Ok(closed > 0)
    }

    fn lane(&self, id: i64) -> Result<Option<LaneEntry>, StoreError> {
        let sql = "SELECT * FROM lanes WHERE id = ?1";
        self.read_first("find the lane", sql, params![id], read_entry)
    }

    fn lanes(&self, query: LaneQuery<'_>) -> Result<Vec<LaneEntry>, StoreError> {
        find(&self.connection(), query).map_err(failed("read the lanes"))
    }

    fn each_lane(
        &self,
        project: Option<&str>,
        since: Option<Timestamp>,
        visit: &mut dyn FnMut(LaneEntry),
    ) -> Result<(), StoreError> {
        // Each query goes on behind the last lane, by the index of beginnings.
        let of_project = if project.is_some() { "project = ?1" } else { "?1 IS NULL" };
        let sql = format!(
            "SELECT \"{}\" FROM lanes WHERE (started_at, id) > (?2, ?3) AND {of_project} \
             ORDER BY started_at, id LIMIT ?4",
            COLUMNS.join("\", \"")
        );
        let first = since.map_or_else(String::new, |since| format!("{since:.3}"));
        let mut behind = (first, 0_i64);
        loop {
            let values = params![project, behind.0, behind.1, HELD];
            let read = |row: &Row<'_>| Ok((row.get("started_at")?, read_listed(row)?));
            let found: Vec<(String, LaneEntry)> =
                self.read_all("read the lanes", &sql, values, read)?;
            let is_last = found.len() < usize::try_from(HELD).unwrap_or(usize::MAX);
            for (started_at, entry) in found {
                behind = (started_at, entry.id);
                visit(entry);
            }
            if is_last {
                return Ok(());
            }
        }
    }

    fn last_count(&self, agent: &str, session: &str) -> Result<Option<Usage>, StoreError> {
        last_count(&self.connection(), agent, session).map_err(failed("read what was counted"))
    }
}

/// Records that a lane begins.
fn insert(connection: &Connection, scope: &Scope, lane: &LaneStart) -> driver::Result<i64> {
    let sql = "INSERT INTO lanes (project, branch, run, role, phase, agent, asked_model, \
               writes, resumed_from, owner_pid, owner_mark, kept_in, prompt_chars, \
               prompt_hash, started_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) \
               RETURNING id";
    let values = params![
        scope.project,
        scope.branch,
        lane.purpose.run,
        lane.purpose.role,
        lane.purpose.phase,
        lane.agent,
        lane.asked_model,
        lane.writes,
        lane.resumed_from,
        lane.owner.pid,
        lane.owner.mark,
        lane.kept_in,
        stored(lane.prompt_chars),
        lane.prompt_hash,
        Time(lane.at),
    ];
    connection.query_row(sql, values, |row| row.get(0))
}

/// Records how a lane ended, and returns what it spent.
fn end(connection: &Connection, id: i64, ending: &LaneEnding) -> driver::Result<Option<Usage>> {
    let spent = count(connection, id, ending)?;
    let sql = "UPDATE lanes SET outcome = ?2, \"end\" = ?3, session = ?4, model = ?5, \
               took_ms = ?6, bytes = ?7, input = ?8, cached = ?9, output = ?10, \
               reasoning = ?11, micro_dollars = ?12, ended_at = ?13, why = ?14, \
               failure = ?15 WHERE id = ?1";
    let values = params![
        id,
        ending.outcome.name(),
        ending.end,
        ending.session,
        ending.model,
        stored(ending.took_ms),
        stored(ending.bytes),
        spent.map(|usage| stored(usage.input)),
        spent.map(|usage| stored(usage.cached)),
        spent.map(|usage| stored(usage.output)),
        spent.map(|usage| stored(usage.reasoning)),
        spent.and_then(|usage| usage.micro_dollars).map(stored),
        Time(ending.at),
        ending.why,
        ending.failure.map(FailureKind::name),
    ];
    connection.execute(sql, values)?;
    Ok(spent)
}

/// Returns the lanes since a time that a day's budget counts: on a server also those of projects that a
/// member of the team does not see, of which it learns no more than what they used together.
fn of_everyone(
    connection: &Connection,
    since: Option<Timestamp>,
) -> driver::Result<Vec<LaneEntry>> {
    match connection {
        Connection::Sqlite(_) => find(connection, LaneQuery { since, ..LaneQuery::default() }),
        #[cfg(feature = "postgres")]
        Connection::Server(_) => {
            let sql = "SELECT * FROM team_lanes(coalesce(?1, ''))";
            rows(connection, sql, params![since.map(Time)], read_entry)
        }
    }
}

fn find(connection: &Connection, query: LaneQuery<'_>) -> driver::Result<Vec<LaneEntry>> {
    // Unused conditions are left out, so that the query uses its index.
    let run = if query.run.is_some() { "run = ?3" } else { "?3 IS NULL" };
    let open = if query.open { "ended_at IS NULL" } else { "TRUE" };
    let sql = format!(
        "SELECT * FROM (SELECT * FROM lanes WHERE (?1 IS NULL OR project = ?1) \
         AND started_at >= coalesce(?2, '') AND {run} AND {open} \
         ORDER BY id DESC LIMIT ?4) AS last ORDER BY id"
    );
    let most = query.last.map_or(i64::MAX, i64::from);
    let values = params![query.project, query.since.map(Time), query.run, most];
    rows(connection, &sql, values, read_entry)
}

/// Turns what a client counted into what the run spent, and keeps the count for the next run.
fn count(connection: &Connection, id: i64, ending: &LaneEnding) -> driver::Result<Option<Usage>> {
    let Some(said) = ending.said else { return Ok(None) };
    let sql = "SELECT agent, resumed_from FROM lanes WHERE id = ?1";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found: Option<(String, Option<String>)> =
        connection.query_row(sql, params![id], read).optional()?;
    let Some((agent, resumed_from)) = found else { return Ok(None) };
    // A client that is to go on with a session may have begun another.
    let goes_on =
        resumed_from.is_some() && (ending.session.is_none() || ending.session == resumed_from);
    let session = ending.session.as_deref().or(resumed_from.as_deref());
    let before = match session {
        Some(session) => last_count(connection, &agent, session)?,
        None => None,
    };
    let before = before.or_else(|| (!goes_on).then(Usage::default));
    if let Some(session) = session {
        let sql = "INSERT INTO counters (agent, session, input, cached, output, reasoning, \
                   micro_dollars) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
                   ON CONFLICT (agent, session) DO UPDATE SET input = excluded.input, \
                   cached = excluded.cached, output = excluded.output, \
                   reasoning = excluded.reasoning, micro_dollars = excluded.micro_dollars";
        let values = params![
            agent,
            session,
            stored(said.input),
            stored(said.cached),
            stored(said.output),
            stored(said.reasoning),
            said.micro_dollars.map(stored),
        ];
        connection.execute(sql, values)?;
    }
    Ok(ending.counts.of_run(said, before))
}

fn last_count(
    connection: &Connection,
    agent: &str,
    session: &str,
) -> driver::Result<Option<Usage>> {
    let sql = "SELECT * FROM counters WHERE agent = ?1 AND session = ?2";
    let found = connection.query_row(sql, params![agent, session], read_usage).optional()?;
    Ok(found.flatten())
}

/// Reads the usage, if it is known.
fn read_usage(row: &Row<'_>) -> driver::Result<Option<Usage>> {
    read_usage_by(row, |column| row.place_of(column))
}

fn read_usage_by(
    row: &Row<'_>,
    at: impl Fn(&'static str) -> driver::Result<usize>,
) -> driver::Result<Option<Usage>> {
    let Some(input) = amount(row, at("input")?)? else { return Ok(None) };
    let count = |column| amount(row, at(column)?).map(Option::unwrap_or_default);
    Ok(Some(Usage {
        input,
        cached: count("cached")?,
        output: count("output")?,
        reasoning: count("reasoning")?,
        micro_dollars: amount(row, at("micro_dollars")?)?,
    }))
}

pub(super) fn read_entry(row: &Row<'_>) -> driver::Result<LaneEntry> {
    read_by(row, |column| row.place_of(column))
}

/// Every column of a lane.
const COLUMNS: [&str; 30] = [
    "id",
    "project",
    "branch",
    "run",
    "role",
    "phase",
    "agent",
    "asked_model",
    "writes",
    "resumed_from",
    "owner_pid",
    "owner_mark",
    "kept_in",
    "prompt_chars",
    "prompt_hash",
    "started_at",
    "outcome",
    "end",
    "why",
    "failure",
    "session",
    "model",
    "took_ms",
    "bytes",
    "input",
    "cached",
    "output",
    "reasoning",
    "micro_dollars",
    "ended_at",
];

/// Reads a lane from a row with these columns. To look each of them up in the row takes as long as the rest
/// of reading many lanes.
fn read_listed(row: &Row<'_>) -> driver::Result<LaneEntry> {
    read_by(row, |column| {
        let place = COLUMNS.iter().position(|listed| *listed == column);
        place.ok_or_else(driver::Error::no_row)
    })
}

fn read_by(
    row: &Row<'_>,
    at: impl Fn(&'static str) -> driver::Result<usize>,
) -> driver::Result<LaneEntry> {
    let ended_at: Option<Time> = row.get(at("ended_at")?)?;
    Ok(LaneEntry {
        id: row.get(at("id")?)?,
        scope: Scope { project: row.get(at("project")?)?, branch: row.get(at("branch")?)? },
        begun: LaneStart {
            agent: row.get(at("agent")?)?,
            purpose: Purpose {
                run: row.get(at("run")?)?,
                role: row.get(at("role")?)?,
                phase: row.get(at("phase")?)?,
            },
            asked_model: row.get(at("asked_model")?)?,
            writes: row.get(at("writes")?)?,
            resumed_from: row.get(at("resumed_from")?)?,
            owner: Owner { pid: row.get(at("owner_pid")?)?, mark: row.get(at("owner_mark")?)? },
            kept_in: row.get(at("kept_in")?)?,
            prompt_chars: amount(row, at("prompt_chars")?)?.unwrap_or_default(),
            prompt_hash: row.get(at("prompt_hash")?)?,
            at: row.get(at("started_at")?).map(|Time(at)| at)?,
        },
        over: ended_at.map(|Time(ended)| read_over(row, &at, ended)).transpose()?,
    })
}

fn read_over(
    row: &Row<'_>,
    at: impl Fn(&'static str) -> driver::Result<usize>,
    ended: Timestamp,
) -> driver::Result<RecordedEnding> {
    let kind: Option<String> = row.get(at("failure")?)?;
    let has_outcome = row.get::<_, Option<String>>(at("outcome")?)?.is_some();
    Ok(RecordedEnding {
        outcome: has_outcome
            .then(|| one_of_at(row, at("outcome")?, "outcome", LaneOutcome::parse))
            .transpose()?,
        end: row.get(at("end")?)?,
        why: row.get(at("why")?)?,
        // A kind that only a later version knows is left out.
        failure: kind.as_deref().and_then(FailureKind::parse),
        session: row.get(at("session")?)?,
        model: row.get(at("model")?)?,
        took_ms: amount(row, at("took_ms")?)?,
        bytes: amount(row, at("bytes")?)?,
        spent: read_usage_by(row, &at)?,
        at: ended,
    })
}
