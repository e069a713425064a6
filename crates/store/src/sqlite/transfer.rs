//! Export, import and backup of a SQLite store.

mod check;
mod lines;
mod whole;

use std::io::{self, BufRead};
use std::path::Path;

use jiff::Timestamp;
use rusqlite::backup::{Backup, StepResult};
use rusqlite::types::{Value as SqlValue, ValueRef};
use rusqlite::{Connection, params_from_iter};
use serde_json::{Map, Value, json};

use self::lines::{Line, Lines};
use super::schema::{DERIVED, KNOWN, migrate, tables};
use super::{SqliteStore, failed};
use crate::error::StoreError;
use crate::transfer::{FORMAT, TransferError, TransferStore};

/// The kind of file in the first line.
const KIND: &str = "store export";

/// Belongs to a transaction that is under way, and is never taken along.
const STEP_NOW: &str = "task_step_now";

/// Tells whether a table is taken along; triggers fill the others anew.
fn is_kept(table: &str) -> bool {
    table != STEP_NOW && !DERIVED.contains(&table)
}

/// Runs `fill` while no message that is put in counts as unread: which ones are, a table of its own
/// says.
fn without_arrivals<T>(
    connection: &Connection,
    fill: impl FnOnce() -> Result<T, TransferError>,
) -> Result<T, TransferError> {
    let failed = failed("put messages in");
    let sql = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = 'message_arrives'";
    let trigger: Vec<String> =
        super::rows(connection, sql, &[], |row| row.get(0)).map_err(&failed)?;
    connection.execute_batch("DROP TRIGGER IF EXISTS message_arrives").map_err(&failed)?;
    let filled = fill()?;
    connection.execute_batch(&trigger.concat()).map_err(&failed)?;
    Ok(filled)
}

/// Tables that commands and hooks fill as a side effect, so that rows in them do not make a store
/// count as used.
const INCIDENTAL: [&str; 2] = ["firings", "projects"];

impl TransferStore for SqliteStore {
    fn check(&self) -> Result<Vec<String>, StoreError> {
        let said =
            self.read_all("check the store", "PRAGMA integrity_check", &[], |row| row.get(0));
        let damage: Vec<_> = said?.into_iter().filter(|line| line != "ok").collect();
        // Rows of a damaged file say nothing.
        if damage.is_empty() { whole::defects(&self.connection()) } else { Ok(damage) }
    }

    // By the database's own means.
    fn backup(&self, path: &Path) -> Result<(), StoreError> {
        let failed = failed("copy the store");
        let copy = || -> rusqlite::Result<Vec<String>> {
            let (from, mut to) = (self.connection(), Connection::open(path)?);
            let backup = Backup::new(&from, &mut to)?;
            let mut last = StepResult::More;
            while last != StepResult::Done {
                last = backup.step(-1)?;
            }
            drop(backup);
            super::rows(&to, "PRAGMA quick_check", &[], |row| row.get(0))
        };
        let said = copy().map_err(&failed)?;
        if said == ["ok"] {
            return Ok(());
        }
        Err(failed(rusqlite::Error::QueryReturnedNoRows))
    }

    fn export(
        &self,
        now: Timestamp,
        write: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> Result<u64, TransferError> {
        let failed = failed("export the store");
        // A transaction reads one state of the store.
        let connection = self.connection();
        let moment = connection.unchecked_transaction().map_err(&failed)?;
        let head = json!({
            "convoke": KIND,
            "version": FORMAT,
            "schema": KNOWN,
            "exported_at": now.to_string(),
        });
        write(&head.to_string()).map_err(TransferError::Write)?;
        let mut count = 0;
        for table in tables(&moment).map_err(&failed)? {
            if !is_kept(&table) {
                continue;
            }
            each_row(&moment, &table, &mut |row| {
                count += 1;
                let line = json!({ "table": table, "row": row });
                write(&line.to_string()).map_err(TransferError::Write)
            })?;
        }
        let end = json!({ "end": true, "rows": count });
        write(&end.to_string()).map_err(TransferError::Write)?;
        Ok(count)
    }

    fn import(&self, read: &mut dyn BufRead) -> Result<u64, TransferError> {
        let (read, count) = load(read)?;
        let failed = failed("import into the store");
        let transaction = self.begin().map_err(&failed)?;
        refuse_rows(&transaction)?;
        transaction.pragma_update(None, "defer_foreign_keys", true).map_err(&failed)?;
        note(&transaction, Some(0)).map_err(&failed)?;
        for table in INCIDENTAL {
            transaction.execute(&format!("DELETE FROM {table}"), []).map_err(&failed)?;
        }
        without_arrivals(&transaction, || {
            for table in tables(&read).map_err(&failed)?.iter().filter(|table| is_kept(table)) {
                copy_table(&read, &transaction, table).map_err(&failed)?;
            }
            Ok(())
        })?;
        note(&transaction, None).map_err(&failed)?;
        transaction.commit().map_err(failed)?;
        Ok(count)
    }
}

/// Sets whether changes of tasks are recorded as steps.
fn note(connection: &Connection, step: Option<i64>) -> rusqlite::Result<()> {
    connection.execute(&format!("UPDATE {STEP_NOW} SET step = ?1"), [step]).map(drop)
}

/// Reads a file into a store of its own, in memory, and brings that up to date. So a line that is
/// refused leaves the real store alone.
fn load(read: &mut dyn BufRead) -> Result<(Connection, u64), TransferError> {
    let failed = failed("read the export");
    let mut lines = Lines::new(read);
    let schema = lines.head()?;
    let memory = Connection::open_in_memory().map_err(&failed)?;
    migrate(&memory, schema).map_err(&failed)?;
    let count = take_in(&memory, &mut lines)?;
    Ok((memory, count))
}

/// Puts the lines of a file into an empty store with the file's schema, brings that up to date, and
/// checks it.
fn take_in(memory: &Connection, lines: &mut Lines<'_>) -> Result<u64, TransferError> {
    let failed = failed("read the export");
    memory.pragma_update(None, "foreign_keys", false).map_err(&failed)?;
    let known = tables(memory).map_err(&failed)?;
    if known.iter().any(|table| table == STEP_NOW) {
        note(memory, Some(0)).map_err(&failed)?;
    }
    memory.execute_batch("BEGIN").map_err(&failed)?;
    let count = without_arrivals(memory, || fill(memory, &known, lines))?;
    lines.nothing_more()?;
    memory.execute_batch("COMMIT").map_err(&failed)?;
    if known.iter().any(|table| table == STEP_NOW) {
        note(memory, None).map_err(&failed)?;
    }
    migrate(memory, KNOWN).map_err(&failed)?;
    let dangling: Vec<String> =
        super::rows(memory, "PRAGMA foreign_key_check", &[], |row| row.get(0)).map_err(&failed)?;
    if let Some(table) = dangling.into_iter().next() {
        return Err(TransferError::Dangling { table });
    }
    match whole::contradictions(memory).map_err(&failed)?.into_iter().next() {
        Some(why) => Err(TransferError::Rows { why }),
        None => Ok(count),
    }
}

/// Puts the lines of a file into a store, and returns how many rows those were.
fn fill(
    memory: &Connection,
    known: &[String],
    lines: &mut Lines<'_>,
) -> Result<u64, TransferError> {
    let failed = failed("read the export");
    let mut count = 0;
    loop {
        match lines.next()? {
            Line::Row { table, row } => {
                if !is_kept(&table) || !known.contains(&table) {
                    return Err(lines.wrong(format!("there is no table `{table}`")));
                }
                let columns = columns(memory, &table).map_err(&failed)?;
                if let Some(name) = row.keys().find(|name| !columns.contains(name)) {
                    return Err(lines.wrong(format!("`{table}` has no column `{name}`")));
                }
                check::row(&table, &row).map_err(|why| lines.wrong(why))?;
                insert(memory, &table, &row).map_err(|why| lines.wrong(why))?;
                count += 1;
            }
            Line::End { rows } if rows == count => return Ok(count),
            Line::End { rows } => {
                return Err(lines.wrong(format!("{rows} rows should come before it, not {count}")));
            }
        }
    }
}

fn refuse_rows(connection: &Connection) -> Result<(), TransferError> {
    let failed = failed("look into the store");
    for table in tables(connection).map_err(&failed)? {
        if !is_kept(&table) || INCIDENTAL.contains(&&*table) {
            continue;
        }
        let sql = format!("SELECT count(*) FROM \"{table}\"");
        let rows: u32 = connection.query_row(&sql, [], |row| row.get(0)).map_err(&failed)?;
        if rows > 0 {
            return Err(TransferError::NotEmpty { table, rows: rows.into() });
        }
    }
    Ok(())
}

/// Reads a table row by row.
fn each_row(
    connection: &Connection,
    table: &str,
    hear: &mut dyn FnMut(Map<String, Value>) -> Result<(), TransferError>,
) -> Result<(), TransferError> {
    let failed = failed("read a table");
    let mut statement =
        connection.prepare(&format!("SELECT * FROM \"{table}\"")).map_err(&failed)?;
    let names: Vec<_> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([]).map_err(&failed)?;
    while let Some(row) = rows.next().map_err(&failed)? {
        let mut map = Map::new();
        for (at, name) in names.iter().enumerate() {
            let value = match row.get_ref(at).map_err(&failed)? {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => number.into(),
                ValueRef::Real(number) => number.into(),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
                    String::from_utf8_lossy(bytes).into()
                }
            };
            map.insert(name.clone(), value);
        }
        hear(map)?;
    }
    Ok(())
}

/// Returns the columns of a table.
fn columns(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    let sql = "SELECT name FROM pragma_table_info(?1)";
    super::rows(connection, sql, &[&table], |row| row.get(0))
}

/// Puts a row into a table; the database refuses wrong kinds of values. The caller has checked the
/// names.
fn insert(connection: &Connection, table: &str, row: &Map<String, Value>) -> Result<(), String> {
    let values: Vec<_> = row
        .values()
        .map(sql_value)
        .collect::<Option<_>>()
        .ok_or_else(|| "a value is neither a text nor a whole number nor null".to_owned())?;
    let names: Vec<_> = row.keys().map(|name| format!("\"{name}\"")).collect();
    let places = vec!["?"; names.len()].join(", ");
    let sql = format!("INSERT INTO \"{table}\" ({}) VALUES ({places})", names.join(", "));
    let inserted = connection
        .prepare_cached(&sql)
        .and_then(|mut insert| insert.execute(params_from_iter(values)));
    inserted.map(drop).map_err(|error| error.to_string())
}

fn sql_value(value: &Value) -> Option<SqlValue> {
    match value {
        Value::Null => Some(SqlValue::Null),
        Value::String(text) => Some(SqlValue::Text(text.clone())),
        Value::Number(number) => number.as_i64().map(SqlValue::Integer),
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

fn copy_table(from: &Connection, to: &Connection, table: &str) -> rusqlite::Result<()> {
    let mut statement = from.prepare(&format!("SELECT * FROM \"{table}\""))?;
    let names: Vec<_> = statement.column_names().map(|name| format!("\"{name}\"")).collect();
    let places = vec!["?"; names.len()].join(", ");
    let sql = format!("INSERT INTO \"{table}\" ({}) VALUES ({places})", names.join(", "));
    let mut insert = to.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let values = (0..names.len()).map(|at| row.get::<_, SqlValue>(at));
        insert.execute(params_from_iter(values.collect::<Result<Vec<_>, _>>()?))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use convoke_domain::scope::Scope;
    use jiff::Timestamp;

    use super::*;
    use crate::project::ProjectStore;
    use crate::task::{NewTask, TaskStore};

    fn opened(dir: &tempfile::TempDir, name: &str) -> SqliteStore {
        SqliteStore::open(&dir.path().join(name)).unwrap()
    }

    fn lines(store: &SqliteStore) -> Vec<String> {
        let mut lines = Vec::new();
        let mut write = |line: &str| {
            lines.push(line.to_owned());
            Ok(())
        };
        store.export(Timestamp::UNIX_EPOCH, &mut write).unwrap();
        lines
    }

    // A table that is added later is exported, too.
    #[test]
    fn a_table_is_exported_because_it_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let store = opened(&dir, "store.db");
        let sql = "CREATE TABLE later (x TEXT); INSERT INTO later VALUES ('y')";
        store.connection().execute_batch(sql).unwrap();
        assert_eq!(lines(&store)[1], r#"{"table":"later","row":{"x":"y"}}"#);
    }

    #[test]
    fn a_file_of_an_earlier_schema_is_brought_up_to_date() {
        let dir = tempfile::tempdir().unwrap();
        let store = opened(&dir, "store.db");
        let task = r#"{"project":"app","branch":"main","id":"t-1","content":"old","sort_index":1,"status":"pending","created_at":"2026-01-01T00:00:00.000Z","updated_at":"2026-01-01T00:00:00.000Z"}"#;
        let text = format!(
            "{{\"convoke\":\"store export\",\"version\":1,\"schema\":13}}\n\
             {{\"table\":\"projects\",\"row\":{{\"path\":\"/app\",\"name\":\"app\"}}}}\n\
             {{\"table\":\"tasks\",\"row\":{task}}}\n{{\"end\":true,\"rows\":2}}\n"
        );
        assert_eq!(store.import(&mut text.as_bytes()).unwrap(), 2);
        assert_eq!(store.tasks(&Scope::new("app", "main")).unwrap()[0].content, "old");
    }

    #[test]
    fn a_backup_is_a_store_also_while_others_write() {
        let dir = tempfile::tempdir().unwrap();
        let (store, other) = (opened(&dir, "store.db"), opened(&dir, "store.db"));
        let scope = Scope::new("app", "main");
        store.project_name("/home/ana/app", "app").unwrap();
        let add = |content| {
            let task = NewTask::titled(content);
            other.add_tasks(&scope, &[task], Timestamp::UNIX_EPOCH).unwrap();
        };
        add("before");
        let writing = other.begin().unwrap();
        store.backup(&dir.path().join("copy.db")).unwrap();
        drop(writing);
        add("after");
        let copy = opened(&dir, "copy.db");
        assert_eq!(copy.tasks(&scope).unwrap().len(), 1);
        assert!(copy.check().unwrap().is_empty());
        assert!(store.backup(&dir.path().join("missing/copy.db")).is_err());
    }
}
