//! What a copy takes from its server: what the wake-ups of one project's sessions on this machine need.

use std::collections::BTreeSet;

use convoke_domain::scope::Scope;
use jiff::Timestamp;

use super::values_of;
use crate::replica::ReplicaWish;
use crate::sql::driver::{self, Connection, ToSql, Value, params};
use crate::sql::row::Time;
use crate::sql::transaction::ReadTransaction;
use crate::sql::{SqlStore, first_row, rows};

/// How many sessions of a project a copy knows: those that were heard of last.
const MOST_SESSIONS: i64 = 16;

/// How many branches of a project a copy holds.
const MOST_BRANCHES: usize = 4;

/// The tables of a branch, and which rows a wake-up may need. A wake-up shows ten messages and ten
/// events; older ones stay on the server.
const OF_BRANCH: [(&str, &str); 7] = [
    ("agents", "SELECT * FROM agents WHERE project = ?1 AND branch = ?2"),
    (
        "unread",
        "SELECT * FROM unread WHERE project = ?1 AND branch = ?2 ORDER BY message_id DESC \
         LIMIT 10000",
    ),
    ("events", "SELECT * FROM events WHERE project = ?1 AND branch = ?2 ORDER BY id DESC LIMIT 30"),
    (
        "skill_history",
        "SELECT * FROM skill_history WHERE project = ?1 AND branch = ?2 ORDER BY id DESC LIMIT 200",
    ),
    ("skill_pins", "SELECT * FROM skill_pins WHERE project = ?1 AND branch = ?2"),
    ("skill_uses", "SELECT * FROM skill_uses WHERE project = ?1 AND branch = ?2"),
    (
        "task_deeds",
        "SELECT * FROM task_deeds WHERE project = ?1 AND branch = ?2 AND superseded_at IS NULL \
         ORDER BY id DESC LIMIT 500",
    ),
];

const TASKS: &str = "SELECT * FROM tasks WHERE project = ?1 AND branch = ?2 AND deleted_at IS NULL";

/// The newest messages of a branch, and the newest that its agents have not read.
const MESSAGES: [&str; 2] = [
    "SELECT id FROM messages WHERE project = ?1 AND branch = ?2 ORDER BY id DESC LIMIT 30",
    "SELECT message_id AS id FROM unread WHERE project = ?1 AND branch = ?2 \
     ORDER BY message_id DESC LIMIT 100",
];

/// The tables with rows that several branches bring along, or that hooks number here themselves.
const REPEATED: [&str; 3] = ["messages", "recipients", "skill_history"];

/// The tables about sessions.
const OF_SESSION: [&str; 4] = ["sessions", "losses", "memories", "deliveries"];

/// What a copy knows before it is refreshed.
pub(super) struct Known {
    version: i64,
    /// Whether records wait for the server.
    pub(super) is_waiting: bool,
    /// The sessions of this machine in the project, by client and id.
    sessions: Vec<(String, String)>,
    /// How the tasks of each branch were marked.
    tasks: Vec<(String, String)>,
}

impl Known {
    pub(super) fn read(replica: &SqlStore, scope: &Scope) -> driver::Result<Self> {
        let moment = ReadTransaction::begin(replica.connection())?;
        let sql = "SELECT version, EXISTS (SELECT 1 FROM outbox) FROM replica";
        let found = first_row(&moment, sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (version, is_waiting) = found.unwrap_or_default();
        let sql = "SELECT client, session_id FROM replica_sessions WHERE project = ?1 \
                   ORDER BY seen_at DESC LIMIT ?2";
        let pair = |row: &driver::Row<'_>| Ok((row.get(0)?, row.get(1)?));
        let sessions = rows(&moment, sql, params![scope.project, MOST_SESSIONS], pair)?;
        let sql = "SELECT branch, tasks FROM replica_branches WHERE project = ?1";
        let tasks = rows(&moment, sql, params![scope.project], pair)?;
        Ok(Self { version, is_waiting, sessions, tasks })
    }
}

/// Remembers sessions of this machine. Those of which hooks recorded something are its own, too.
pub(super) fn remember_sessions(
    replica: &SqlStore,
    wish: ReplicaWish<'_>,
    now: Timestamp,
) -> driver::Result<()> {
    let connection = replica.connection();
    let sql = "INSERT INTO replica_sessions (client, session_id, project, seen_at) \
               VALUES (?1, ?2, ?3, ?4) ON CONFLICT (client, session_id) \
               DO UPDATE SET project = excluded.project, seen_at = excluded.seen_at";
    for session in wish.sessions {
        let values = params![session.client.name(), session.id, wish.scope.project, Time(now)];
        connection.execute(sql, values)?;
    }
    let sql = "INSERT INTO replica_sessions (client, session_id, project, seen_at) \
               SELECT client, session_id, project, ?1 FROM sessions WHERE true \
               ON CONFLICT DO NOTHING";
    connection.execute(sql, params![Time(now)]).map(drop)
}

/// Rows of the server at one moment.
pub(super) struct PulledRows {
    project: String,
    whole: Vec<TableRows>,
    sessions: Vec<TableRows>,
    branches: Vec<PulledBranch>,
}

struct PulledBranch {
    branch: String,
    tables: Vec<TableRows>,
    /// `None` if they are as they were.
    tasks: Option<TableRows>,
    tasks_mark: String,
    messages: Vec<TableRows>,
}

struct TableRows {
    table: &'static str,
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl PulledRows {
    pub(super) fn read(server: &Connection, known: &Known, scope: &Scope) -> driver::Result<Self> {
        let project = params![scope.project];
        let projects = TableRows::read(server, "projects", "SELECT * FROM projects", &[])?;
        let pins = "SELECT * FROM pins WHERE project = ?1 AND removed_at IS NULL";
        let pins = TableRows::read(server, "pins", pins, project)?;
        let sessions = sessions(server, known)?;
        let bound = sessions.first().map(|found| found.branches(&scope.project));
        let branches = [scope.branch.clone()].into_iter().chain(bound.unwrap_or_default());
        let mut seen = BTreeSet::new();
        let branches = branches.filter(|branch| seen.insert(branch.clone())).take(MOST_BRANCHES);
        let branches: Vec<_> = branches.collect();
        let branches = branches
            .into_iter()
            .map(|branch| PulledBranch::read(server, known, &scope.project, branch))
            .collect::<driver::Result<_>>()?;
        let whole = vec![projects, pins];
        Ok(Self { project: scope.project.clone(), whole, sessions, branches })
    }

    /// Puts the rows into a copy, unless it has changed since it was looked at; tells whether it did.
    pub(super) fn put_into(
        &self,
        replica: &SqlStore,
        known: &Known,
        now: Timestamp,
    ) -> driver::Result<bool> {
        let transaction = replica.begin()?;
        let version = first_row(&transaction, "SELECT version FROM replica", &[], |row| row.get(0));
        if version? != Some(known.version) {
            return Ok(false);
        }
        // Nothing arrives here: the server tells what is unread.
        let begin = "DROP TRIGGER IF EXISTS message_arrives; UPDATE task_step_now SET step = 0; \
                     UPDATE replica SET pulling = 1, version = version + 1, away_at = NULL";
        transaction.execute_batch(begin)?;
        let project = params![self.project];
        transaction.execute("DELETE FROM projects", params![])?;
        transaction.execute("DELETE FROM pins WHERE project = ?1", project)?;
        for (client, id) in &known.sessions {
            for table in OF_SESSION {
                let sql = format!("DELETE FROM {table} WHERE client = ?1 AND session_id = ?2");
                transaction.execute(&sql, params![client, id])?;
            }
        }
        for rows in self.whole.iter().chain(&self.sessions) {
            rows.insert(&transaction)?;
        }
        for branch in &self.branches {
            branch.put_into(&transaction, &self.project, now)?;
        }
        self.forget_rest(&transaction)?;
        let end = "UPDATE task_step_now SET step = NULL; UPDATE replica SET pulling = 0";
        transaction.execute_batch(end)?;
        transaction.commit()?;
        Ok(true)
    }

    /// Removes branches that no session needs any more, and messages that belong to none.
    fn forget_rest(&self, replica: &Connection) -> driver::Result<()> {
        let sql = "SELECT branch FROM replica_branches WHERE project = ?1";
        let known: Vec<String> = rows(replica, sql, params![self.project], |row| row.get(0))?;
        let is_there = |branch: &str| self.branches.iter().any(|pulled| pulled.branch == *branch);
        for branch in known.iter().filter(|branch| !is_there(branch)) {
            let tables = OF_BRANCH.iter().map(|(table, _)| *table);
            for table in tables.chain(["tasks", "messages", "replica_branches"]) {
                let sql = format!("DELETE FROM {table} WHERE project = ?1 AND branch = ?2");
                replica.execute(&sql, params![self.project, branch])?;
            }
        }
        let messages = "DELETE FROM messages WHERE id NOT IN (SELECT message_id FROM unread) \
             AND (project, branch) NOT IN (SELECT project, branch FROM replica_branches)";
        replica.execute(messages, params![])?;
        let recipients = "DELETE FROM recipients WHERE message_id NOT IN (SELECT id FROM messages)";
        replica.execute(recipients, params![]).map(drop)
    }
}

/// Reads what the server knows of the sessions of this machine.
fn sessions(server: &Connection, known: &Known) -> driver::Result<Vec<TableRows>> {
    if known.sessions.is_empty() {
        return Ok(Vec::new());
    }
    let values: Vec<&dyn ToSql> =
        known.sessions.iter().flat_map(|(client, id)| [client as &dyn ToSql, id]).collect();
    let pairs = (0..known.sessions.len()).map(|at| format!("(?{}, ?{})", 2 * at + 1, 2 * at + 2));
    let pairs = pairs.collect::<Vec<_>>().join(", ");
    let read = |table: &&'static str| {
        let sql = format!("SELECT * FROM {table} WHERE (client, session_id) IN (VALUES {pairs})");
        TableRows::read(server, table, &sql, &values)
    };
    OF_SESSION.iter().map(read).collect()
}

impl PulledBranch {
    fn read(
        server: &Connection,
        known: &Known,
        project: &str,
        branch: String,
    ) -> driver::Result<Self> {
        let values = params![project, branch];
        let read =
            |(table, sql): &(&'static str, &str)| TableRows::read(server, table, sql, values);
        let tables: Vec<_> = OF_BRANCH.iter().map(read).collect::<driver::Result<_>>()?;
        // Every change of a task is part of a step, but for a new name of an agent.
        let sql = "SELECT coalesce(max(id), 0) FROM task_steps WHERE project = ?1 AND branch = ?2";
        let step: Option<i64> = first_row(server, sql, values, |row| row.get(0))?;
        let names = tables.first().map(|agents| agents.texts("name")).unwrap_or_default();
        let tasks_mark = format!("{} {}", step.unwrap_or_default(), names.join(" "));
        let before = known.tasks.iter().find(|(known, _)| *known == branch);
        let is_same = before.is_some_and(|(_, mark)| *mark == tasks_mark);
        let tasks =
            if is_same { None } else { Some(TableRows::read(server, "tasks", TASKS, values)?) };
        let mut messages = Vec::new();
        for found in MESSAGES {
            let sql = format!("SELECT * FROM messages WHERE id IN ({found})");
            messages.push(TableRows::read(server, "messages", &sql, values)?);
            let sql = format!("SELECT * FROM recipients WHERE message_id IN ({found})");
            messages.push(TableRows::read(server, "recipients", &sql, values)?);
        }
        Ok(Self { branch, tables, tasks, tasks_mark, messages })
    }

    fn put_into(&self, replica: &Connection, project: &str, now: Timestamp) -> driver::Result<()> {
        let values = params![project, self.branch];
        let tables = self.tables.iter().chain(&self.tasks);
        for table in tables.clone().map(|rows| rows.table).chain(["messages"]) {
            let sql = format!("DELETE FROM {table} WHERE project = ?1 AND branch = ?2");
            replica.execute(&sql, values)?;
        }
        for rows in tables.chain(&self.messages) {
            rows.insert(replica)?;
        }
        let sql = "INSERT INTO replica_branches (project, branch, refreshed_at, tasks) \
                   VALUES (?1, ?2, ?3, ?4) ON CONFLICT (project, branch) DO UPDATE SET \
                   refreshed_at = excluded.refreshed_at, tasks = excluded.tasks";
        let values = params![project, self.branch, Time(now), self.tasks_mark];
        replica.execute(sql, values).map(drop)
    }
}

impl TableRows {
    fn read(
        server: &Connection,
        table: &'static str,
        sql: &str,
        values: &[&dyn ToSql],
    ) -> driver::Result<Self> {
        let (columns, rows) = values_of(server, sql, values)?;
        Ok(Self { table, columns, rows })
    }

    /// A row that is there already came with another branch, or was only here and is on the server by
    /// now.
    fn insert(&self, replica: &Connection) -> driver::Result<()> {
        let names: Vec<_> = self.columns.iter().map(|name| format!("\"{name}\"")).collect();
        let places: Vec<_> = (1..=names.len()).map(|number| format!("?{number}")).collect();
        let (table, names, places) = (self.table, names.join(", "), places.join(", "));
        // Elsewhere the old rows are gone, and a conflict would be a mistake.
        let how = if REPEATED.contains(&table) { "INSERT OR REPLACE" } else { "INSERT" };
        let sql = format!("{how} INTO {table} ({names}) VALUES ({places})");
        for row in &self.rows {
            let values: Vec<_> = row.iter().map(|value| value as &dyn ToSql).collect();
            replica.prepare_cached(&sql)?.execute(&*values)?;
        }
        Ok(())
    }

    /// Returns the texts of a column.
    fn texts(&self, column: &str) -> Vec<String> {
        let Some(at) = self.columns.iter().position(|name| name == column) else {
            return Vec::new();
        };
        let cells = self.rows.iter().filter_map(|row| row.get(at));
        let text = |cell: &'_ Value| {
            if let Value::Text(text) = cell { text.clone() } else { String::new() }
        };
        cells.map(text).collect()
    }

    /// Returns the branches of a project that sessions are bound to.
    fn branches(&self, project: &str) -> Vec<String> {
        let both = self.texts("project").into_iter().zip(self.texts("branch"));
        both.filter(|(of, _)| *of == project).map(|(_, branch)| branch).collect()
    }
}
