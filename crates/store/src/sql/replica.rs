//! Copies of a store, and the records that wait in them, in SQL.

mod claims;
mod forward;
mod pull;
#[cfg(test)]
mod tests;

use std::fs::OpenOptions;
use std::time::Duration;

use convoke_domain::scope::{Address, Scope};
use jiff::Timestamp;

use self::forward::WaitingRecords;
use self::pull::PulledRows;
use super::message::receive;
use super::row::Time;
use super::transaction::ReadTransaction;
use super::{SqlStore, driver, failed, first_row};
use crate::error::StoreError;
use crate::message::MessageReceipt;
use crate::replica::{Replica, ReplicaRefresh, ReplicaState, ReplicaStore, ReplicaWish};
use crate::sql::driver::{Connection, params};
use crate::sqlite::schema::wait_for;

/// What a copy has beside a store's tables.
const TABLES: &str = include_str!("../sqlite/replica.sql");

/// How often a refresh is tried again because another process was faster.
const MOST_ATTEMPTS: usize = 3;

impl SqlStore {
    /// Makes a store the copy of another one.
    pub(crate) fn prepare_replica(&self) -> Result<(), StoreError> {
        let prepare = || {
            // Rows refer to others that a copy leaves out.
            self.connection().execute_batch("PRAGMA foreign_keys = OFF")?;
            let is_prepared = |connection: &Connection| {
                let sql = "SELECT 1 FROM sqlite_schema WHERE name = 'replica'";
                connection.prepare_cached(sql)?.exists(params![])
            };
            if is_prepared(&self.connection())? {
                return Ok(());
            }
            let transaction = self.begin()?;
            if !is_prepared(&transaction)? {
                transaction.execute_batch(TABLES)?;
            }
            transaction.commit()
        };
        prepare().map_err(failed("prepare the copy of the store"))
    }

    pub(crate) fn replica_state(&self, scope: &Scope) -> Result<ReplicaState, StoreError> {
        let sql = "SELECT (SELECT refreshed_at FROM replica_branches \
                   WHERE project = ?1 AND branch = ?2), (SELECT count(*) FROM outbox), away_at \
                   FROM replica";
        let values = params![scope.project, scope.branch];
        let state = self.read_first("look at the copy of the store", sql, values, |row| {
            let time = |column: usize| row.get::<_, Option<Time>>(column);
            Ok(ReplicaState {
                refreshed_at: time(0)?.map(|Time(at)| at),
                waiting: row.get::<_, u32>(1)? as usize,
                away_at: time(2)?.map(|Time(at)| at),
            })
        })?;
        Ok(state.unwrap_or_default())
    }

    pub(crate) fn forget_unread(
        &self,
        agent: &Address,
        messages: &[i64],
    ) -> Result<(), StoreError> {
        let forget = || {
            let transaction = self.begin()?;
            // A refresh that has looked at the server already would bring the messages back.
            transaction.execute_batch("UPDATE replica SET pulling = 1, version = version + 1")?;
            let receipt = MessageReceipt { read: messages, known: None };
            receive(&transaction, &agent.scope, &agent.agent, receipt)?;
            transaction.execute_batch("UPDATE replica SET pulling = 0")?;
            transaction.commit()
        };
        if messages.is_empty() {
            return Ok(());
        }
        forget().map_err(failed("forget the messages"))
    }

    pub(crate) fn keep_away(&self, away_at: Option<Timestamp>) -> Result<(), StoreError> {
        let sql = "UPDATE replica SET away_at = ?1 WHERE away_at IS NOT ?1";
        self.change("keep whether the server answers", sql, params![away_at.map(Time)]).map(drop)
    }
}

impl ReplicaStore for SqlStore {
    #[cfg_attr(not(feature = "postgres"), expect(unused_variables, reason = "a file is here"))]
    fn limit_answers(&self, limit: Option<Duration>) {
        match &*self.connection() {
            Connection::Sqlite(_) => {}
            #[cfg(feature = "postgres")]
            Connection::Server(server) => server.limit_answers(limit),
        }
    }

    fn take_records(&self, replica: &Replica, patience: Duration) -> Result<usize, StoreError> {
        let waiting = "SELECT count(*) FROM outbox";
        let count = || {
            let found = first_row(&replica.store.connection(), waiting, &[], |row| row.get(0));
            found.map(Option::<u32>::unwrap_or_default).map_err(failed("look at the copy"))
        };
        if count()? == 0 {
            return Ok(0);
        }
        // One process at a time: a slow one must not put an old state over the records of a hook that
        // has reached the server since.
        let path = replica.forward_lock();
        let folder = |source| StoreError::Folder { path: path.clone(), source };
        let lock = OpenOptions::new().create(true).append(true).open(&path).map_err(folder)?;
        wait_for(&lock, patience).map_err(folder)?;
        let records = WaitingRecords::read(&replica.store).map_err(failed("read the records"))?;
        if records.is_empty() {
            return Ok(0);
        }
        let hand_over = || {
            let transaction = self.begin()?;
            records.put_into(&transaction)?;
            transaction.commit()
        };
        hand_over().map_err(failed("hand the records to the server"))?;
        records.cross_off(&replica.store).map_err(failed("cross the records off"))?;
        Ok(records.count())
    }

    fn refresh_replica(
        &self,
        replica: &Replica,
        wish: ReplicaWish<'_>,
        now: Timestamp,
    ) -> Result<ReplicaRefresh, StoreError> {
        let failed = failed("copy what wake-ups need");
        pull::remember_sessions(&replica.store, wish, now).map_err(&failed)?;
        for _ in 0..MOST_ATTEMPTS {
            let known = pull::Known::read(&replica.store, wish.scope).map_err(&failed)?;
            if known.is_waiting {
                return Ok(ReplicaRefresh::Postponed);
            }
            let moment = ReadTransaction::begin(self.connection()).map_err(&failed)?;
            let pulled = PulledRows::read(&moment, &known, wish.scope).map_err(&failed)?;
            drop(moment);
            if pulled.put_into(&replica.store, &known, now).map_err(&failed)? {
                return Ok(ReplicaRefresh::Refreshed);
            }
        }
        Ok(ReplicaRefresh::Postponed)
    }
}

/// Reads every row of an answer as values, with the names of its columns.
fn values_of(
    connection: &Connection,
    sql: &str,
    values: &[&dyn driver::ToSql],
) -> driver::Result<(Vec<String>, Vec<Vec<driver::Value>>)> {
    let mut names = Vec::new();
    let found = super::rows(connection, sql, values, |row| {
        if names.is_empty() {
            names = row.names();
        }
        (0..names.len()).map(|at| Ok(row.get_ref(at)?.try_into()?)).collect()
    })?;
    Ok((names, found))
}
