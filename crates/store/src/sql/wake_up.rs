//! Wake-ups in SQL.

use convoke_domain::owner::Owner;
use convoke_domain::scope::{AgentName, Scope};
use convoke_domain::wake::hop::MOST_HOPS;
use jiff::Timestamp;

use super::message::{insert, receive};
use super::{SqlStore, failed};
use crate::error::StoreError;
use crate::message::StoredMessage;
use crate::sql::driver::{OptionalExtension, Row, params};
use crate::wake_up::{PendingWakeUp, WakeUpEnd, WakeUpStore};

impl WakeUpStore for SqlStore {
    fn pending(
        &self,
        scope: &Scope,
        agent: &AgentName,
        after: Option<i64>,
    ) -> Result<Option<PendingWakeUp>, StoreError> {
        let sql = "SELECT max(message_id), max(hop) FROM unread \
                   WHERE project = ?1 AND branch = ?2 AND agent = ?3 AND message_id > ?4 \
                   AND hop <= ?5 HAVING count(*) > 0";
        let after = after.unwrap_or(0);
        let values = params![scope.project, scope.branch, agent.as_str(), after, MOST_HOPS];
        let read = |row: &Row<'_>| Ok(PendingWakeUp { newest: row.get(0)?, hop: row.get(1)? });
        self.read_first("look for messages that wait", sql, values, read)
    }

    fn begin_wake_up(
        &self,
        scope: &Scope,
        agent: &AgentName,
        hop: u32,
        owner: &Owner,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE agents SET status = 'busy', answering_hop = ?4, pid = ?5, \
                   pid_mark = ?6, archived_at = NULL \
                   WHERE project = ?1 AND branch = ?2 AND name = ?3 \
                   AND status <> 'busy' AND pid IS NULL";
        let Owner { pid, mark } = owner;
        let values = params![scope.project, scope.branch, agent.as_str(), hop, pid, mark];
        let taken = self.change("wake the agent", sql, values)?;
        Ok(taken > 0)
    }

    fn end_wake_up(
        &self,
        scope: &Scope,
        agent: &AgentName,
        owner: &Owner,
        end: &WakeUpEnd<'_>,
        now: Timestamp,
    ) -> Result<Option<StoredMessage>, StoreError> {
        let store = || {
            let transaction = self.begin()?;
            let Owner { pid, mark } = owner;
            let sql = "SELECT 1 FROM agents WHERE project = ?1 AND branch = ?2 AND name = ?3 \
                       AND pid = ?4 AND pid_mark = ?5";
            let values = params![scope.project, scope.branch, agent.as_str(), pid, mark];
            if transaction.query_row(sql, values, |_| Ok(())).optional()?.is_none() {
                return Ok(None);
            }
            // While the agent is still taken, so that what it says is one further down the chain.
            let message = end.message.as_ref();
            let said =
                message.map(|message| insert(&transaction, scope, message, now)).transpose()?;
            let sql = "UPDATE agents SET pid = NULL, pid_mark = NULL, answering_hop = NULL, \
                       status = CASE status WHEN 'busy' THEN 'idle' ELSE status END, \
                       compacted_at = CASE WHEN ?4 = 1 THEN NULL ELSE compacted_at END \
                       WHERE project = ?1 AND branch = ?2 AND name = ?3";
            let values = params![scope.project, scope.branch, agent.as_str(), end.answered];
            transaction.execute(sql, values)?;
            receive(&transaction, scope, agent, end.received)?;
            transaction.commit()?;
            Ok(said)
        };
        store().map_err(failed("end the wake-up"))
    }

    fn changes(&self) -> Result<i64, StoreError> {
        self.connection().changes().map_err(failed("ask whether the store has changed"))
    }
}
