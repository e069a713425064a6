//! Loops of reviews in SQLite.

use convoke_domain::dispatch::review_loop::LoopStop;
use convoke_domain::scope::Scope;
use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, params};

use super::row::{Time, one_of};
use super::{SqliteStore, failed, rows};
use crate::error::StoreError;
use crate::review_loop::{LoopEntry, LoopName, LoopStore, Spent};

impl LoopStore for SqliteStore {
    fn keep_answer(
        &self,
        scope: &Scope,
        name: LoopName<'_>,
        entry: &LoopEntry,
    ) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO review_rounds (project, branch, feature, command, \
                   iteration, role, passed, text, input_tokens, output_tokens, micro_dollars, \
                   created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
        let number = |it: Option<u64>| it.map(|it| i64::try_from(it).unwrap_or(i64::MAX));
        let values = params![
            scope.project,
            scope.branch,
            name.feature,
            name.command,
            entry.iteration,
            entry.role,
            entry.passed,
            entry.text,
            number(entry.spent.input),
            number(entry.spent.output),
            number(entry.spent.micro_dollars),
            Time(entry.at),
        ];
        self.connection.execute(sql, values).map(drop).map_err(failed("keep the answer"))
    }

    fn answers(&self, scope: &Scope, name: LoopName<'_>) -> Result<Vec<LoopEntry>, StoreError> {
        let sql = "SELECT * FROM review_rounds WHERE project = ?1 AND branch = ?2 \
                   AND feature = ?3 AND command = ?4 ORDER BY iteration, passed IS NULL, role";
        let values = params![scope.project, scope.branch, name.feature, name.command];
        rows(&self.connection, sql, values, read_entry).map_err(failed("read the answers"))
    }

    fn keep_stop(
        &self,
        scope: &Scope,
        name: LoopName<'_>,
        stop: LoopStop,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO review_loops \
                   (project, branch, feature, command, stop, stopped_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let LoopName { feature, command } = name;
        let values = params![scope.project, scope.branch, feature, command, stop.name(), Time(now)];
        self.connection.execute(sql, values).map(drop).map_err(failed("keep the end of the loop"))
    }

    fn last_stop(&self, scope: &Scope, name: LoopName<'_>) -> Result<Option<LoopStop>, StoreError> {
        let sql = "SELECT stop FROM review_loops WHERE project = ?1 AND branch = ?2 \
                   AND feature = ?3 AND command = ?4";
        let values = params![scope.project, scope.branch, name.feature, name.command];
        let read = |row: &Row<'_>| one_of(row, "stop", LoopStop::parse);
        let found = self.connection.query_row(sql, values, read).optional();
        found.map_err(failed("read the end of the loop"))
    }
}

fn read_entry(row: &Row<'_>) -> rusqlite::Result<LoopEntry> {
    let number =
        |column: &str| row.get::<_, Option<i64>>(column).map(|it| it.map(i64::unsigned_abs));
    Ok(LoopEntry {
        iteration: row.get("iteration")?,
        role: row.get("role")?,
        passed: row.get("passed")?,
        text: row.get("text")?,
        spent: Spent {
            input: number("input_tokens")?,
            output: number("output_tokens")?,
            micro_dollars: number("micro_dollars")?,
        },
        at: row.get("created_at").map(|Time(at)| at)?,
    })
}
