//! Reading tasks out of the SQLite databases of earlier programs.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use convoke_domain::scope::AgentName;
use convoke_domain::task::Task;
use convoke_domain::task::foreign::ForeignState;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::priority::TaskPriority;
use convoke_domain::text::is_disruptive;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use rusqlite::{Connection, OpenFlags, Row};

use crate::foreign::{ForeignError, ForeignTask};

/// How every such database begins.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// Tells whether a file is a database.
pub fn is_database(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let regular = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    regular
        && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == *MAGIC
}

/// Reads all tasks that were not removed. A task without a time gets `now`.
pub fn read_tasks(path: &Path, now: Timestamp) -> Result<Vec<ForeignTask>, ForeignError> {
    let failed = |source: rusqlite::Error| ForeignError::Database {
        path: path.to_owned(),
        source: source.into(),
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    let columns = columns(&connection).map_err(failed)?;
    let has = |name: &&str| columns.iter().any(|column| column == name);
    let title = ["content", "title", "name"].into_iter().find(has);
    let (Some(title), true) = (title, has(&"id") && has(&"parent_id")) else {
        return Err(ForeignError::Unknown { path: path.to_owned() });
    };
    let reader = Reader { columns: &columns, title, now };
    let sql = "SELECT * FROM tasks ORDER BY rowid";
    let found = rows(&connection, sql, |row| reader.task(row)).map_err(failed)?;
    let mut tasks: Vec<_> = found.into_iter().flatten().collect();
    if !has(&"sort_index") {
        for (found, order) in tasks.iter_mut().zip(1..) {
            found.task.order = order;
        }
    }
    Ok(tasks)
}

fn columns(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    rows(connection, "SELECT name FROM pragma_table_info('tasks')", |row| row.get(0))
}

fn rows<T>(
    connection: &Connection,
    sql: &str,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> rusqlite::Result<Vec<T>> {
    connection.prepare(sql)?.query_map([], read)?.collect()
}

struct Reader<'a> {
    columns: &'a [String],
    title: &'a str,
    now: Timestamp,
}

impl Reader<'_> {
    /// Reads a row; `None` for one that was removed, or that no name or words can be made of.
    fn task(&self, row: &Row<'_>) -> rusqlite::Result<Option<ForeignTask>> {
        let text = |name: &str| self.text(row, name);
        let agent = text("assigned_agent")?.and_then(|name| AgentName::parse(&name).ok());
        let (status, result) = (text("status")?, text("result")?);
        let completed_at = self.time(row, "completed_at")?;
        let state = ForeignState {
            status: status.as_deref(),
            result: result.as_deref(),
            assigned: agent.is_some(),
            completed: completed_at.is_some(),
        };
        let id = text("id")?.and_then(|id| TaskId::parse(&id).ok());
        let content = text(self.title)?.map(|title| title.replace(is_disruptive, " "));
        let content = content.filter(|content| !content.trim().is_empty());
        let (Some(id), Some(content), None) = (id, content, text("deleted_at")?) else {
            return Ok(None);
        };
        let created_at = self.time(row, "created_at")?.unwrap_or(self.now);
        let status = state.status();
        let updated_at = self.time(row, "updated_at")?.or(completed_at).unwrap_or(created_at);
        let project = text("project")?.or(text("repo_path")?);
        let task = Task {
            id,
            parent: text("parent_id")?.and_then(|id| TaskId::parse(&id).ok()),
            plan_file: text("plan_file")?,
            content,
            body: None,
            order: text("sort_index")?.and_then(|order| order.parse().ok()).unwrap_or(0),
            agent,
            status,
            priority: TaskPriority::Normal,
            after: Vec::new(),
            waits_for: Vec::new(),
            skill: None,
            skill_version: None,
            notes: text("notes")?,
            created_at,
            updated_at,
            completed_at: status.is_closed().then(|| completed_at.unwrap_or(updated_at)),
        };
        Ok(Some(ForeignTask { project, branch: text("branch")?, task }))
    }

    /// Reads a column of any type as text; `None` for a missing or empty column.
    fn text(&self, row: &Row<'_>, name: &str) -> rusqlite::Result<Option<String>> {
        use rusqlite::types::ValueRef;
        if !self.columns.iter().any(|column| column == name) {
            return Ok(None);
        }
        let text = match row.get_ref(name)? {
            ValueRef::Null => None,
            ValueRef::Integer(number) => Some(number.to_string()),
            ValueRef::Real(number) => Some(number.to_string()),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                Some(String::from_utf8_lossy(bytes).into_owned())
            }
        };
        Ok(text.filter(|text| !text.is_empty()))
    }

    /// Reads a time, with or without a zone; without one it is UTC.
    fn time(&self, row: &Row<'_>, name: &str) -> rusqlite::Result<Option<Timestamp>> {
        Ok(self.text(row, name)?.and_then(|text| {
            let local = || text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
            text.parse().ok().or_else(|| local().map(|zoned| zoned.timestamp()))
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn database(script: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("theirs.db");
        Connection::open(&path).unwrap().execute_batch(script).unwrap();
        (folder, path)
    }

    fn shown(script: &str) -> Vec<String> {
        let (_folder, path) = database(script);
        let before = std::fs::read(&path).unwrap();
        assert!(is_database(&path));
        let found = read_tasks(&path, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), before, "it was changed");
        let line = |ForeignTask { project, branch, task }: &ForeignTask| {
            format!(
                "{} < {} {} [{}] {:?} {:?} {:?} {}",
                task.id,
                task.parent.as_ref().map_or("-", |id| id.as_str()),
                task.content,
                task.status.name(),
                task.agent.as_ref().map(AgentName::as_str),
                project.as_deref(),
                branch.as_deref(),
                task.order,
            )
        };
        found.iter().map(line).collect()
    }

    // W-3: the three shapes, each with its own words.
    #[test]
    fn each_earlier_schema_is_understood() {
        let draft = "CREATE TABLE tasks (id TEXT, parent_id TEXT, name TEXT, assigned_agent TEXT, \
             completed_at TIMESTAMP, created_at TIMESTAMP); \
             INSERT INTO tasks VALUES ('1', NULL, 'Build', NULL, NULL, '2025-12-24 10:00:00'), \
             ('2', '1', 'Design', 'Otto', '2025-12-24 11:00:00', '2025-12-24 10:00:00');";
        assert_eq!(
            shown(draft),
            [
                "1 < - Build [pending] None None None 1",
                "2 < 1 Design [completed] Some(\"otto\") None None 2"
            ]
        );
        let v0 = "CREATE TABLE tasks (project TEXT, branch TEXT, id TEXT, parent_id TEXT, \
             name TEXT, sort_index INTEGER, assigned_agent TEXT, result TEXT, completed_at TEXT); \
             INSERT INTO tasks VALUES ('app', 'main', 'a', NULL, 'One', 7, NULL, 'skipped', '2025-12-26T10:00:00Z'), \
             ('app', 'main', 'b', NULL, 'Two', 3, 'x', NULL, NULL);";
        assert_eq!(
            shown(v0),
            [
                "a < - One [skipped] None Some(\"app\") Some(\"main\") 7",
                "b < - Two [in_progress] Some(\"x\") Some(\"app\") Some(\"main\") 3"
            ]
        );
        let january = "CREATE TABLE tasks (id TEXT PRIMARY KEY, parent_id TEXT, title TEXT, \
             status TEXT, notes TEXT, created_at TEXT, updated_at TEXT, deleted_at TEXT, \
             repo_path TEXT, branch TEXT); \
             INSERT INTO tasks VALUES \
             ('t-00001', NULL, 'A', 'open', 'n', '2026-01-09T10:00:00Z', '2026-01-09T10:00:00Z', NULL, '/x/app', 'main'), \
             ('t-00002', NULL, 'B', 'closed', NULL, '', '', NULL, '/x/app', 'main'), \
             ('t-00003', NULL, 'gone', 'open', NULL, '', '', '2026-01-10T10:00:00Z', '/x/app', 'main');";
        assert_eq!(
            shown(january),
            [
                "t-00001 < - A [pending] None Some(\"/x/app\") Some(\"main\") 1",
                "t-00002 < - B [completed] None Some(\"/x/app\") Some(\"main\") 2"
            ]
        );
    }

    #[test]
    fn another_database_is_refused() {
        for script in ["CREATE TABLE tasks (x)", "CREATE TABLE other (id, parent_id, title)"] {
            let (_folder, path) = database(script);
            let error = read_tasks(&path, Timestamp::UNIX_EPOCH).unwrap_err();
            assert!(matches!(error, ForeignError::Unknown { .. }), "{error}");
        }
        let (folder, _) = database("");
        let text = folder.path().join("plan.md");
        std::fs::write(&text, "SQLite format 3, explained").unwrap();
        assert!(!is_database(&text) && !is_database(folder.path()));
    }
}
