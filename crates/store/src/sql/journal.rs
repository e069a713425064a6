//! Journals in SQL.

use std::sync::MutexGuard;

use convoke_domain::run::{RunId, RunState};
use convoke_domain::scope::Scope;
use jiff::Timestamp;

use super::row::{Time, Word, one_of, stored};
use super::transaction::WriteTransaction;
use super::{SqlStore, failed};
use crate::error::StoreError;
use crate::journal::{Entry, JournalStore, NewEvent, Run, beginning, link};
use crate::sql::driver::{
    self, Connection, FromSql, FromSqlError, FromSqlResult, OptionalExtension, Row, ValueRef,
    params,
};

/// How many events are read in one query; the store is usable between queries.
const AT_ONCE: u32 = 64;

impl JournalStore for SqlStore {
    fn begin_run(
        &self,
        id: &RunId,
        scope: &Scope,
        feature: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO runs (id, project, branch, feature, state, started_at, last_seq, \
                   last_chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, ?7) ON CONFLICT DO NOTHING";
        let Scope { project, branch } = scope;
        let chain = beginning(id, scope, feature);
        let state = RunState::Running.name();
        let values = params![id.as_str(), project, branch, feature, state, Time(now), chain];
        let begun = self.durably().and_then(|connection| connection.execute(sql, values));
        match begun.map_err(failed("record the run"))? {
            0 => Err(StoreError::RunExists { id: id.clone() }),
            _ => Ok(()),
        }
    }

    fn mark_run(&self, id: &RunId, state: RunState, now: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE runs SET state = ?2, ended_at = ?3 WHERE id = ?1";
        let ended = (state != RunState::Running).then_some(Time(now));
        let values = params![id.as_str(), state.name(), ended];
        let marked = self.durably().and_then(|connection| connection.execute(sql, values));
        match marked.map_err(failed("mark the run"))? {
            0 => Err(StoreError::NoRun { id: id.clone() }),
            _ => Ok(()),
        }
    }

    fn append(&self, id: &RunId, seq: u64, events: &[NewEvent<'_>]) -> Result<String, StoreError> {
        let wrong = failed("write the journal");
        let transaction = self.durably().and_then(WriteTransaction::begin).map_err(&wrong)?;
        let Some((last, mut chain)) = end_of(&transaction, id).map_err(&wrong)? else {
            return Err(StoreError::NoRun { id: id.clone() });
        };
        if seq != last + 1 {
            return Err(StoreError::OutOfTurn { id: id.clone(), seq, next: last + 1 });
        }
        for (seq, event) in (seq..).zip(events) {
            chain = link(&chain, seq, event);
            add(&transaction, id, seq, event, &chain).map_err(&wrong)?;
        }
        let sql = "UPDATE runs SET last_seq = last_seq + ?2, last_chain = ?3 WHERE id = ?1";
        let values = params![id.as_str(), stored(events.len() as u64), chain];
        transaction.execute(sql, values).map_err(&wrong)?;
        transaction.commit().map_err(&wrong)?;
        Ok(chain)
    }

    fn replay(&self, id: &RunId, from: u64, hear: &mut dyn FnMut(Entry)) -> Result<(), StoreError> {
        let sql = "SELECT * FROM journal WHERE run_id = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
        let mut after = stored(from) - 1;
        loop {
            let values = params![id.as_str(), after, AT_ONCE];
            let entries = self.read_all("read the journal", sql, values, read_entry)?;
            let Some(last) = entries.last() else { return Ok(()) };
            after = stored(last.seq);
            entries.into_iter().for_each(&mut *hear);
        }
    }

    fn event(&self, id: &RunId, seq: u64) -> Result<Option<Entry>, StoreError> {
        let sql = "SELECT * FROM journal WHERE run_id = ?1 AND seq = ?2";
        let found =
            self.read_all("read the journal", sql, params![id.as_str(), stored(seq)], read_entry);
        Ok(found?.into_iter().next())
    }

    fn runs(&self, project: &str) -> Result<Vec<Run>, StoreError> {
        let sql = "SELECT * FROM runs WHERE project = ?1 ORDER BY started_at DESC, id DESC";
        self.read_all("list the runs", sql, params![project], read_run)
    }

    fn run(&self, project: &str, id: &RunId) -> Result<Run, StoreError> {
        let sql = "SELECT * FROM runs WHERE project = ?1 AND substr(id, 1, length(?2)) = ?2 \
                   ORDER BY id LIMIT 2";
        let found = self.read_all("find the run", sql, params![project, id.as_str()], read_run);
        let mut found = found?.into_iter();
        match (found.next(), found.next()) {
            (None, _) => Err(StoreError::NoRun { id: id.clone() }),
            // The shortest comes first, so one that is called exactly so does.
            (Some(run), Some(_)) if run.id != *id => Err(StoreError::ManyRuns { id: id.clone() }),
            (Some(run), _) => Ok(run),
        }
    }
}

impl SqlStore {
    /// Returns a connection whose every change is on the disk once it is made. The store's own way
    /// survives the death of any process, but may lose its last changes when the power fails; to
    /// lose an event is to pay for the work again that it tells of.
    fn durably(&self) -> driver::Result<MutexGuard<'_, Connection>> {
        let connection = self.connection();
        match &*connection {
            Connection::Sqlite(file) => file.execute_batch("PRAGMA synchronous = FULL")?,
            // A server writes every change through before it confirms it.
            #[cfg(feature = "postgres")]
            Connection::Server(_) => {}
        }
        Ok(connection)
    }
}

fn end_of(connection: &Connection, id: &RunId) -> driver::Result<Option<(u64, String)>> {
    let sql = "SELECT last_seq, last_chain FROM runs WHERE id = ?1";
    let read = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?));
    connection.prepare_cached(sql)?.query_row([id.as_str()], read).optional()
}

fn add(
    connection: &Connection,
    id: &RunId,
    seq: u64,
    event: &NewEvent<'_>,
    chain: &str,
) -> driver::Result<()> {
    let sql = "INSERT INTO journal (run_id, seq, at_ms, kind, body, chain) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let NewEvent { at_ms, kind, body } = event;
    let values = params![id.as_str(), stored(seq), at_ms, kind, body, chain];
    connection.prepare_cached(sql)?.execute(values).map(drop)
}

pub(super) fn read_entry(row: &Row<'_>) -> driver::Result<Entry> {
    Ok(Entry {
        seq: row.get("seq").map(i64::unsigned_abs)?,
        at_ms: row.get("at_ms")?,
        kind: row.get("kind")?,
        body: row.get("body")?,
        chain: row.get("chain")?,
    })
}

pub(super) fn read_run(row: &Row<'_>) -> driver::Result<Run> {
    let ended_at: Option<Time> = row.get("ended_at")?;
    Ok(Run {
        id: row.get("id").map(|Word(id)| id)?,
        scope: Scope { project: row.get("project")?, branch: row.get("branch")? },
        begun_in: row.get("begun_in")?,
        feature: row.get("feature")?,
        state: one_of(row, "state", RunState::parse)?,
        started_at: row.get("started_at").map(|Time(at)| at)?,
        ended_at: ended_at.map(|Time(at)| at),
        last_seq: row.get("last_seq").map(i64::unsigned_abs)?,
        last_chain: row.get("last_chain")?,
    })
}

impl FromSql for Word<RunId> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        RunId::parse(value.as_str()?).map(Self).map_err(FromSqlError::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::BackendTrouble;
    use crate::journal::Integrity;

    fn run() -> RunId {
        RunId::parse("20260101-000000-00000").unwrap()
    }

    /// A store with a journal of three events.
    fn kept(folder: &tempfile::TempDir) -> SqlStore {
        let store = SqlStore::open(&folder.path().join("store.db")).unwrap();
        let scope = Scope::new("app", "main");
        store.begin_run(&run(), &scope, "Add a search", Timestamp::UNIX_EPOCH).unwrap();
        let events = ["one", "two", "three"].map(|kind| NewEvent { at_ms: 5, kind, body: "{}" });
        store.append(&run(), 1, &events).unwrap();
        store
    }

    #[test]
    fn every_change_behind_the_stores_back_is_noticed() {
        let cases = [
            ("UPDATE journal SET body = '{ }' WHERE seq = 2", 2),
            ("UPDATE journal SET kind = 'four' WHERE seq = 3", 3),
            ("UPDATE journal SET at_ms = 6 WHERE seq = 1", 1),
            ("UPDATE journal SET chain = upper(chain) WHERE seq = 2", 2),
            ("UPDATE journal SET seq = 4 WHERE seq = 3", 3),
            ("DELETE FROM journal WHERE seq = 1", 1),
            ("DELETE FROM journal WHERE seq = 3", 3),
            ("DELETE FROM journal", 1),
            ("UPDATE runs SET last_chain = ''", 3),
            ("UPDATE runs SET last_seq = 2", 3),
            ("UPDATE runs SET last_seq = 4", 4),
            ("UPDATE runs SET feature = 'Remove the search'", 1),
            ("UPDATE runs SET branch = 'other'", 1),
            ("DELETE FROM journal; UPDATE runs SET last_seq = 0", 0),
        ];
        for (change, seq) in cases {
            let folder = tempfile::tempdir().unwrap();
            let store = kept(&folder);
            assert_eq!(store.verify("app", &run()).unwrap(), Integrity::Sound);
            store.connection().execute_batch(change).unwrap();
            assert_eq!(store.verify("app", &run()).unwrap(), Integrity::BrokenAt(seq), "{change}");
        }
    }

    #[test]
    fn an_event_is_on_the_disk_when_it_was_appended() {
        let folder = tempfile::tempdir().unwrap();
        let store = kept(&folder);
        let sql = "PRAGMA synchronous";
        let level: i64 = store.connection().query_row(sql, params![], |row| row.get(0)).unwrap();
        assert_eq!(level, 2, "the log is written through at every commit");
    }

    #[test]
    fn a_store_that_can_take_no_more_says_so_and_keeps_what_it_has() {
        let full = "PRAGMA max_page_count = 1";
        let read_only = "PRAGMA query_only = ON";
        for (limit, expected) in
            [(full, BackendTrouble::Full), (read_only, BackendTrouble::NotWritable)]
        {
            let folder = tempfile::tempdir().unwrap();
            let store = kept(&folder);
            store.connection().execute_batch(limit).unwrap();
            let event = NewEvent { at_ms: 5, kind: "four", body: &"x".repeat(100_000) };
            let error = store.append(&run(), 4, &[event]).unwrap_err();
            let StoreError::Failed { trouble, .. } = &error else { panic!("{error:?}") };
            assert_eq!(*trouble, expected);
            assert!(error.hint().is_some());
            assert_eq!(store.events(&run()).unwrap().len(), 3);
            assert_eq!(store.verify("app", &run()).unwrap(), Integrity::Sound);
        }
    }
}
