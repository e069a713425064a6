//! Agents in SQLite.

use convoke_domain::agent::{Agent, AgentStatus};
use convoke_domain::owner::Owner;
use convoke_domain::scope::{AgentName, Scope};
use rusqlite::{Row, params};

use super::message::receive;
use super::row::{Time, Word, one_of};
use super::{SqliteStore, failed, rows};
use crate::agent::{AgentChange, AgentStore};
use crate::error::StoreError;
use crate::message::Receipt;

impl AgentStore for SqliteStore {
    fn add_agent(&self, scope: &Scope, name: &AgentName, client: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO agents (project, branch, name, client, status) \
                   VALUES (?1, ?2, ?3, ?4, 'idle') \
                   ON CONFLICT DO UPDATE SET client = excluded.client";
        let values = params![scope.project, scope.branch, name.as_str(), client];
        self.connection.execute(sql, values).map(drop).map_err(failed("add the agent"))
    }

    fn agent(&self, scope: &Scope, name: &AgentName) -> Result<Option<Agent>, StoreError> {
        let agents = self.agents(scope)?;
        Ok(agents.into_iter().find(|agent| agent.name == *name))
    }

    fn agents(&self, scope: &Scope) -> Result<Vec<Agent>, StoreError> {
        let sql = "SELECT * FROM agents WHERE project = ?1 AND branch = ?2 ORDER BY name";
        let values = params![scope.project, scope.branch];
        rows(&self.connection, sql, values, read_agent).map_err(failed("read agents"))
    }

    fn change_agent(
        &self,
        scope: &Scope,
        name: &AgentName,
        change: &AgentChange<'_>,
    ) -> Result<(), StoreError> {
        let set = |assignment: &str, value: &dyn rusqlite::ToSql| {
            let sql = format!(
                "UPDATE agents SET {assignment} WHERE project = ?2 AND branch = ?3 AND name = ?4"
            );
            let values = params![value, scope.project, scope.branch, name.as_str()];
            self.connection.execute(&sql, values)
        };
        let changed = match change {
            AgentChange::Status(status) => set("status = ?1", &status.name()),
            AgentChange::Session(session) => set("session_id = ?1", session),
            AgentChange::Received(receipt) => self.receive(scope, name, *receipt),
            AgentChange::Compacted(at) => set("compacted_at = ?1", &at.map(Time)),
            AgentChange::Archived(at) => set("archived_at = ?1", &at.map(Time)),
        };
        match changed.map_err(failed("change the agent"))? {
            0 => Err(StoreError::NoAgent { name: name.clone() }),
            _ => Ok(()),
        }
    }
}

impl SqliteStore {
    fn receive(
        &self,
        scope: &Scope,
        name: &AgentName,
        receipt: Receipt<'_>,
    ) -> rusqlite::Result<usize> {
        let transaction = self.begin()?;
        let changed = receive(&transaction, scope, name, receipt)?;
        if changed > 0 {
            transaction.commit()?;
        }
        Ok(changed)
    }
}

fn read_agent(row: &Row<'_>) -> rusqlite::Result<Agent> {
    let compacted_at: Option<Time> = row.get("compacted_at")?;
    let archived_at: Option<Time> = row.get("archived_at")?;
    let pid: Option<u32> = row.get("pid")?;
    let mark: Option<String> = row.get("pid_mark")?;
    Ok(Agent {
        name: row.get("name").map(|Word(name)| name)?,
        client: row.get("client")?,
        status: one_of(row, "status", AgentStatus::parse)?,
        session_id: row.get("session_id")?,
        owner: pid.zip(mark).map(|(pid, mark)| Owner { pid, mark }),
        compacted_at: compacted_at.map(|Time(at)| at),
        last_seen: row.get("last_seen_message_id")?,
        archived_at: archived_at.map(|Time(at)| at),
    })
}
