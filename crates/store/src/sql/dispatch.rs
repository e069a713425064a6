//! Dispatches in SQL.

use convoke_domain::dispatch::gate::TriedClient;
use convoke_domain::dispatch::rate::{DispatchMode, LedgerEntry};
use convoke_domain::dispatch::resume::ResumeState;
use convoke_domain::scope::Scope;

use super::row::{Time, amount, one_of, stored};
use super::{SqlStore, failed};
use crate::dispatch::{DispatchPost, DispatchStore, Round};
use crate::error::StoreError;
use crate::sql::driver::{self, Row, params};

impl DispatchStore for SqlStore {
    fn record_dispatch(&self, scope: &Scope, entry: &LedgerEntry) -> Result<(), StoreError> {
        let sql = "INSERT INTO dispatches (project, branch, feature, command, role, iteration, \
                   mode, prompt_chars, artifacts, confirmed, missing, unproven, proven, \
                   created_at, receipts, verdict, reason, fresh_chars) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
                   ?17, ?18)";
        let values = params![
            scope.project,
            scope.branch,
            entry.feature,
            entry.command,
            entry.role,
            entry.iteration,
            entry.mode.name(),
            entry.prompt_chars.map(stored),
            entry.artifacts.join("\n"),
            entry.confirmed,
            entry.missing.join("\n"),
            entry.unproven.as_ref().map(|files| files.join("\n")),
            entry.proven.join("\n"),
            Time(entry.at),
            entry.receipts,
            entry.verdict,
            entry.reason,
            entry.fresh_chars.map(stored),
        ];
        self.change("record the dispatch", sql, values).map(drop)
    }

    fn ledger(&self, project: &str) -> Result<Vec<LedgerEntry>, StoreError> {
        let sql = "SELECT * FROM dispatches WHERE project = ?1 ORDER BY id";
        self.read_all("read the ledger", sql, params![project], read_entry)
    }

    fn keep_round(
        &self,
        scope: &Scope,
        post: DispatchPost<'_>,
        round: &Round,
    ) -> Result<(), StoreError> {
        let keep = || {
            let transaction = self.begin()?;
            let Scope { project, branch } = scope;
            let DispatchPost { feature, role } = post;
            let state = &round.state;
            let sql = "DELETE FROM resume_states WHERE project = ?1 AND branch = ?2 \
                       AND feature = ?3 AND role = ?4 AND iteration >= ?5";
            transaction
                .execute(sql, params![project, branch, feature, role, state.last_iteration])?;
            let sql = "INSERT INTO resume_states (project, branch, feature, role, iteration, mode, \
                       agent_id, prompt_chars, iteration1_prompt_length, last_commit_sha, seen, \
                       reason, fresh_chars) \
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)";
            let values = params![
                project,
                branch,
                feature,
                role,
                state.last_iteration,
                round.mode.name(),
                state.agent_id,
                stored(round.prompt_chars),
                stored(state.iteration1_prompt_length),
                state.last_commit_sha,
                round.seen,
                round.reason,
                round.fresh_chars.map(stored),
            ];
            transaction.execute(sql, values)?;
            transaction.commit()
        };
        keep().map_err(failed("keep the round"))
    }

    fn round_before(
        &self,
        scope: &Scope,
        post: DispatchPost<'_>,
        iteration: u32,
    ) -> Result<Option<Round>, StoreError> {
        let sql = "SELECT * FROM resume_states WHERE project = ?1 AND branch = ?2 \
                   AND feature = ?3 AND role = ?4 AND iteration < ?5 \
                   ORDER BY iteration DESC LIMIT 1";
        let values = params![scope.project, scope.branch, post.feature, post.role, iteration];
        self.read_first("find the last round", sql, values, read_round)
    }

    fn name_session(
        &self,
        scope: &Scope,
        post: DispatchPost<'_>,
        iteration: u32,
        agent_id: &str,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE resume_states SET agent_id = ?6 WHERE project = ?1 AND branch = ?2 \
                   AND feature = ?3 AND role = ?4 AND iteration = ( \
                     SELECT max(iteration) FROM resume_states WHERE project = ?1 AND branch = ?2 \
                     AND feature = ?3 AND role = ?4 AND iteration < ?5)";
        let DispatchPost { feature, role } = post;
        let values = params![scope.project, scope.branch, feature, role, iteration, agent_id];
        let named = self.change("name the session", sql, values)?;
        Ok(named > 0)
    }

    fn rounds(&self, scope: &Scope, feature: &str) -> Result<Vec<(String, Round)>, StoreError> {
        let sql = "SELECT * FROM resume_states AS last WHERE project = ?1 AND branch = ?2 \
                   AND feature = ?3 AND iteration = (SELECT max(iteration) FROM resume_states \
                     WHERE project = ?1 AND branch = ?2 AND feature = ?3 AND role = last.role) \
                   ORDER BY role";
        let values = params![scope.project, scope.branch, feature];
        let read = |row: &Row<'_>| Ok((row.get("role")?, read_round(row)?));
        self.read_all("read the rounds", sql, values, read)
    }

    fn record_gate(&self, tried: &TriedClient) -> Result<(), StoreError> {
        let sql = "INSERT INTO gates (client, version, reason, tried_at) VALUES (?1, ?2, ?3, ?4) \
                   ON CONFLICT (member, client) DO UPDATE SET version = excluded.version, \
                   reason = excluded.reason, tried_at = excluded.tried_at";
        let values = params![tried.client, tried.version, tried.reason, Time(tried.at)];
        self.change("keep the gate", sql, values).map(drop)
    }

    fn gate(&self, client: &str) -> Result<Option<TriedClient>, StoreError> {
        let sql = format!(
            "SELECT * FROM gates WHERE client = ?1 AND member = {}",
            self.connection().me()
        );
        let read = |row: &Row<'_>| {
            Ok(TriedClient {
                client: row.get("client")?,
                version: row.get("version")?,
                reason: row.get("reason")?,
                at: row.get("tried_at").map(|Time(at)| at)?,
            })
        };
        self.read_first("ask about the gate", &sql, params![client], read)
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

pub(super) fn read_entry(row: &Row<'_>) -> driver::Result<LedgerEntry> {
    let unproven: Option<String> = row.get("unproven")?;
    Ok(LedgerEntry {
        feature: row.get("feature")?,
        command: row.get("command")?,
        role: row.get("role")?,
        iteration: row.get("iteration")?,
        mode: one_of(row, "mode", DispatchMode::parse)?,
        prompt_chars: amount(row, "prompt_chars")?,
        artifacts: row.get("artifacts").map(|text: String| list(&text))?,
        confirmed: row.get("confirmed")?,
        missing: row.get("missing").map(|text: String| list(&text))?,
        unproven: unproven.map(|text| list(&text)),
        proven: row.get("proven").map(|text: String| list(&text))?,
        receipts: row.get("receipts")?,
        verdict: row.get("verdict")?,
        reason: row.get("reason")?,
        fresh_chars: amount(row, "fresh_chars")?,
        at: row.get("created_at").map(|Time(at)| at)?,
    })
}

pub(super) fn read_round(row: &Row<'_>) -> driver::Result<Round> {
    let number = |column: &str| row.get(column).map(i64::unsigned_abs);
    Ok(Round {
        mode: one_of(row, "mode", DispatchMode::parse)?,
        prompt_chars: number("prompt_chars")?,
        seen: row.get("seen")?,
        reason: row.get("reason")?,
        fresh_chars: amount(row, "fresh_chars")?,
        state: ResumeState {
            agent_id: row.get("agent_id")?,
            iteration1_prompt_length: number("iteration1_prompt_length")?,
            last_iteration: row.get("iteration")?,
            last_commit_sha: row.get("last_commit_sha")?,
        },
    })
}
