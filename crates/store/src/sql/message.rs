//! Messages and deeds in SQL.

mod thread;

use convoke_domain::message::{ActivityEvent, Message, MessageKind};
use convoke_domain::scope::{Address, AgentName, Scope};
use convoke_domain::wake::hop::hop_of_message;
use jiff::Timestamp;

use super::row::{Time, Word, one_of, stored};
use super::{SqlStore, failed, rows};
use crate::error::StoreError;
use crate::message::{
    InboxFilter, MessageReceipt, MessageStore, NewMessage, ScopedMessage, StoredMessage,
};
use crate::sql::driver::{self, Connection, OptionalExtension, Row, params};

impl MessageStore for SqlStore {
    fn say(
        &self,
        scope: &Scope,
        message: &NewMessage<'_>,
        now: Timestamp,
    ) -> Result<StoredMessage, StoreError> {
        let store = || {
            let transaction = self.begin()?;
            let said = insert(&transaction, scope, message, now)?;
            transaction.commit()?;
            Ok(said)
        };
        store().map_err(failed("store the message"))
    }

    fn reply(
        &self,
        scope: &Scope,
        to: i64,
        message: &NewMessage<'_>,
        now: Timestamp,
    ) -> Result<StoredMessage, StoreError> {
        let failed = failed("store the message");
        let transaction = self.begin().map_err(&failed)?;
        thread::find(&transaction, scope, to)?.ok_or(StoreError::NoMessage { id: to })?;
        let said = insert(&transaction, scope, message, now).map_err(&failed)?;
        let sql = "UPDATE messages SET re = ?1 WHERE id = ?2";
        transaction.execute(sql, [to, said.id]).map_err(&failed)?;
        transaction.commit().map_err(failed)?;
        Ok(said)
    }

    fn message(&self, scope: &Scope, id: i64) -> Result<Option<ScopedMessage>, StoreError> {
        thread::find(&self.connection(), scope, id)
    }

    fn thread(&self, scope: &Scope, id: i64) -> Result<Vec<Message>, StoreError> {
        thread::read(&self.connection(), scope, id)
    }

    fn recent_messages(&self, scope: &Scope, most: usize) -> Result<Vec<Message>, StoreError> {
        let sql = "SELECT * FROM (SELECT * FROM messages WHERE project = ?1 AND branch = ?2 \
                   ORDER BY id DESC LIMIT ?3) AS last ORDER BY id";
        messages(&self.connection(), sql, params![scope.project, scope.branch, stored(most)])
    }

    fn visible_messages(
        &self,
        scope: &Scope,
        before: Option<i64>,
        most: usize,
    ) -> Result<Vec<Message>, StoreError> {
        thread::visible(&self.connection(), scope, before, most)
    }

    fn count_visible_messages(&self, scope: &Scope) -> Result<usize, StoreError> {
        let sql = thread::count_visible();
        let values = params![scope.project, scope.branch];
        let count = self.read_first("count the messages", &sql, values, |row| row.get(0))?;
        Ok(count.map_or(0, |count: u32| count as usize))
    }

    fn addressed_to(
        &self,
        scope: &Scope,
        agent: &AgentName,
        which: InboxFilter,
        before: Option<i64>,
        most: usize,
    ) -> Result<Vec<Message>, StoreError> {
        let found = match which {
            InboxFilter::Unread => UNREAD,
            InboxFilter::All => ADDRESSED,
        };
        let sql = format!(
            "SELECT messages.* FROM messages JOIN ({found} AND message_id < ?4 \
             ORDER BY message_id DESC LIMIT ?5) AS found ON id = message_id ORDER BY id"
        );
        let before = before.unwrap_or(i64::MAX);
        let values = params![scope.project, scope.branch, agent.as_str(), before, stored(most)];
        messages(&self.connection(), &sql, values)
    }

    fn count_addressed_to(
        &self,
        scope: &Scope,
        agent: &AgentName,
        which: InboxFilter,
    ) -> Result<usize, StoreError> {
        let sql = match which {
            InboxFilter::Unread => "SELECT coalesce(sum(messages), 0) FROM unread_counts \
                                  WHERE project = ?1 AND branch = ?2 AND agent = ?3"
                .to_owned(),
            InboxFilter::All => format!("SELECT count(*) FROM ({ADDRESSED}) AS found"),
        };
        let values = params![scope.project, scope.branch, agent.as_str()];
        let count = self.read_first("count the messages", &sql, values, |row| row.get(0))?;
        Ok(count.map_or(0, |count: u32| count as usize))
    }

    fn unread_branches(
        &self,
        project: &str,
        agent: &AgentName,
    ) -> Result<Vec<(String, usize)>, StoreError> {
        let sql = "SELECT branch, messages FROM unread_counts \
                   WHERE project = ?1 AND agent = ?2 AND messages > 0 ORDER BY branch";
        let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, u32>(1)? as usize));
        self.read_all("count the messages", sql, params![project, agent.as_str()], read)
    }

    fn record_event(
        &self,
        scope: &Scope,
        actor: &AgentName,
        verb_phrase: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let store = || {
            let transaction = self.begin()?;
            insert_event(&transaction, scope, actor, verb_phrase, now)?;
            transaction.commit()
        };
        store().map_err(failed("record the event"))
    }

    fn recent_events(&self, scope: &Scope, most: usize) -> Result<Vec<ActivityEvent>, StoreError> {
        let sql = "SELECT * FROM (SELECT * FROM events WHERE project = ?1 AND branch = ?2 \
                   ORDER BY id DESC LIMIT ?3) AS last ORDER BY id";
        let values = params![scope.project, scope.branch, stored(most)];
        self.read_all("read events", sql, values, read_event)
    }
}

/// The messages that are to an agent or mention it, each once, without its own.
const ADDRESSED: &str = "SELECT DISTINCT message_id FROM recipients \
     WHERE project = ?1 AND branch = ?2 AND agent = ?3 \
     AND NOT EXISTS (SELECT 1 FROM messages WHERE id = message_id \
       AND project = ?1 AND branch = ?2 AND from_agent = ?3)";

/// Selects those whose text the agent has not received yet.
const UNREAD: &str =
    "SELECT message_id FROM unread WHERE project = ?1 AND branch = ?2 AND agent = ?3";

/// Records the messages that an agent received; returns how many agents have that name.
pub(super) fn receive(
    connection: &Connection,
    scope: &Scope,
    agent: &AgentName,
    receipt: MessageReceipt<'_>,
) -> driver::Result<usize> {
    let sql = "DELETE FROM unread \
               WHERE project = ?1 AND branch = ?2 AND agent = ?3 AND message_id = ?4";
    let mut statement = connection.prepare_cached(sql)?;
    for id in receipt.read {
        statement.execute(params![scope.project, scope.branch, agent.as_str(), id])?;
    }
    let sql = "UPDATE agents SET last_seen_message_id = CASE WHEN ?4 IS NULL \
                   OR last_seen_message_id > ?4 THEN last_seen_message_id ELSE ?4 END \
               WHERE project = ?1 AND branch = ?2 AND name = ?3";
    let newest = receipt.known.max(receipt.read.iter().max().copied());
    connection.execute(sql, params![scope.project, scope.branch, agent.as_str(), newest])
}

/// Adds a message with its recipients.
pub(super) fn insert(
    connection: &Connection,
    scope: &Scope,
    message: &NewMessage<'_>,
    now: Timestamp,
) -> driver::Result<StoredMessage> {
    let at = not_before_last(connection, "messages", scope, now)?;
    let hop = hop_of_message(answering(connection, scope, message.from)?);
    let sql = "INSERT INTO messages \
               (project, branch, from_agent, to_agent, kind, content, hop, created_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id";
    let values = params![
        scope.project,
        scope.branch,
        message.from.as_str(),
        message.to.map(AgentName::as_str),
        message.kind.name(),
        message.content,
        hop,
        Time(at),
    ];
    let id = connection.query_row(sql, values, |row| row.get(0))?;
    add_recipients(connection, scope, id, message)?;
    Ok(StoredMessage { id, hop })
}

/// Adds a deed of an agent.
pub(super) fn insert_event(
    connection: &Connection,
    scope: &Scope,
    actor: &AgentName,
    verb_phrase: &str,
    now: Timestamp,
) -> driver::Result<()> {
    let at = not_before_last(connection, "events", scope, now)?;
    let sql = "INSERT INTO events (project, branch, actor, verb_phrase, created_at) \
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let values = params![scope.project, scope.branch, actor.as_str(), verb_phrase, Time(at)];
    connection.execute(sql, values).map(drop)
}

/// Returns the hop of the wake-up that an agent is answering.
fn answering(
    connection: &Connection,
    scope: &Scope,
    agent: &AgentName,
) -> driver::Result<Option<u32>> {
    let sql = "SELECT answering_hop FROM agents WHERE project = ?1 AND branch = ?2 AND name = ?3";
    let values = params![scope.project, scope.branch, agent.as_str()];
    let hop = connection.prepare_cached(sql)?.query_row(values, |row| row.get(0)).optional()?;
    Ok(hop.flatten())
}

/// Keeps time from running backwards when the clock does.
fn not_before_last(
    connection: &Connection,
    table: &str,
    scope: &Scope,
    now: Timestamp,
) -> driver::Result<Timestamp> {
    let sql = format!(
        "SELECT created_at FROM {table} WHERE project = ?1 AND branch = ?2 \
         ORDER BY id DESC LIMIT 1"
    );
    let last: Option<Time> = connection
        .prepare_cached(&sql)?
        .query_row(params![scope.project, scope.branch], |row| row.get(0))
        .optional()?;
    Ok(last.map_or(now, |Time(last)| last.max(now)))
}

fn add_recipients(
    connection: &Connection,
    scope: &Scope,
    id: i64,
    message: &NewMessage<'_>,
) -> driver::Result<()> {
    let sql = "INSERT INTO recipients \
               (project, branch, agent, message_id, position, mentioned) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
    let mut statement = connection.prepare_cached(sql)?;
    if let Some(to) = message.to {
        statement.execute(params![scope.project, scope.branch, to.as_str(), id, 0, false])?;
    }
    for (address, position) in message.mentions.iter().zip(0_i64..) {
        let Address { scope, agent } = address;
        let values = params![scope.project, scope.branch, agent.as_str(), id, position, true];
        statement.execute(values)?;
    }
    Ok(())
}

fn messages(
    connection: &Connection,
    sql: &str,
    values: &[&dyn driver::ToSql],
) -> Result<Vec<Message>, StoreError> {
    let read = |row: &Row<'_>| read_message(connection, row);
    rows(connection, sql, values, read).map_err(failed("read messages"))
}

pub(super) fn read_message(connection: &Connection, row: &Row<'_>) -> driver::Result<Message> {
    let id = row.get("id")?;
    let to: Option<Word<AgentName>> = row.get("to_agent")?;
    Ok(Message {
        id,
        from: row.get("from_agent").map(|Word(name)| name)?,
        to: to.map(|Word(name)| name),
        kind: one_of(row, "kind", MessageKind::parse)?,
        content: row.get("content")?,
        mentions: read_mentions(connection, id)?,
        re: row.get("re")?,
        hop: row.get("hop")?,
        created_at: row.get("created_at").map(|Time(at)| at)?,
        member: row.get("member").map(member_name)?,
    })
}

/// Returns the member of the team who wrote a row.
pub(super) fn member_name(member: String) -> Option<String> {
    (!member.is_empty()).then_some(member)
}

pub(super) fn read_event(row: &Row<'_>) -> driver::Result<ActivityEvent> {
    Ok(ActivityEvent {
        id: row.get("id")?,
        actor: row.get("actor").map(|Word(name)| name)?,
        verb_phrase: row.get("verb_phrase")?,
        created_at: row.get("created_at").map(|Time(at)| at)?,
    })
}

fn read_mentions(connection: &Connection, id: i64) -> driver::Result<Vec<Address>> {
    let sql = "SELECT project, branch, agent FROM recipients \
               WHERE message_id = ?1 AND mentioned = 1 ORDER BY position";
    rows(connection, sql, params![id], |row| {
        let scope = Scope { project: row.get(0)?, branch: row.get(1)? };
        Ok(Address { scope, agent: row.get(2).map(|Word(name)| name)? })
    })
}
