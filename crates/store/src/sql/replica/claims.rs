//! Which session of this machine is being given which message.
//!
//! One hook of an agent may answer from the server while another one answers from the copy, and neither
//! sees what the other has claimed in its store. Both claim here before they deliver. As in a store, a
//! claim ends with a process that dies before it delivers, or after a while.

use convoke_domain::hook::SAME_EVENT;
use convoke_domain::owner::Owner;
use convoke_domain::scope::Address;
use jiff::Timestamp;

use crate::delivery::{Claimant, Session};
use crate::error::StoreError;
use crate::sql::driver::{self, Connection, params};
use crate::sql::row::Time;
use crate::sql::{SqlStore, failed, first_row};

/// Made beside the other tables of a copy, also in one of an earlier version.
const TABLE: &str = "CREATE TABLE IF NOT EXISTS replica_claims ( \
                     project TEXT NOT NULL, branch TEXT NOT NULL, agent TEXT NOT NULL, \
                     message_id INTEGER NOT NULL, client TEXT NOT NULL, session_id TEXT NOT NULL, \
                     pid INTEGER NOT NULL, mark TEXT NOT NULL, at TEXT NOT NULL, \
                     is_delivered INTEGER NOT NULL, \
                     PRIMARY KEY (project, branch, agent, message_id)) STRICT";

/// A claim that is there already.
struct Held {
    client: String,
    session: String,
    owner: Owner,
    is_delivered: bool,
}

impl SqlStore {
    pub(crate) fn claim_messages(
        &self,
        agent: &Address,
        session: Session<'_>,
        messages: &[i64],
        claimant: Claimant<'_>,
        now: Timestamp,
    ) -> Result<Vec<i64>, StoreError> {
        let claim = || {
            let transaction = self.begin()?;
            transaction.execute_batch(TABLE)?;
            let since = Time(now.saturating_sub(SAME_EVENT).unwrap_or(now));
            transaction.execute("DELETE FROM replica_claims WHERE at < ?1", params![since])?;
            let mut taken = Vec::new();
            for message in messages {
                let is_ours = |held: &Held| {
                    (held.client.as_str(), held.session.as_str())
                        == (session.client.name(), session.id)
                };
                let is_lost = |held: &Held| !held.is_delivered && (claimant.is_gone)(&held.owner);
                match held(&transaction, agent, *message)? {
                    Some(held) if !is_ours(&held) && !is_lost(&held) => taken.push(*message),
                    Some(_) | None => {
                        put(&transaction, agent, session, *message, claimant.owner, now)?;
                    }
                }
            }
            transaction.commit()?;
            Ok(taken)
        };
        if messages.is_empty() {
            return Ok(Vec::new());
        }
        claim().map_err(failed("claim the messages"))
    }

    pub(crate) fn keep_claims(&self, session: Session<'_>) -> Result<(), StoreError> {
        let keep = || {
            let transaction = self.begin()?;
            transaction.execute_batch(TABLE)?;
            let sql = "UPDATE replica_claims SET is_delivered = 1 \
                       WHERE client = ?1 AND session_id = ?2";
            transaction.execute(sql, params![session.client.name(), session.id])?;
            transaction.commit()
        };
        keep().map_err(failed("keep the claims"))
    }
}

fn held(connection: &Connection, agent: &Address, message: i64) -> driver::Result<Option<Held>> {
    let sql = "SELECT client, session_id, pid, mark, is_delivered FROM replica_claims \
               WHERE project = ?1 AND branch = ?2 AND agent = ?3 AND message_id = ?4";
    let Address { scope, agent } = agent;
    let values = params![scope.project, scope.branch, agent.as_str(), message];
    first_row(connection, sql, values, |row| {
        Ok(Held {
            client: row.get(0)?,
            session: row.get(1)?,
            owner: Owner { pid: row.get(2)?, mark: row.get(3)? },
            is_delivered: row.get(4)?,
        })
    })
}

fn put(
    connection: &Connection,
    agent: &Address,
    session: Session<'_>,
    message: i64,
    owner: &Owner,
    now: Timestamp,
) -> driver::Result<()> {
    let sql = "INSERT OR REPLACE INTO replica_claims (project, branch, agent, message_id, client, \
               session_id, pid, mark, at, is_delivered) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0)";
    let Address { scope, agent } = agent;
    let values = params![
        scope.project,
        scope.branch,
        agent.as_str(),
        message,
        session.client.name(),
        session.id,
        owner.pid,
        owner.mark,
        Time(now)
    ];
    connection.execute(sql, values).map(drop)
}
