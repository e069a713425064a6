//! Export, import, backup and copy of a store.

mod check;
mod copy;
mod lines;
mod whole;

use std::io::{self, BufRead};
use std::path::Path;

use jiff::Timestamp;
use rusqlite::backup::{Backup, StepResult};
use serde_json::{Map, Value, json};

use self::copy::{copy_table, digests};
use self::lines::{Line, Lines};
use super::catalog::{DERIVED, columns, tables};
use super::driver::{self, Connection, Value as SqlValue, ValueRef, params};
use super::transaction::ReadTransaction;
use super::{SqlStore, failed};
use crate::backend;
use crate::error::StoreError;
use crate::location::StoreLocation;
use crate::sqlite::schema::{KNOWN, migrate};
use crate::transfer::{CopiedStore, FORMAT, TableDigest, TransferError, TransferStore};

/// The kind of file in the first line.
const KIND: &str = "store export";

/// Belongs to a transaction that is under way, and is never taken along.
const STEP_NOW: &str = "task_step_now";

/// Belong to processes that are at work, and are never taken along.
const OF_PROCESSES: [&str; 4] = ["fleet_events", "fleet_lanes", "fleet_workers", "run_leases"];

/// Tells whether a table is taken along; triggers fill the others anew.
fn is_kept(table: &str) -> bool {
    table != STEP_NOW && !OF_PROCESSES.contains(&table) && !DERIVED.contains(&table)
}

/// Returns the tables that are taken along.
fn kept_tables(connection: &Connection) -> driver::Result<Vec<String>> {
    let mut tables = tables(connection)?;
    tables.retain(|table| is_kept(table));
    Ok(tables)
}

/// Runs `fill` while no message that is put in counts as unread: which ones are, a table of its own
/// says.
fn without_arrivals<T>(
    connection: &Connection,
    fill: impl FnOnce() -> Result<T, TransferError>,
) -> Result<T, TransferError> {
    let failed = failed("put messages in");
    let pause = || match connection {
        Connection::Sqlite(_) => {
            let sql =
                "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = 'message_arrives'";
            let trigger: Vec<String> = super::rows(connection, sql, params![], |row| row.get(0))?;
            connection.execute_batch("DROP TRIGGER IF EXISTS message_arrives")?;
            Ok(trigger.concat())
        }
        #[cfg(feature = "postgres")]
        Connection::Server(_) => {
            connection.execute_batch("SET LOCAL convoke.importing = 'on'")?;
            Ok("SET LOCAL convoke.importing = 'off'".to_owned())
        }
    };
    let resume = pause().map_err(&failed)?;
    let filled = fill()?;
    connection.execute_batch(&resume).map_err(&failed)?;
    Ok(filled)
}

/// Lets rows come before those that they refer to, until the change is kept.
fn defer_references(connection: &Connection) -> driver::Result<()> {
    connection.execute_batch(match connection {
        Connection::Sqlite(_) => "PRAGMA defer_foreign_keys = ON",
        #[cfg(feature = "postgres")]
        Connection::Server(_) => "SET CONSTRAINTS ALL DEFERRED",
    })
}

/// Tables that commands and hooks fill as a side effect, so that rows in them do not make a store
/// count as used.
const INCIDENTAL: [&str; 2] = ["firings", "projects"];

impl TransferStore for SqlStore {
    fn check(&self) -> Result<Vec<String>, StoreError> {
        let connection = self.connection();
        let damage = match &*connection {
            Connection::Sqlite(_) => {
                let sql = "PRAGMA integrity_check";
                let said = super::rows(&connection, sql, params![], |row| row.get(0));
                let mut said: Vec<String> = said.map_err(failed("check the store"))?;
                said.retain(|line| line != "ok");
                said
            }
            // Reading every row below finds what a server finds wrong with its files.
            #[cfg(feature = "postgres")]
            Connection::Server(_) => Vec::new(),
        };
        // Rows of a damaged file say nothing.
        if damage.is_empty() { whole::defects(&connection) } else { Ok(damage) }
    }

    // By the database's own means, where the store is a file.
    fn backup(&self, path: &Path) -> Result<(), StoreError> {
        let connection = self.connection();
        match &*connection {
            Connection::Sqlite(file) => copy_file(file, path),
            #[cfg(feature = "postgres")]
            Connection::Server(_) => {
                drop(connection);
                match self.copy_into(&StoreLocation::file(path)) {
                    Ok(_) => Ok(()),
                    Err(TransferError::Store(error)) => Err(error),
                    Err(other) => {
                        let why = driver::Error::strange(0, other.to_string());
                        Err(failed("copy the store")(why))
                    }
                }
            }
        }
    }

    fn export(
        &self,
        now: Timestamp,
        write: &mut dyn FnMut(&str) -> io::Result<()>,
    ) -> Result<u64, TransferError> {
        let failed = failed("export the store");
        // A transaction reads one state of the store.
        let moment = ReadTransaction::begin(self.connection()).map_err(&failed)?;
        let head = json!({
            "convoke": KIND,
            "version": FORMAT,
            "schema": KNOWN,
            "exported_at": now.to_string(),
        });
        write(&head.to_string()).map_err(TransferError::Write)?;
        let mut count = 0;
        for table in kept_tables(&moment).map_err(&failed)? {
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
        replace_all(&read, &transaction)?;
        transaction.commit().map_err(failed)?;
        Ok(count)
    }

    fn digests(&self) -> Result<Vec<TableDigest>, StoreError> {
        let failed = failed("read the store");
        let moment = ReadTransaction::begin(self.connection()).map_err(&failed)?;
        digests(&moment).map_err(failed)
    }

    fn copy_into(&self, target: &StoreLocation) -> Result<CopiedStore, TransferError> {
        let target = backend::open_sql(target)?;
        let failed = failed("copy the store");
        let moment = ReadTransaction::begin(self.connection()).map_err(&failed)?;
        let here = digests(&moment).map_err(&failed)?;
        let transaction = target.begin().map_err(&failed)?;
        // A copy that was made, and confirmed too late for its caller to hear of it.
        if here == digests(&transaction).map_err(&failed)? {
            return Ok(CopiedStore { tables: here, was_there: true });
        }
        replace_all(&moment, &transaction)?;
        let there = digests(&transaction).map_err(&failed)?;
        if let Some(table) = first_difference(&here, &there) {
            return Err(TransferError::Differs { table });
        }
        transaction.commit().map_err(failed)?;
        Ok(CopiedStore { tables: here, was_there: false })
    }
}

/// Returns the first table that is not the same in two stores.
fn first_difference(one: &[TableDigest], other: &[TableDigest]) -> Option<String> {
    let missing = |from: &[TableDigest], found: &TableDigest| !from.contains(found);
    let here = one.iter().find(|found| missing(other, found));
    here.or_else(|| other.iter().find(|found| missing(one, found))).map(|found| found.table.clone())
}

/// Copies a file as it is at one moment, and checks the copy.
fn copy_file(from: &rusqlite::Connection, path: &Path) -> Result<(), StoreError> {
    let copy = || -> rusqlite::Result<String> {
        let mut to = rusqlite::Connection::open(path)?;
        let backup = Backup::new(from, &mut to)?;
        let mut last = StepResult::More;
        while last != StepResult::Done {
            last = backup.step(-1)?;
        }
        drop(backup);
        to.query_row("PRAGMA quick_check", [], |row| row.get(0))
    };
    let failed = failed("copy the store");
    match copy().map_err(|error| failed(error.into()))?.as_str() {
        "ok" => Ok(()),
        _ => Err(failed(driver::Error::no_row())),
    }
}

/// Puts every row of one store into another, empty one, within the caller's transactions.
fn replace_all(from: &Connection, to: &Connection) -> Result<(), TransferError> {
    let failed = failed("put the rows in");
    refuse_rows(to)?;
    defer_references(to).map_err(&failed)?;
    note(to, Some(0)).map_err(&failed)?;
    for table in INCIDENTAL {
        to.execute(&format!("DELETE FROM {table}"), params![]).map_err(&failed)?;
    }
    let tables = kept_tables(from).map_err(&failed)?;
    without_arrivals(to, || {
        tables.iter().try_for_each(|table| copy_table(from, to, table)).map_err(&failed)?;
        Ok(())
    })?;
    note(to, None).map_err(&failed)?;
    #[cfg(feature = "postgres")]
    if matches!(to, Connection::Server(_)) {
        copy::number_rows(to, &tables).map_err(failed)?;
    }
    Ok(())
}

/// Sets whether changes of tasks are recorded as steps.
fn note(connection: &Connection, step: Option<i64>) -> driver::Result<()> {
    connection.execute(&format!("UPDATE {STEP_NOW} SET step = ?1"), [step]).map(drop)
}

/// Reads a file into a store of its own, in memory, and brings that up to date. So a line that is
/// refused leaves the real store alone.
fn load(read: &mut dyn BufRead) -> Result<(Connection, u64), TransferError> {
    let mut lines = Lines::new(read);
    let schema = lines.head()?;
    let memory = in_memory(schema).map_err(failed("read the export"))?;
    let count = take_in(&memory, &mut lines)?;
    Ok((memory, count))
}

/// Makes an empty store with a schema, in memory.
fn in_memory(schema: usize) -> driver::Result<Connection> {
    let memory = rusqlite::Connection::open_in_memory()?;
    migrate(&memory, schema)?;
    Ok(Connection::Sqlite(memory))
}

/// Puts the lines of a file into an empty store with the file's schema, brings that up to date, and
/// checks it.
fn take_in(memory: &Connection, lines: &mut Lines<'_>) -> Result<u64, TransferError> {
    let failed = failed("read the export");
    memory.execute_batch("PRAGMA foreign_keys = OFF").map_err(&failed)?;
    let known = tables(memory).map_err(&failed)?;
    let has_steps = known.iter().any(|table| table == STEP_NOW);
    if has_steps {
        note(memory, Some(0)).map_err(&failed)?;
    }
    memory.execute_batch("BEGIN").map_err(&failed)?;
    let count = without_arrivals(memory, || fill(memory, &known, lines))?;
    lines.nothing_more()?;
    memory.execute_batch("COMMIT").map_err(&failed)?;
    if has_steps {
        note(memory, None).map_err(&failed)?;
    }
    bring_up_to_date(memory).map_err(&failed)?;
    let sql = "PRAGMA foreign_key_check";
    let dangling: Vec<String> =
        super::rows(memory, sql, params![], |row| row.get(0)).map_err(&failed)?;
    if let Some(table) = dangling.into_iter().next() {
        return Err(TransferError::Dangling { table });
    }
    match whole::contradictions(memory).map_err(&failed)?.into_iter().next() {
        Some(why) => Err(TransferError::Rows { why }),
        None => Ok(count),
    }
}

fn bring_up_to_date(memory: &Connection) -> driver::Result<()> {
    match memory {
        Connection::Sqlite(memory) => Ok(migrate(memory, KNOWN)?),
        #[cfg(feature = "postgres")]
        Connection::Server(_) => Ok(()),
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
        let rows: u32 = connection.query_row(&sql, params![], |row| row.get(0)).map_err(&failed)?;
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
    let mut names = Vec::new();
    let mut stopped = None;
    let read = connection.each_row(&format!("SELECT * FROM \"{table}\""), &mut |row| {
        if names.is_empty() {
            names = row.names();
        }
        stopped = hear(json_row(row, &names)?).err();
        Ok(stopped.is_none())
    });
    read.map_err(failed("read a table"))?;
    stopped.map_or(Ok(()), Err)
}

/// Returns a row as an export has it.
fn json_row(row: &driver::Row<'_>, names: &[String]) -> driver::Result<Map<String, Value>> {
    let mut map = Map::new();
    for (at, name) in names.iter().enumerate() {
        let value = match row.get_ref(at)? {
            ValueRef::Null => Value::Null,
            ValueRef::Integer(number) => number.into(),
            ValueRef::Real(number) => number.into(),
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes).into(),
        };
        map.insert(name.clone(), value);
    }
    Ok(map)
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
    let sql = copy::insertion(table, &names, 1);
    let values: Vec<_> = values.iter().map(|value| value as &dyn driver::ToSql).collect();
    let inserted = connection.prepare_cached(&sql).and_then(|mut insert| insert.execute(&*values));
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

#[cfg(test)]
mod tests {
    use convoke_domain::scope::Scope;
    use jiff::Timestamp;

    use super::*;
    use crate::project::ProjectStore;
    use crate::task::{NewTask, TaskStore};

    fn opened(dir: &tempfile::TempDir, name: &str) -> SqlStore {
        SqlStore::open(&dir.path().join(name)).unwrap()
    }

    fn lines(store: &SqlStore) -> Vec<String> {
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
