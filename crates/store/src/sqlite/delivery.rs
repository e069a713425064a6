//! Sessions and deliveries in SQLite.

use convoke_domain::hook::{Memory, Moment};
use convoke_domain::scope::{Address, Scope};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};

use super::row::{Time, Word};
use super::{SqliteStore, failed};
use crate::delivery::{DeliveryStore, Session};
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

    fn notice(
        &self,
        session: Session<'_>,
        entry: u32,
        moment: Moment,
    ) -> Result<Option<u32>, StoreError> {
        let (client, id) = (session.client.name(), session.id);
        let notice = || {
            let transaction = self.begin()?;
            let sql = "SELECT lost, delivered FROM memories \
                       WHERE client = ?1 AND session_id = ?2 AND entry = ?3";
            let read =
                |row: &rusqlite::Row<'_>| Ok(Memory { lost: row.get(0)?, delivered: row.get(1)? });
            let known = transaction.query_row(sql, params![client, id, entry], read).optional()?;
            let before = known.unwrap_or_default();
            let (memory, deliver) = before.at(moment);
            if memory != before {
                let sql = "INSERT INTO memories (client, session_id, entry, lost, delivered) \
                           VALUES (?1, ?2, ?3, ?4, ?5) \
                           ON CONFLICT DO UPDATE SET lost = excluded.lost";
                let values = params![client, id, entry, memory.lost, memory.delivered];
                transaction.execute(sql, values)?;
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
