//! Loops of reviews in SQL.

use convoke_domain::dispatch::review_loop::LoopStop;
use convoke_domain::scope::Scope;
use jiff::Timestamp;

use super::SqlStore;
use super::row::{Time, amount, one_of, stored};
use crate::error::StoreError;
use crate::review_loop::{AnswerUsage, LoopEntry, LoopName, LoopStore};
use crate::sql::driver::{self, Row, params};

impl LoopStore for SqlStore {
    fn keep_answer(
        &self,
        scope: &Scope,
        name: LoopName<'_>,
        entry: &LoopEntry,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO review_rounds (project, branch, feature, command, \
                   iteration, role, passed, text, input_tokens, output_tokens, micro_dollars, \
                   created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) \
                   ON CONFLICT (project, branch, feature, command, iteration, role) DO UPDATE SET \
                   passed = excluded.passed, text = excluded.text, \
                   input_tokens = excluded.input_tokens, \
                   output_tokens = excluded.output_tokens, \
                   micro_dollars = excluded.micro_dollars, created_at = excluded.created_at";
        let values = params![
            scope.project,
            scope.branch,
            name.feature,
            name.command,
            entry.iteration,
            entry.role,
            entry.passed,
            entry.text,
            entry.spent.input.map(stored),
            entry.spent.output.map(stored),
            entry.spent.micro_dollars.map(stored),
            Time(entry.at),
        ];
        self.change("keep the answer", sql, values).map(drop)
    }

    fn answers(&self, scope: &Scope, name: LoopName<'_>) -> Result<Vec<LoopEntry>, StoreError> {
        let sql = "SELECT * FROM review_rounds WHERE project = ?1 AND branch = ?2 \
                   AND feature = ?3 AND command = ?4 ORDER BY iteration, passed IS NULL, role";
        let values = params![scope.project, scope.branch, name.feature, name.command];
        self.read_all("read the answers", sql, values, read_entry)
    }

    fn keep_stop(
        &self,
        scope: &Scope,
        name: LoopName<'_>,
        stop: LoopStop,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO review_loops \
                   (project, branch, feature, command, stop, stopped_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                   ON CONFLICT (project, branch, feature, command) DO UPDATE SET \
                   stop = excluded.stop, stopped_at = excluded.stopped_at";
        let LoopName { feature, command } = name;
        let values = params![scope.project, scope.branch, feature, command, stop.name(), Time(now)];
        self.change("keep the end of the loop", sql, values).map(drop)
    }

    fn last_stop(&self, scope: &Scope, name: LoopName<'_>) -> Result<Option<LoopStop>, StoreError> {
        let sql = "SELECT stop FROM review_loops WHERE project = ?1 AND branch = ?2 \
                   AND feature = ?3 AND command = ?4";
        let values = params![scope.project, scope.branch, name.feature, name.command];
        let read = |row: &Row<'_>| one_of(row, "stop", LoopStop::parse);
        self.read_first("read the end of the loop", sql, values, read)
    }
}

pub(super) fn read_entry(row: &Row<'_>) -> driver::Result<LoopEntry> {
    Ok(LoopEntry {
        iteration: row.get("iteration")?,
        role: row.get("role")?,
        passed: row.get("passed")?,
        text: row.get("text")?,
        spent: AnswerUsage {
            input: amount(row, "input_tokens")?,
            output: amount(row, "output_tokens")?,
            micro_dollars: amount(row, "micro_dollars")?,
        },
        at: row.get("created_at").map(|Time(at)| at)?,
    })
}
