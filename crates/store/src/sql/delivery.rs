//! Sessions and deliveries in SQL.

use convoke_domain::client::Client;
use convoke_domain::hook::{LastEvent, Losses, Memory, NoticedEvent, SAME_EVENT, View};
use convoke_domain::owner::Owner;
use convoke_domain::scope::{Address, Scope};
use jiff::Timestamp;

use super::claim::{self, answering, claim, taken_messages};
use super::row::{MessageIds, Time, Word};
use super::{SqlStore, failed, rows};
use crate::delivery::{
    Activity, BoundSession, Claimant, DeliveryStore, GivenText, LastText, NewText, Session,
    TextChoice, Wording,
};
use crate::error::StoreError;
use crate::sql::driver::{self, Connection, OptionalExtension, Row, params};

impl DeliveryStore for SqlStore {
    fn bind(&self, session: Session<'_>, agent: &Address) -> Result<(), StoreError> {
        let sql = "INSERT INTO sessions (client, session_id, project, branch, agent) \
                   VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (client, session_id) DO UPDATE SET \
                   project = excluded.project, branch = excluded.branch, agent = excluded.agent";
        let Address { scope, agent } = agent;
        let (client, id) = (session.client.name(), session.id);
        let values = params![client, id, scope.project, scope.branch, agent.as_str()];
        self.change("bind the session", sql, values).map(drop)
    }

    fn bound(&self, session: Session<'_>) -> Result<Option<Address>, StoreError> {
        let sql =
            "SELECT project, branch, agent FROM sessions WHERE client = ?1 AND session_id = ?2";
        let values = params![session.client.name(), session.id];
        self.read_first("find the session", sql, values, |row| {
            let scope = Scope { project: row.get(0)?, branch: row.get(1)? };
            Ok(Address { scope, agent: row.get(2).map(|Word(name)| name)? })
        })
    }

    fn sessions(&self, project: &str) -> Result<Vec<BoundSession>, StoreError> {
        let sql = "SELECT client, session_id, project, branch, agent, noticed_at FROM sessions \
                   LEFT JOIN losses USING (client, session_id) WHERE project = ?1 \
                   ORDER BY noticed_at DESC NULLS LAST, client, session_id";
        let read = |row: &Row<'_>| {
            let scope = Scope { project: row.get(2)?, branch: row.get(3)? };
            let agent = Address { scope, agent: row.get(4).map(|Word(name)| name)? };
            let noticed_at = row.get::<_, Option<Time>>(5)?.map(|Time(at)| at);
            let (client, id): (String, String) = (row.get(0)?, row.get(1)?);
            // A later version may know more clients.
            let client = Client::parse(&client);
            Ok(client.map(|client| BoundSession { client, id, agent, noticed_at }))
        };
        let sessions = self.read_all("list the sessions", sql, params![project], read)?;
        Ok(sessions.into_iter().flatten().collect())
    }

    fn fired(&self, client: Client, project: &str, now: Timestamp) -> Result<(), StoreError> {
        let sql = "INSERT INTO firings (client, project, fired_at) VALUES (?1, ?2, ?3) \
                   ON CONFLICT (client, project) DO UPDATE SET fired_at = excluded.fired_at";
        let values = params![client.name(), project, Time(now)];
        self.change("record the hook", sql, values).map(drop)
    }

    fn activity(&self, client: Client, project: &str) -> Result<Activity, StoreError> {
        let fired = "SELECT fired_at FROM firings WHERE client = ?1 AND project = ?2";
        // A loss that there was nothing to say about has an empty text. A session whose start no hook
        // reported is not bound; its text names the project in the first line of `whose`.
        let delivered = "SELECT delivered_at, arrived_at FROM deliveries \
                         LEFT JOIN sessions USING (client, session_id) \
                         WHERE client = ?1 AND text <> '' AND CASE WHEN project IS NULL \
                           THEN substr(whose, 1, length(?2) + 1) = ?2 || '\n' \
                           ELSE project = ?2 END \
                         AND delivered_at IS NOT NULL ORDER BY delivered_at DESC LIMIT 1";
        let values = params![client.name(), project];
        let time =
            |row: &Row<'_>, column| Ok(row.get::<_, Option<Time>>(column)?.map(|Time(at)| at));
        let doing = "read the deliveries";
        let fired_at = self.read_first(doing, fired, values, |row| time(row, 0))?;
        let both = |row: &Row<'_>| Ok((time(row, 0)?, time(row, 1)?));
        let last = self.read_first(doing, delivered, values, both)?;
        let (delivered_at, arrived_at) = last.unwrap_or_default();
        Ok(Activity { fired_at: fired_at.flatten(), delivered_at, arrived_at })
    }

    fn last_text(&self, session: Session<'_>, entry: u32) -> Result<Option<LastText>, StoreError> {
        let sql = "SELECT deliveries.*, coalesce(delivered_at, made_at) AS at, \
                   coalesce(arrived, 0) >= loss AS has_arrived \
                   FROM deliveries LEFT JOIN memories \
                   ON memories.client = deliveries.client \
                   AND memories.session_id = deliveries.session_id AND entry = ?3 \
                   WHERE deliveries.client = ?1 AND deliveries.session_id = ?2 \
                   ORDER BY loss DESC LIMIT 1";
        let read = |row: &Row<'_>| {
            let at = row.get("at").map(|Time(at)| at)?;
            let read_until = row.get::<_, Option<i64>>("read_until")?.map(i64::unsigned_abs);
            let arrived = row.get("has_arrived")?;
            Ok(LastText { wording: read_wording(row)?, at, arrived, read_until })
        };
        let values = params![session.client.name(), session.id, entry];
        self.read_first("read the last wake-up", sql, values, read)
    }

    fn record_read(&self, session: Session<'_>, until: u64) -> Result<(), StoreError> {
        let sql = "UPDATE deliveries SET read_until = ?3 WHERE client = ?1 AND session_id = ?2 \
                   AND loss = (SELECT max(loss) FROM deliveries \
                               WHERE client = ?1 AND session_id = ?2)";
        let until = i64::try_from(until).unwrap_or(i64::MAX);
        let values = params![session.client.name(), session.id, until];
        self.change("record what was read", sql, values).map(drop)
    }

    fn notice(
        &self,
        session: Session<'_>,
        entry: u32,
        noticed: NoticedEvent,
        claimant: Claimant<'_>,
        now: Timestamp,
    ) -> Result<Option<u32>, StoreError> {
        let notice = || {
            let transaction = self.begin()?;
            let before = view(&transaction, session, entry)?;
            let answering = answering(&transaction, session, entry, before, claimant, now)?;
            let (after, deliver) = before.hear(noticed, answering, now);
            if after != before {
                keep_view(&transaction, session, entry, after)?;
                record_arrival(&transaction, session, now)?;
            }
            if deliver {
                claim(&transaction, session, entry, after.losses.last, claimant, now)?;
            }
            transaction.commit()?;
            Ok(deliver.then_some(after.losses.last))
        };
        notice().map_err(failed("notice the event"))
    }

    fn keep_text(
        &self,
        session: Session<'_>,
        text: NewText<'_>,
        claimant: Claimant<'_>,
        now: Timestamp,
    ) -> Result<TextChoice, StoreError> {
        let NewText { loss, wording, is_outdated, .. } = text;
        let (client, id) = (session.client.name(), session.id);
        let keep = || {
            let transaction = self.begin()?;
            let sql = "SELECT * FROM deliveries \
                       WHERE client = ?1 AND session_id = ?2 AND loss = ?3";
            let read = |row: &Row<'_>| {
                let made_at = row.get("made_at").map(|Time(at)| at)?;
                Ok((read_wording(row)?, made_at))
            };
            let kept = transaction.query_row(sql, params![client, id, loss], read).optional()?;
            let is_replaced = match kept {
                Some((kept, made_at)) if !is_outdated(&kept, made_at) => {
                    return Ok(TextChoice::Deliver(kept));
                }
                Some(_) => true,
                None => false,
            };
            let taken = taken_messages(&transaction, session, &text, claimant, now)?;
            if !taken.is_empty() {
                return Ok(TextChoice::Taken(taken));
            }
            if is_replaced {
                // Deliveries of the replaced text do not count for this one.
                let sql = "UPDATE memories SET \
                           delivered = CASE WHEN delivered < ?3 THEN delivered ELSE ?3 - 1 END, \
                           arrived = CASE WHEN arrived < ?3 THEN arrived ELSE ?3 - 1 END \
                           WHERE client = ?1 AND session_id = ?2";
                transaction.execute(sql, params![client, id, loss])?;
            }
            let sql = "DELETE FROM deliveries \
                       WHERE client = ?1 AND session_id = ?2 AND loss <= ?3";
            transaction.execute(sql, params![client, id, loss])?;
            insert_wording(&transaction, session, loss, wording, now)?;
            transaction.commit()?;
            Ok(TextChoice::Deliver(wording.clone()))
        };
        keep().map_err(failed("keep the wake-up"))
    }

    fn hold(
        &self,
        session: Session<'_>,
        entry: u32,
        holder: &Owner,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE memories SET claimed = delivered, claim_pid = ?4, claim_mark = ?5, \
                   claim_at = ?6 WHERE client = ?1 AND session_id = ?2 AND entry = ?3";
        // The holder answers no loss, so none is left to it.
        let before = now.saturating_sub(SAME_EVENT).unwrap_or(now);
        let Owner { pid, mark } = holder;
        let values = params![session.client.name(), session.id, entry, pid, mark, Time(before)];
        self.change("record who holds the wake-up", sql, values).map(drop)
    }

    fn given(&self, session: Session<'_>) -> Result<Option<GivenText>, StoreError> {
        claim::given(&self.connection(), session).map_err(failed("read the last wake-up"))
    }

    fn given_to_others(
        &self,
        agent: &Address,
        session: Session<'_>,
    ) -> Result<Vec<GivenText>, StoreError> {
        let given = claim::given_to(&self.connection(), agent, session);
        given.map_err(failed("read the wake-ups of other sessions"))
    }

    fn is_settled(&self, session: Session<'_>) -> Result<bool, StoreError> {
        let sql = "SELECT last > 0 AND NOT EXISTS (SELECT 1 FROM memories \
                   WHERE client = ?1 AND session_id = ?2 AND delivered < last) \
                   FROM losses WHERE client = ?1 AND session_id = ?2";
        let values = params![session.client.name(), session.id];
        let settled = self.read_first("find the session", sql, values, |row| row.get(0))?;
        Ok(settled.unwrap_or(false))
    }

    fn delivered(
        &self,
        session: Session<'_>,
        entry: u32,
        loss: u32,
        now: Timestamp,
    ) -> Result<Vec<u32>, StoreError> {
        let (client, id) = (session.client.name(), session.id);
        let store = || {
            let transaction = self.begin()?;
            let sql = "UPDATE memories SET delivered = ?4 WHERE client = ?1 AND session_id = ?2 \
                       AND entry = ?3 AND delivered < ?4";
            transaction.execute(sql, params![client, id, entry, loss])?;
            let sql = "UPDATE deliveries SET delivered_at = ?4 \
                       WHERE client = ?1 AND session_id = ?2 AND loss = ?3";
            transaction.execute(sql, params![client, id, loss, Time(now)])?;
            let sql = "SELECT entry FROM memories \
                       WHERE client = ?1 AND session_id = ?2 AND delivered >= ?3 ORDER BY entry";
            let entries = rows(&transaction, sql, params![client, id, loss], |row| row.get(0))?;
            transaction.commit()?;
            Ok(entries)
        };
        store().map_err(failed("record the delivery"))
    }
}

fn insert_wording(
    connection: &Connection,
    session: Session<'_>,
    loss: u32,
    wording: &Wording,
    now: Timestamp,
) -> driver::Result<()> {
    let sql = "INSERT INTO deliveries (client, session_id, loss, text, messages, newest_known, \
               record_bytes, made_at, entries, whose) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
    let messages = MessageIds(wording.messages.clone());
    let values = params![
        session.client.name(),
        session.id,
        loss,
        wording.text,
        messages,
        wording.newest_known,
        i64::try_from(wording.record_bytes).unwrap_or(i64::MAX),
        Time(now),
        wording.entries,
        wording.whose,
    ];
    connection.execute(sql, values).map(drop)
}

pub(super) fn read_wording(row: &Row<'_>) -> driver::Result<Wording> {
    let record_bytes = row.get("record_bytes").map(i64::unsigned_abs)?;
    let MessageIds(messages) = row.get("messages")?;
    let newest_known = row.get("newest_known")?;
    let (entries, whose) = (row.get("entries")?, row.get("whose")?);
    Ok(Wording { text: row.get("text")?, messages, newest_known, record_bytes, entries, whose })
}

/// Returns a session as one of its hook entries sees it.
fn view(connection: &Connection, session: Session<'_>, entry: u32) -> driver::Result<View> {
    let (client, id) = (session.client.name(), session.id);
    let sql = "SELECT last, noticed_at, doubted, assumed, entries FROM losses \
               WHERE client = ?1 AND session_id = ?2";
    let losses = connection.query_row(sql, params![client, id], |row| {
        let at: Option<Time> = row.get(1)?;
        let at = at.map(|Time(at)| at);
        let (last, doubted, assumed) = (row.get(0)?, row.get(2)?, row.get(3)?);
        Ok(Losses { last, at, doubted, assumed, entries: row.get(4)? })
    });
    let sql = "SELECT heard, delivered, arrived, event, event_at FROM memories \
               WHERE client = ?1 AND session_id = ?2 AND entry = ?3";
    let memory = connection.query_row(sql, params![client, id, entry], |row| {
        let event: Option<i64> = row.get(3)?;
        let event_at: Option<Time> = row.get(4)?;
        let event = event.zip(event_at);
        let event = event.map(|(mark, Time(at))| LastEvent { mark: mark.cast_unsigned(), at });
        Ok(Memory { heard: row.get(0)?, delivered: row.get(1)?, arrived: row.get(2)?, event })
    });
    let losses = losses.optional()?.unwrap_or_default();
    Ok(View { losses, memory: memory.optional()?.unwrap_or_default() })
}

fn keep_view(
    connection: &Connection,
    session: Session<'_>,
    entry: u32,
    view: View,
) -> driver::Result<()> {
    let (client, id) = (session.client.name(), session.id);
    let Losses { last, at, doubted, assumed, entries } = view.losses;
    let sql = "INSERT INTO losses \
               (client, session_id, last, noticed_at, doubted, assumed, entries) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) \
               ON CONFLICT (client, session_id) DO UPDATE SET \
               last = excluded.last, noticed_at = excluded.noticed_at, \
               doubted = excluded.doubted, assumed = excluded.assumed, \
               entries = excluded.entries";
    connection.execute(sql, params![client, id, last, at.map(Time), doubted, assumed, entries])?;
    let Memory { heard, delivered, arrived, event } = view.memory;
    let (mark, at) = (event.map(|last| last.mark.cast_signed()), event.map(|last| Time(last.at)));
    let sql = "INSERT INTO memories \
               (client, session_id, entry, heard, delivered, arrived, event, event_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
               ON CONFLICT (client, session_id, entry) DO UPDATE SET \
               heard = excluded.heard, delivered = excluded.delivered, \
               arrived = excluded.arrived, event = excluded.event, event_at = excluded.event_at";
    let values = params![client, id, entry, heard, delivered, arrived, mark, at];
    connection.execute(sql, values).map(drop)
}

/// A text has arrived once every entry has found its part.
fn record_arrival(
    connection: &Connection,
    session: Session<'_>,
    now: Timestamp,
) -> driver::Result<()> {
    let sql = "UPDATE deliveries SET arrived_at = ?3, delivered_at = coalesce(delivered_at, ?3) \
               WHERE client = ?1 AND session_id = ?2 AND arrived_at IS NULL AND loss <= ( \
                 SELECT min(arrived) FROM memories WHERE client = ?1 AND session_id = ?2)";
    let values = params![session.client.name(), session.id, Time(now)];
    connection.execute(sql, values).map(drop)
}
