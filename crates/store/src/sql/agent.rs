//! Agents in SQL.

use convoke_domain::agent::{Agent, AgentStatus};
use convoke_domain::owner::Owner;
use convoke_domain::scope::{AgentName, Scope};
use jiff::Timestamp;

use super::message::receive;
use super::row::{Time, Word, one_of};
use super::{SqlStore, failed};
use crate::agent::{AgentChange, AgentLeftovers, AgentStore, Removal};
use crate::error::StoreError;
use crate::message::MessageReceipt;
use crate::sql::driver::{self, Connection, OptionalExtension, Row, params};

impl AgentStore for SqlStore {
    fn add_agent(&self, scope: &Scope, name: &AgentName, client: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO agents (project, branch, name, client, status) \
                   VALUES (?1, ?2, ?3, ?4, 'idle') \
                   ON CONFLICT (project, branch, name) DO UPDATE SET client = excluded.client";
        let values = params![scope.project, scope.branch, name.as_str(), client];
        self.change("add the agent", sql, values).map(drop)
    }

    fn agent(&self, scope: &Scope, name: &AgentName) -> Result<Option<Agent>, StoreError> {
        let agents = self.agents(scope)?;
        Ok(agents.into_iter().find(|agent| agent.name == *name))
    }

    fn agents(&self, scope: &Scope) -> Result<Vec<Agent>, StoreError> {
        let sql = "SELECT * FROM agents WHERE project = ?1 AND branch = ?2 ORDER BY name";
        let values = params![scope.project, scope.branch];
        self.read_all("read agents", sql, values, read_agent)
    }

    fn change_agent(
        &self,
        scope: &Scope,
        name: &AgentName,
        change: &AgentChange<'_>,
    ) -> Result<(), StoreError> {
        let set = |assignment: &str, value: &dyn driver::ToSql| {
            let sql = format!(
                "UPDATE agents SET {assignment} WHERE project = ?2 AND branch = ?3 AND name = ?4"
            );
            let values = params![value, scope.project, scope.branch, name.as_str()];
            self.connection().execute(&sql, values)
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

    fn rename_agent(
        &self,
        project: &str,
        from: &AgentName,
        to: &AgentName,
    ) -> Result<(), StoreError> {
        let transaction = self.begin().map_err(failed("rename the agent"))?;
        let is_there = |name: &AgentName| {
            let sql = "SELECT EXISTS (SELECT 1 FROM agents WHERE project = ?1 AND name = ?2)";
            transaction
                .query_row(sql, params![project, name.as_str()], |row| row.get::<_, bool>(0))
                .map_err(failed("find the agent"))
        };
        if !is_there(from)? {
            return Err(StoreError::NoAgent { name: from.clone() });
        }
        if is_there(to)? {
            return Err(StoreError::AgentExists { name: to.clone() });
        }
        let rename = || {
            let note_steps = |step: Option<i64>| {
                transaction.execute("UPDATE task_step_now SET step = ?1", [step])
            };
            // The tasks stay as they were, so there is no step to undo.
            note_steps(Some(0))?;
            for (table, column) in NAMED {
                let values = params![project, from.as_str(), to.as_str()];
                // A message may be to both names; it counts once.
                if let Some(twice) = clashing(table, column) {
                    transaction.execute(&twice, values)?;
                }
                let sql = format!(
                    "UPDATE {table} SET {column} = ?3 WHERE project = ?1 AND {column} = ?2"
                );
                transaction.execute(&sql, values)?;
            }
            // A step that is undone later must not bring the old name back.
            for image in ["before", "after"] {
                let sql = format!(
                    "UPDATE task_changes SET {image} = json_set({image}, '$.assigned_agent', ?3) \
                     WHERE json_extract({image}, '$.assigned_agent') = ?2 \
                     AND step IN (SELECT id FROM task_steps WHERE project = ?1)"
                );
                transaction.execute(&sql, params![project, from.as_str(), to.as_str()])?;
            }
            note_steps(None)?;
            transaction.commit()
        };
        rename().map_err(failed("rename the agent"))
    }

    fn remove_agent(
        &self,
        scope: &Scope,
        name: &AgentName,
        removal: Removal,
        now: Timestamp,
    ) -> Result<AgentLeftovers, StoreError> {
        let step = self.begin_step(scope, now).map_err(failed("remove the agent"))?;
        let left = left_by(&step.transaction, scope, name).map_err(failed("look at the agent"))?;
        let Some(left) = left else { return Err(StoreError::NoAgent { name: name.clone() }) };
        let AgentLeftovers { tasks, unread } = left;
        if removal == Removal::IfIdle && tasks + unread > 0 {
            return Err(StoreError::AgentBusy { name: name.clone(), tasks, unread });
        }
        let remove = || {
            let values = params![scope.project, scope.branch, name.as_str()];
            for sql in [
                "DELETE FROM agents WHERE project = ?1 AND branch = ?2 AND name = ?3",
                "DELETE FROM sessions WHERE project = ?1 AND branch = ?2 AND agent = ?3",
                "UPDATE tasks SET assigned_agent = NULL WHERE project = ?1 AND branch = ?2 \
                 AND assigned_agent = ?3 AND status IN ('pending', 'in_progress')",
            ] {
                step.transaction.execute(sql, values)?;
            }
            step.commit()
        };
        remove().map_err(failed("remove the agent"))?;
        Ok(left)
    }
}

/// Every column that names an agent of the project in the same row.
const NAMED: [(&str, &str); 12] = [
    ("agents", "name"),
    ("tasks", "assigned_agent"),
    ("messages", "from_agent"),
    ("messages", "to_agent"),
    ("recipients", "agent"),
    ("events", "actor"),
    ("task_steps", "actor"),
    ("skill_history", "agent"),
    ("sessions", "agent"),
    ("task_deeds", "actor"),
    ("skill_uses", "agent"),
    ("talk_moves", "agent"),
];

/// Returns the statement that removes the rows which a renamed row would clash with.
fn clashing(table: &str, column: &str) -> Option<String> {
    let keys: &[&str] = match table {
        "recipients" => &["branch", "message_id", "mentioned"],
        "skill_uses" => &["branch"],
        "talk_moves" => &["step", "message_id"],
        _ => return None,
    };
    let same = keys.iter().map(|key| format!("renamed.{key} = {table}.{key}"));
    let same = same.collect::<Vec<_>>().join(" AND ");
    Some(format!(
        "DELETE FROM {table} WHERE project = ?1 AND {column} = ?3 AND EXISTS ( \
           SELECT 1 FROM {table} AS renamed WHERE renamed.project = ?1 \
           AND renamed.{column} = ?2 AND {same})"
    ))
}

/// Returns what an agent would leave behind; `None` if there is no such agent.
fn left_by(
    connection: &Connection,
    scope: &Scope,
    name: &AgentName,
) -> driver::Result<Option<AgentLeftovers>> {
    let values = params![scope.project, scope.branch, name.as_str()];
    let sql = "SELECT 1 FROM agents WHERE project = ?1 AND branch = ?2 AND name = ?3";
    if connection.query_row(sql, values, |_| Ok(())).optional()?.is_none() {
        return Ok(None);
    }
    let sql = "SELECT count(*) FROM tasks WHERE project = ?1 AND branch = ?2 \
               AND assigned_agent = ?3 AND deleted_at IS NULL \
               AND status IN ('pending', 'in_progress')";
    let tasks: u32 = connection.query_row(sql, values, |row| row.get(0))?;
    let sql = "SELECT count(*) FROM unread WHERE project = ?1 AND branch = ?2 AND agent = ?3";
    let unread: u32 = connection.query_row(sql, values, |row| row.get(0))?;
    Ok(Some(AgentLeftovers { tasks: tasks as usize, unread: unread as usize }))
}

impl SqlStore {
    fn receive(
        &self,
        scope: &Scope,
        name: &AgentName,
        receipt: MessageReceipt<'_>,
    ) -> driver::Result<usize> {
        let transaction = self.begin()?;
        let changed = receive(&transaction, scope, name, receipt)?;
        if changed > 0 {
            transaction.commit()?;
        }
        Ok(changed)
    }
}

pub(super) fn read_agent(row: &Row<'_>) -> driver::Result<Agent> {
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

#[cfg(test)]
mod tests {
    use super::*;

    // A table that comes later must not keep an agent's old name.
    #[test]
    fn every_column_that_names_an_agent_is_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqlStore::open(&folder.path().join("store.db")).unwrap();
        let sql = "SELECT tables.name, columns.name FROM sqlite_schema AS tables, \
                   pragma_table_info(tables.name) AS columns WHERE tables.type = 'table'";
        let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
        let columns = store.read_all("list the columns", sql, &[], read).unwrap();
        // Here it is a client that is called an agent, or a client's own name for a session.
        let others = [("lanes", "agent"), ("counters", "agent"), ("resume_states", "agent_id")];
        // Triggers keep these.
        let derived = [("unread", "agent"), ("unread_counts", "agent")];
        let is_name = |column: &str| {
            column.contains("agent") || ["actor", "author", "by", "said_by"].contains(&column)
        };
        for (table, column) in &columns {
            let pair = (table.as_str(), column.as_str());
            let is_known =
                [&NAMED[..], &others, &derived].iter().any(|known| known.contains(&pair));
            assert!(!is_name(column) || is_known, "{table}.{column} keeps old names");
        }
    }
}
