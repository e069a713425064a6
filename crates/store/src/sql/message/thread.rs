//! Conversations in SQL.

use convoke_domain::message::Message;
use convoke_domain::scope::Scope;

use super::{messages, read_message};
use crate::error::StoreError;
use crate::message::ScopedMessage;
use crate::sql::driver::{Connection, Row, params};
use crate::sql::row::stored;
use crate::sql::{failed, rows};

/// Selects messages that are visible in a scope.
const HEARD: &str = "((messages.project = ?1 AND messages.branch = ?2) OR EXISTS ( \
     SELECT 1 FROM recipients WHERE message_id = messages.id \
     AND recipients.project = ?1 AND recipients.branch = ?2))";

/// Selects the ids of those messages, from both indexes.
const HEARD_IDS: &str = "SELECT id FROM messages WHERE project = ?1 AND branch = ?2 UNION \
     SELECT message_id FROM recipients WHERE project = ?1 AND branch = ?2";

/// Reads the last messages that are visible in a scope and came before another.
pub(super) fn visible(
    connection: &Connection,
    scope: &Scope,
    before: Option<i64>,
    most: usize,
) -> Result<Vec<Message>, StoreError> {
    let sql = format!(
        "SELECT messages.* FROM messages JOIN (SELECT id FROM ({HEARD_IDS}) AS ids WHERE id < ?3 \
         ORDER BY id DESC LIMIT ?4) AS heard ON messages.id = heard.id ORDER BY messages.id"
    );
    let before = before.unwrap_or(i64::MAX);
    messages(connection, &sql, params![scope.project, scope.branch, before, stored(most)])
}

/// Returns the query that counts the messages that are visible in a scope.
pub(super) fn count_visible() -> String {
    format!("SELECT count(*) FROM ({HEARD_IDS}) AS ids")
}

/// Finds a message that is visible in a scope.
pub(super) fn find(
    connection: &Connection,
    scope: &Scope,
    id: i64,
) -> Result<Option<ScopedMessage>, StoreError> {
    let sql = format!("SELECT * FROM messages WHERE id = ?3 AND {HEARD}");
    let read = |row: &Row<'_>| {
        let scope = Scope { project: row.get("project")?, branch: row.get("branch")? };
        Ok(ScopedMessage { scope, message: read_message(connection, row)? })
    };
    let found = rows(connection, &sql, params![scope.project, scope.branch, id], read);
    Ok(found.map_err(failed("find the message"))?.pop())
}

/// Reads the conversation of a message.
pub(super) fn read(
    connection: &Connection,
    scope: &Scope,
    id: i64,
) -> Result<Vec<Message>, StoreError> {
    find(connection, scope, id)?.ok_or(StoreError::NoMessage { id })?;
    let sql = format!(
        "WITH RECURSIVE up (id, re) AS ( \
           SELECT id, re FROM messages WHERE id = ?3 UNION \
           SELECT messages.id, messages.re FROM messages JOIN up ON messages.id = up.re), \
         down (id) AS ( \
           SELECT id FROM up WHERE re IS NULL UNION \
           SELECT messages.id FROM messages JOIN down ON messages.re = down.id) \
         SELECT messages.* FROM messages JOIN down ON messages.id = down.id \
         WHERE {HEARD} ORDER BY messages.id"
    );
    messages(connection, &sql, params![scope.project, scope.branch, id])
}
