//! Dispatches in SQLite.

use convoke_domain::dispatch::gate::TriedClient;
use convoke_domain::dispatch::rate::{DispatchMode, LedgerEntry};
use convoke_domain::dispatch::resume::ResumeState;
use convoke_domain::scope::Scope;
use rusqlite::{OptionalExtension, Row, params};

use super::row::{Time, one_of};
use super::{SqliteStore, failed, rows};
use crate::dispatch::{DispatchStore, Post, Round};
use crate::error::StoreError;

impl DispatchStore for SqliteStore {
    fn record_dispatch(&self, scope: &Scope, entry: &LedgerEntry) -> Result<(), StoreError> {
        let sql = "INSERT INTO dispatches (project, branch, feature, command, role, iteration, \
                   mode, prompt_chars, artifacts, confirmed, missing, unproven, proven, \
                   created_at) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
        let values = params![
            scope.project,
            scope.branch,
            entry.feature,
            entry.command,
            entry.role,
            entry.iteration,
            entry.mode.name(),
            entry.prompt_chars.map(|chars| i64::try_from(chars).unwrap_or(i64::MAX)),
            entry.artifacts.join("\n"),
            entry.confirmed,
            entry.missing.join("\n"),
            entry.unproven.as_ref().map(|files| files.join("\n")),
            entry.proven.join("\n"),
            Time(entry.at),
        ];
        self.connection.execute(sql, values).map(drop).map_err(failed("record the dispatch"))
    }

    fn ledger(&self, project: &str) -> Result<Vec<LedgerEntry>, StoreError> {
        let sql = "SELECT * FROM dispatches WHERE project = ?1 ORDER BY id";
        rows(&self.connection, sql, params![project], read_entry).map_err(failed("read the ledger"))
    }

    fn keep_round(&self, scope: &Scope, post: Post<'_>, round: &Round) -> Result<(), StoreError> {
        let keep = || {
            let transaction = self.begin()?;
            let Scope { project, branch } = scope;
            let Post { feature, role } = post;
            let state = &round.state;
            let sql = "DELETE FROM resume_states WHERE project = ?1 AND branch = ?2 \
                       AND feature = ?3 AND role = ?4 AND iteration >= ?5";
            transaction
                .execute(sql, params![project, branch, feature, role, state.last_iteration])?;
            let sql = "INSERT INTO resume_states (project, branch, feature, role, iteration, mode, \
                       agent_id, prompt_chars, iteration1_prompt_length, last_commit_sha, seen) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";
            let number = |chars: u64| i64::try_from(chars).unwrap_or(i64::MAX);
            let values = params![
                project,
                branch,
                feature,
                role,
                state.last_iteration,
                round.mode.name(),
                state.agent_id,
                number(round.prompt_chars),
                number(state.iteration1_prompt_length),
                state.last_commit_sha,
                round.seen,
            ];
            transaction.execute(sql, values)?;
            transaction.commit()
        };
        keep().map_err(failed("keep the round"))
    }

    fn round_before(
        &self,
        scope: &Scope,
        post: Post<'_>,
        iteration: u32,
    ) -> Result<Option<Round>, StoreError> {
        let sql = "SELECT * FROM resume_states WHERE project = ?1 AND branch = ?2 \
                   AND feature = ?3 AND role = ?4 AND iteration < ?5 \
                   ORDER BY iteration DESC LIMIT 1";
        let values = params![scope.project, scope.branch, post.feature, post.role, iteration];
        let found = self.connection.query_row(sql, values, read_round).optional();
        found.map_err(failed("find the last round"))
    }

    fn name_session(
        &self,
        scope: &Scope,
        post: Post<'_>,
        iteration: u32,
        agent_id: &str,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE resume_states SET agent_id = ?6 WHERE project = ?1 AND branch = ?2 \
                   AND feature = ?3 AND role = ?4 AND iteration = ( \
                     SELECT max(iteration) FROM resume_states WHERE project = ?1 AND branch = ?2 \
                     AND feature = ?3 AND role = ?4 AND iteration < ?5)";
        let Post { feature, role } = post;
        let values = params![scope.project, scope.branch, feature, role, iteration, agent_id];
        let named = self.connection.execute(sql, values).map_err(failed("name the session"))?;
        Ok(named > 0)
    }

    fn rounds(&self, scope: &Scope, feature: &str) -> Result<Vec<(String, Round)>, StoreError> {
        let sql = "SELECT * FROM resume_states AS last WHERE project = ?1 AND branch = ?2 \
                   AND feature = ?3 AND iteration = (SELECT max(iteration) FROM resume_states \
                     WHERE project = ?1 AND branch = ?2 AND feature = ?3 AND role = last.role) \
                   ORDER BY role";
        let values = params![scope.project, scope.branch, feature];
        let read = |row: &Row<'_>| Ok((row.get("role")?, read_round(row)?));
        rows(&self.connection, sql, values, read).map_err(failed("read the rounds"))
    }

    fn record_gate(&self, tried: &TriedClient) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO gates (client, version, reason, tried_at) \
                   VALUES (?1, ?2, ?3, ?4)";
        let values = params![tried.client, tried.version, tried.reason, Time(tried.at)];
        self.connection.execute(sql, values).map(drop).map_err(failed("keep the gate"))
    }

    fn gate(&self, client: &str) -> Result<Option<TriedClient>, StoreError> {
        let sql = "SELECT * FROM gates WHERE client = ?1";
        let read = |row: &Row<'_>| {
            Ok(TriedClient {
                client: row.get("client")?,
                version: row.get("version")?,
                reason: row.get("reason")?,
                at: row.get("tried_at").map(|Time(at)| at)?,
            })
        };
        let found = self.connection.query_row(sql, params![client], read).optional();
        found.map_err(failed("ask about the gate"))
    }

    fn forget_rounds(&self, scope: &Scope, feature: &str) -> Result<usize, StoreError> {
        let roles = self.rounds(scope, feature)?.len();
        let forget = || {
            let transaction = self.begin()?;
            for table in ["resume_states", "review_rounds", "review_loops"] {
                let sql = format!(
                    "DELETE FROM {table} WHERE project = ?1 AND branch = ?2 AND feature = ?3"
                );
                transaction.execute(&sql, params![scope.project, scope.branch, feature])?;
            }
            transaction.commit()
        };
        forget().map_err(failed("forget the rounds"))?;
        Ok(roles)
    }
}

fn list(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

fn read_entry(row: &Row<'_>) -> rusqlite::Result<LedgerEntry> {
    let unproven: Option<String> = row.get("unproven")?;
    let prompt_chars: Option<i64> = row.get("prompt_chars")?;
    Ok(LedgerEntry {
        feature: row.get("feature")?,
        command: row.get("command")?,
        role: row.get("role")?,
        iteration: row.get("iteration")?,
        mode: one_of(row, "mode", DispatchMode::parse)?,
        prompt_chars: prompt_chars.and_then(|chars| u64::try_from(chars).ok()),
        artifacts: row.get("artifacts").map(|text: String| list(&text))?,
        confirmed: row.get("confirmed")?,
        missing: row.get("missing").map(|text: String| list(&text))?,
        unproven: unproven.map(|text| list(&text)),
        proven: row.get("proven").map(|text: String| list(&text))?,
        at: row.get("created_at").map(|Time(at)| at)?,
    })
}

fn read_round(row: &Row<'_>) -> rusqlite::Result<Round> {
    let number = |column: &str| row.get(column).map(i64::unsigned_abs);
    Ok(Round {
        mode: one_of(row, "mode", DispatchMode::parse)?,
        prompt_chars: number("prompt_chars")?,
        seen: row.get("seen")?,
        state: ResumeState {
            agent_id: row.get("agent_id")?,
            iteration1_prompt_length: number("iteration1_prompt_length")?,
            last_iteration: row.get("iteration")?,
            last_commit_sha: row.get("last_commit_sha")?,
        },
    })
}
