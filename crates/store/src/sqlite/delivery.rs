//! Sessions and deliveries in SQLite.

use convoke_domain::hook::{Client, Memory, Moment, Trace};
use convoke_domain::scope::{Address, Scope};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::row::{Time, Word};
use super::{SqliteStore, failed};
use crate::delivery::{Activity, DeliveryStore, LastText, Session};
use crate::error::StoreError;

impl DeliveryStore for SqliteStore {
    fn bind(&self, session: Session<'_>, agent: &Address) -> Result<(), StoreError> {
        let sql = "INSERT INTO sessions (client, session_id, project, branch, agent) \
                   VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET \
                   project = excluded.project, branch = excluded.branch, agent = excluded.agent";
        let Address { scope, agent } = agent;
        let (client, id) = (session.client.name(), session.id);
        let values = params![client, id, scope.project, scope.branch, agent.as_str()];
        self.connection.execute(sql, values).map(drop).map_err(failed("bind the session"))
    }

    fn bound(&self, session: Session<'_>) -> Result<Option<Address>, StoreError> {
        let sql =
            "SELECT project, branch, agent FROM sessions WHERE client = ?1 AND session_id = ?2";
        let found =
            self.connection.query_row(sql, params![session.client.name(), session.id], |row| {
                let scope = Scope { project: row.get(0)?, branch: row.get(1)? };
                Ok(Address { scope, agent: row.get(2).map(|Word(name)| name)? })
            });
        found.optional().map_err(failed("find the session"))
    }

    fn fired(&self, client: Client, project: &str, now: Timestamp) -> Result<(), StoreError> {
        let sql = "INSERT INTO firings (client, project, fired_at) VALUES (?1, ?2, ?3) \
                   ON CONFLICT DO UPDATE SET fired_at = excluded.fired_at";
        let values = params![client.name(), project, Time(now)];
        self.connection.execute(sql, values).map(drop).map_err(failed("record the hook"))
    }

    fn activity(&self, client: Client, project: &str) -> Result<Activity, StoreError> {
        let fired = "SELECT fired_at FROM firings WHERE client = ?1 AND project = ?2";
        // A loss that there was nothing to say about has an empty text.
        let delivered = "SELECT delivered_at, arrived_at FROM deliveries \
                         JOIN sessions USING (client, session_id) \
                         WHERE client = ?1 AND project = ?2 AND text <> '' \
                         AND delivered_at IS NOT NULL ORDER BY delivered_at DESC LIMIT 1";
        let values = params![client.name(), project];
        let time =
            |row: &Row<'_>, column| Ok(row.get::<_, Option<Time>>(column)?.map(|Time(at)| at));
        let read = || {
            let fired_at =
                self.connection.query_row(fired, values, |row| time(row, 0)).optional()?;
            let both = |row: &Row<'_>| Ok((time(row, 0)?, time(row, 1)?));
            let last = self.connection.query_row(delivered, values, both).optional()?;
            let (delivered_at, arrived_at) = last.unwrap_or_default();
            Ok(Activity { fired_at: fired_at.flatten(), delivered_at, arrived_at })
        };
        read().map_err(failed("read the deliveries"))
    }

    fn last_text(&self, session: Session<'_>, entry: u32) -> Result<Option<LastText>, StoreError> {
        let sql = "SELECT text, coalesce(delivered_at, made_at), coalesce(arrived, 0) >= loss \
                   FROM deliveries LEFT JOIN memories \
                   ON memories.client = deliveries.client \
                   AND memories.session_id = deliveries.session_id AND entry = ?3 \
                   WHERE deliveries.client = ?1 AND deliveries.session_id = ?2 \
                   ORDER BY loss DESC LIMIT 1";
        let read = |row: &Row<'_>| {
            let at = row.get(1).map(|Time(at)| at)?;
            Ok(LastText { text: row.get(0)?, at, arrived: row.get(2)? })
        };
        let values = params![session.client.name(), session.id, entry];
        let found = self.connection.query_row(sql, values, read).optional();
        found.map_err(failed("read the last wake-up"))
    }

    fn notice(
        &self,
        session: Session<'_>,
        entry: u32,
        moment: Moment,
        trace: Trace,
        now: Timestamp,
    ) -> Result<Option<u32>, StoreError> {
        let notice = || {
            let transaction = self.begin()?;
            let before = memory(&transaction, session, entry)?;
            let (memory, deliver) = before.at(moment, trace);
            if memory != before {
                keep_memory(&transaction, session, entry, memory)?;
                record_arrival(&transaction, session, now)?;
            }
            transaction.commit()?;
            Ok(deliver.then_some(memory.lost))
        };
        notice().map_err(failed("notice the event"))
    }

    fn keep_text(
        &self,
        session: Session<'_>,
        loss: u32,
        text: &str,
        now: Timestamp,
    ) -> Result<String, StoreError> {
        let (client, id) = (session.client.name(), session.id);
        let keep = || {
            let sql = "INSERT OR IGNORE INTO deliveries (client, session_id, loss, text, made_at) \
                       VALUES (?1, ?2, ?3, ?4, ?5)";
            self.connection.execute(sql, params![client, id, loss, text, Time(now)])?;
            let sql = "SELECT text FROM deliveries \
                       WHERE client = ?1 AND session_id = ?2 AND loss = ?3";
            self.connection.query_row(sql, params![client, id, loss], |row| row.get(0))
        };
        keep().map_err(failed("keep the wake-up"))
    }

    fn delivered(
        &self,
        session: Session<'_>,
        entry: u32,
        loss: u32,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (client, id) = (session.client.name(), session.id);
        let store = || {
            let transaction = self.begin()?;
            let sql = "UPDATE memories SET delivered = max(delivered, ?4) \
                       WHERE client = ?1 AND session_id = ?2 AND entry = ?3";
            transaction.execute(sql, params![client, id, entry, loss])?;
            let sql = "UPDATE deliveries SET delivered_at = ?4 \
                       WHERE client = ?1 AND session_id = ?2 AND loss = ?3";
            transaction.execute(sql, params![client, id, loss, Time(now)])?;
            transaction.commit()
        };
        store().map_err(failed("record the delivery"))
    }
}

fn memory(connection: &Connection, session: Session<'_>, entry: u32) -> rusqlite::Result<Memory> {
    let sql = "SELECT lost, delivered, arrived, doubted FROM memories \
               WHERE client = ?1 AND session_id = ?2 AND entry = ?3";
    let read = |row: &Row<'_>| {
        let (lost, delivered) = (row.get(0)?, row.get(1)?);
        Ok(Memory { lost, delivered, arrived: row.get(2)?, doubted: row.get(3)? })
    };
    let values = params![session.client.name(), session.id, entry];
    Ok(connection.query_row(sql, values, read).optional()?.unwrap_or_default())
}

fn keep_memory(
    connection: &Connection,
    session: Session<'_>,
    entry: u32,
    memory: Memory,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO memories \
               (client, session_id, entry, lost, delivered, arrived, doubted) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO UPDATE SET \
               lost = excluded.lost, delivered = excluded.delivered, \
               arrived = excluded.arrived, doubted = excluded.doubted";
    let (client, id) = (session.client.name(), session.id);
    let Memory { lost, delivered, arrived, doubted } = memory;
    connection.execute(sql, params![client, id, entry, lost, delivered, arrived, doubted]).map(drop)
}

/// A text has arrived once every entry has found its part.
fn record_arrival(
    connection: &Connection,
    session: Session<'_>,
    now: Timestamp,
) -> rusqlite::Result<()> {
    let sql = "UPDATE deliveries SET arrived_at = ?3, delivered_at = coalesce(delivered_at, ?3) \
               WHERE client = ?1 AND session_id = ?2 AND arrived_at IS NULL AND loss <= ( \
                 SELECT min(arrived) FROM memories WHERE client = ?1 AND session_id = ?2)";
    let values = params![session.client.name(), session.id, Time(now)];
    connection.execute(sql, values).map(drop)
}
