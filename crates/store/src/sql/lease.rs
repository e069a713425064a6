//! Leases of runs in SQL.

use convoke_domain::owner::Owner;
use convoke_domain::run::RunId;
use jiff::Timestamp;

use super::row::{Time, Word};
use super::{SqlStore, failed, first_row, rows};
use crate::error::StoreError;
use crate::lease::{LeaseAnswer, LeaseClaim, LeaseStore, RunLease};
use crate::sql::driver::{self, Connection, Row, params};

impl LeaseStore for SqlStore {
    fn take_lease(
        &self,
        run: &RunId,
        claim: LeaseClaim<'_>,
        now: Timestamp,
    ) -> Result<LeaseAnswer, StoreError> {
        let take = || {
            let transaction = self.begin()?;
            let now = clock(&transaction, now)?;
            let sql = "SELECT * FROM run_leases WHERE run_id = ?1";
            let held = first_row(&transaction, sql, params![run.as_str()], read_lease)?;
            let is_held = |lease: &RunLease| {
                lease.owner != *claim.owner && lease.until > now && !(claim.is_gone)(&lease.owner)
            };
            if let Some(lease) = held.filter(is_held) {
                return Ok(LeaseAnswer::HeldBy(lease));
            }
            let sql = "INSERT INTO run_leases (run_id, owner_pid, owner_mark, machine, until) \
                       VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (run_id) DO UPDATE SET \
                       owner_pid = excluded.owner_pid, owner_mark = excluded.owner_mark, \
                       machine = excluded.machine, until = excluded.until";
            let until = Time(now.checked_add(claim.lasts).unwrap_or(now));
            let Owner { pid, mark } = claim.owner;
            transaction.execute(sql, params![run.as_str(), pid, mark, claim.machine, until])?;
            transaction.commit()?;
            Ok(LeaseAnswer::Taken)
        };
        take().map_err(failed("take the run"))
    }

    fn end_lease(&self, run: &RunId, owner: &Owner) -> Result<(), StoreError> {
        let sql = "DELETE FROM run_leases \
                   WHERE run_id = ?1 AND owner_pid = ?2 AND owner_mark = ?3";
        let values = params![run.as_str(), owner.pid, owner.mark];
        self.change("give the run back", sql, values).map(drop)
    }

    fn leases(&self, now: Timestamp) -> Result<Vec<RunLease>, StoreError> {
        let read = || {
            let connection = self.connection();
            let now = clock(&connection, now)?;
            let sql = "SELECT * FROM run_leases WHERE until > ?1 ORDER BY run_id";
            rows(&connection, sql, params![Time(now)], read_lease)
        };
        read().map_err(failed("find the runs that are worked on"))
    }
}

/// Returns the time by the store's clock.
#[cfg_attr(
    not(feature = "postgres"),
    expect(clippy::unnecessary_wraps, reason = "only the clock of a server can fail")
)]
pub(super) fn clock(connection: &Connection, now: Timestamp) -> driver::Result<Timestamp> {
    match connection {
        Connection::Sqlite(_) => Ok(now),
        #[cfg(feature = "postgres")]
        Connection::Server(_) => {
            let sql = "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', \
                       'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')";
            connection.query_row(sql, params![], |row| row.get(0).map(|Time(now)| now))
        }
    }
}

fn read_lease(row: &Row<'_>) -> driver::Result<RunLease> {
    Ok(RunLease {
        run: row.get("run_id").map(|Word(run)| run)?,
        owner: Owner { pid: row.get("owner_pid")?, mark: row.get("owner_mark")? },
        machine: row.get("machine")?,
        until: row.get("until").map(|Time(until)| until)?,
    })
}
