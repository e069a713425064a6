//! What hooks recorded in a copy, and how the server takes it.
//!
//! A record is the present state of a row. Numbers of losses and times only grow, so the server keeps the
//! larger one; a message that was read stays read. So a record that comes twice, or late, changes nothing.

use serde_json::Value as Json;

use super::values_of;
use crate::sql::driver::{self, Connection, Error, ToSql, Value, params};
use crate::sql::transaction::ReadTransaction;
use crate::sql::{SqlStore, rows};

/// The records of a copy at one moment.
pub(super) struct WaitingRecords {
    /// The version of the copy at that moment.
    version: i64,
    records: Vec<Record>,
}

/// One record: a statement for the server for each row that belongs to it.
struct Record {
    changes: Vec<(&'static str, Vec<Value>)>,
}

/// How the rows of one kind of record are read, with the values of its key, and what the server does
/// with each.
type RowMerge = (&'static str, &'static str);

const READ: [RowMerge; 1] = [(
    "SELECT ?1, ?2, ?3, ?4",
    "DELETE FROM unread WHERE project = ?1 AND branch = ?2 AND agent = ?3 AND message_id = ?4",
)];

const AGENT: [RowMerge; 1] = [(
    "SELECT project, branch, name, client FROM agents \
     WHERE project = ?1 AND branch = ?2 AND name = ?3",
    "INSERT INTO agents (project, branch, name, client, status) SELECT ?1, ?2, ?3, ?4, 'idle' \
     WHERE EXISTS (SELECT 1 FROM projects WHERE name = ?1) \
     ON CONFLICT (project, branch, name) DO NOTHING",
)];

const COMPACTED: [RowMerge; 1] = [(
    "SELECT project, branch, name, compacted_at FROM agents \
     WHERE project = ?1 AND branch = ?2 AND name = ?3",
    "UPDATE agents SET compacted_at = ?4 WHERE project = ?1 AND branch = ?2 AND name = ?3",
)];

const SEEN: [RowMerge; 1] = [(
    "SELECT project, branch, name, coalesce(last_seen_message_id, 0) FROM agents \
     WHERE project = ?1 AND branch = ?2 AND name = ?3",
    "UPDATE agents SET last_seen_message_id = ?4 WHERE project = ?1 AND branch = ?2 \
     AND name = ?3 AND coalesce(last_seen_message_id, 0) < ?4",
)];

const SESSION: [RowMerge; 5] = [
    (
        "SELECT client, session_id, project, branch, agent FROM sessions \
         WHERE client = ?1 AND session_id = ?2",
        // A user may have bound it to another agent since.
        "INSERT INTO sessions (client, session_id, project, branch, agent) \
         SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM projects WHERE name = ?3) \
         ON CONFLICT (client, session_id) DO NOTHING",
    ),
    (
        "SELECT client, session_id, last, noticed_at, doubted, assumed, entries FROM losses \
         WHERE client = ?1 AND session_id = ?2",
        "INSERT INTO losses (client, session_id, last, noticed_at, doubted, assumed, entries) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (client, session_id) DO UPDATE SET \
         last = excluded.last, noticed_at = excluded.noticed_at, doubted = excluded.doubted, \
         assumed = excluded.assumed, entries = excluded.entries WHERE losses.last <= excluded.last",
    ),
    (
        "SELECT client, session_id, entry, heard, delivered, arrived, event, event_at \
         FROM memories WHERE client = ?1 AND session_id = ?2",
        "INSERT INTO memories (client, session_id, entry, heard, delivered, arrived, event, event_at) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         ON CONFLICT (client, session_id, entry) DO UPDATE SET \
         heard = CASE WHEN memories.heard > excluded.heard \
           THEN memories.heard ELSE excluded.heard END, \
         delivered = CASE WHEN memories.delivered > excluded.delivered \
           THEN memories.delivered ELSE excluded.delivered END, \
         arrived = CASE WHEN memories.arrived > excluded.arrived \
           THEN memories.arrived ELSE excluded.arrived END, \
         event = CASE WHEN excluded.event IS NULL OR memories.event_at > excluded.event_at \
           THEN memories.event ELSE excluded.event END, \
         event_at = CASE WHEN excluded.event IS NULL OR memories.event_at > excluded.event_at \
           THEN memories.event_at ELSE excluded.event_at END",
    ),
    (
        "SELECT client, session_id, max(loss) FROM deliveries \
         WHERE client = ?1 AND session_id = ?2 HAVING count(*) > 0",
        "DELETE FROM deliveries WHERE client = ?1 AND session_id = ?2 AND loss < ?3",
    ),
    (
        "SELECT client, session_id, loss, text, made_at, delivered_at, record_bytes, arrived_at, \
         messages, newest_known, entries, whose, read_until FROM deliveries \
         WHERE client = ?1 AND session_id = ?2",
        "INSERT INTO deliveries (client, session_id, loss, text, made_at, delivered_at, \
         record_bytes, arrived_at, messages, newest_known, entries, whose, read_until) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) \
         ON CONFLICT (client, session_id, loss) DO UPDATE SET text = excluded.text, \
         made_at = excluded.made_at, record_bytes = excluded.record_bytes, \
         delivered_at = coalesce(excluded.delivered_at, deliveries.delivered_at), \
         arrived_at = coalesce(excluded.arrived_at, deliveries.arrived_at), \
         messages = excluded.messages, newest_known = excluded.newest_known, \
         entries = excluded.entries, whose = excluded.whose, \
         read_until = coalesce(excluded.read_until, deliveries.read_until) \
         WHERE deliveries.made_at <= excluded.made_at",
    ),
];

const RECEIPT: [RowMerge; 1] = [(
    "SELECT pin_id, client, session_id, at FROM pin_receipts \
     WHERE pin_id = ?1 AND client = ?2 AND session_id = ?3",
    "INSERT INTO pin_receipts (pin_id, client, session_id, at) SELECT ?1, ?2, ?3, ?4 \
     WHERE EXISTS (SELECT 1 FROM pins WHERE id = ?1) \
     ON CONFLICT (pin_id, client, session_id) DO UPDATE SET at = excluded.at \
     WHERE pin_receipts.at < excluded.at",
)];

const FIRING: [RowMerge; 1] = [(
    "SELECT client, project, fired_at FROM firings WHERE client = ?1 AND project = ?2",
    "INSERT INTO firings (client, project, fired_at) SELECT ?1, ?2, ?3 \
     WHERE EXISTS (SELECT 1 FROM projects WHERE name = ?2) \
     ON CONFLICT (client, project) DO UPDATE SET fired_at = excluded.fired_at \
     WHERE firings.fired_at < excluded.fired_at",
)];

const INJECTION: [RowMerge; 1] = [(
    "SELECT project, branch, agent, plan_file, task_id, skill, version, sha256, mode, injected_at \
     FROM skill_history WHERE id = ?1",
    "INSERT INTO skill_history (project, branch, agent, plan_file, task_id, skill, version, \
     sha256, mode, injected_at) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10 \
     WHERE EXISTS (SELECT 1 FROM projects WHERE name = ?1) AND NOT EXISTS ( \
       SELECT 1 FROM skill_history WHERE project = ?1 AND branch = ?2 AND agent = ?3 \
       AND plan_file IS ?4 AND skill = ?6 AND injected_at = ?10)",
)];

/// Returns how the rows of a kind of record are merged. A kind of a later version has none here, and
/// waits for a program that knows it.
fn merges(kind: &str) -> Option<&'static [RowMerge]> {
    Some(match kind {
        "read" => &READ,
        "agent" => &AGENT,
        "compacted" => &COMPACTED,
        "seen" => &SEEN,
        "session" => &SESSION,
        "receipt" => &RECEIPT,
        "firing" => &FIRING,
        "injection" => &INJECTION,
        _ => return None,
    })
}

/// The kinds of records, with those first that others need.
const KINDS: [&str; 8] =
    ["agent", "session", "read", "seen", "compacted", "receipt", "firing", "injection"];

impl WaitingRecords {
    /// Reads all records of a copy, as they are at one moment.
    pub(super) fn read(replica: &SqlStore) -> driver::Result<Self> {
        let moment = ReadTransaction::begin(replica.connection())?;
        let version =
            moment.query_row("SELECT version FROM replica", [0_i64; 0], |row| row.get(0))?;
        let mut records = Vec::new();
        for kind in KINDS {
            let sql = "SELECT key FROM outbox WHERE kind = ?1 ORDER BY version";
            let keys: Vec<String> = rows(&moment, sql, params![kind], |row| row.get(0))?;
            for key in keys {
                records.push(Record::read(&moment, merges(kind).unwrap_or_default(), &key)?);
            }
        }
        Ok(Self { version, records })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    pub(super) fn count(&self) -> usize {
        self.records.len()
    }

    /// Makes the changes in the server's transaction.
    pub(super) fn put_into(&self, server: &Connection) -> driver::Result<()> {
        for (sql, values) in self.records.iter().flat_map(|record| &record.changes) {
            let values: Vec<_> = values.iter().map(|value| value as &dyn ToSql).collect();
            server.execute(sql, &*values)?;
        }
        Ok(())
    }

    /// Removes the records from the copy, except for those that were made again since.
    pub(super) fn cross_off(&self, replica: &SqlStore) -> driver::Result<()> {
        let kinds = KINDS.map(|kind| format!("'{kind}'")).join(", ");
        let sql = format!("DELETE FROM outbox WHERE version <= ?1 AND kind IN ({kinds})");
        replica.connection().execute(&sql, [self.version]).map(drop)
    }
}

impl Record {
    fn read(replica: &Connection, merges: &'static [RowMerge], key: &str) -> driver::Result<Self> {
        let key = key_values(key)?;
        let key: Vec<_> = key.iter().map(|value| value as &dyn ToSql).collect();
        let mut changes = Vec::new();
        for (select, merge) in merges {
            let (_, found) = values_of(replica, select, &key)?;
            changes.extend(found.into_iter().map(|values| (*merge, values)));
        }
        Ok(Self { changes })
    }
}

/// Returns the values that name a row.
fn key_values(key: &str) -> driver::Result<Vec<Value>> {
    let strange = || Error::strange(0, format!("`{key}` does not name a row"));
    let Ok(Json::Array(values)) = serde_json::from_str(key) else { return Err(strange()) };
    let value = |value: &Json| match value {
        Json::String(text) => Some(Value::Text(text.clone())),
        Json::Number(number) => number.as_i64().map(Value::Integer),
        Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_) => None,
    };
    values.iter().map(value).collect::<Option<_>>().ok_or_else(strange)
}
