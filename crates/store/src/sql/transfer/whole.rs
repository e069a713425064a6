//! Whether all rows of a store together are ones that commands can read.

use super::{check, each_row, is_kept};
use crate::error::StoreError;
use crate::sql::catalog::{tables, tables_with};
use crate::sql::driver::{self, Connection, Row, params};
use crate::sql::task::read_task;
use crate::sql::{
    agent, deed, delivery, dispatch, failed, journal, lane, message, pin, project, review_loop,
    rows, skill,
};
use crate::transfer::TransferError;

/// Reads a row as commands do.
type RowReader = fn(&Connection, &Row<'_>) -> driver::Result<()>;

/// The tables whose rows commands read as a whole, each with the function that they use.
const READERS: [(&str, RowReader); 15] = [
    ("agents", |_, row| agent::read_agent(row).map(drop)),
    ("deliveries", |_, row| delivery::read_wording(row).map(drop)),
    ("dispatches", |_, row| dispatch::read_entry(row).map(drop)),
    ("events", |_, row| message::read_event(row).map(drop)),
    ("journal", |_, row| journal::read_entry(row).map(drop)),
    ("lanes", |_, row| lane::read_entry(row).map(drop)),
    ("messages", |connection, row| message::read_message(connection, row).map(drop)),
    ("pins", |_, row| pin::read_pin(row).map(drop)),
    ("projects", |_, row| project::read_project(row).map(drop)),
    ("resume_states", |_, row| dispatch::read_round(row).map(drop)),
    ("review_rounds", |_, row| review_loop::read_entry(row).map(drop)),
    ("runs", |_, row| journal::read_run(row).map(drop)),
    ("skill_history", |_, row| skill::read_injection(row).map(drop)),
    ("task_deeds", |_, row| deed::read_deed(row).map(drop)),
    ("tasks", |connection, row| read_task(connection, row).map(drop)),
];

/// Tables with messages to projects that need not exist yet.
const MAY_NAME_OTHERS: [&str; 3] = ["recipients", "unread", "unread_counts"];

/// Returns every defect of a store's rows: those that one row has, and those of several together.
pub(super) fn defects(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let failed = failed("check the store");
    let mut defects = Vec::new();
    for table in tables(connection).map_err(&failed)?.iter().filter(|table| is_kept(table)) {
        let looked = each_row(connection, table, &mut |row| {
            let checked = check::row(table, &row);
            defects.extend(checked.err().map(|why| format!("a row of `{table}`: {why}")));
            Ok(())
        });
        match looked {
            Ok(()) => {}
            Err(TransferError::Store(error)) => return Err(error),
            Err(other) => defects.push(other.to_string()),
        }
    }
    let dangling: Vec<String> = match connection {
        Connection::Sqlite(_) => {
            let sql = "PRAGMA foreign_key_check";
            rows(connection, sql, params![], |row| row.get(0)).map_err(&failed)?
        }
        // A server refuses such rows.
        #[cfg(feature = "postgres")]
        Connection::Server(_) => Vec::new(),
    };
    let dangles = |table| format!("a row of `{table}` refers to a row that is missing");
    defects.extend(dangling.into_iter().map(dangles));
    defects.extend(contradictions(connection).map_err(&failed)?);
    Ok(defects)
}

/// Returns what several rows do wrong together, and rows that no command can read.
pub(super) fn contradictions(connection: &Connection) -> driver::Result<Vec<String>> {
    let mut found: Vec<_> = check::together(connection)?.into_iter().collect();
    found.extend(strange_projects(connection)?);
    for (table, read) in READERS {
        found.extend(unreadable(connection, table, read)?);
    }
    Ok(found)
}

/// Returns tables with rows of projects that are not there: their folders would never find them.
fn strange_projects(connection: &Connection) -> driver::Result<Vec<String>> {
    let mut found = Vec::new();
    for table in tables_with(connection, "project")? {
        if MAY_NAME_OTHERS.contains(&table.as_str()) {
            continue;
        }
        let sql = format!(
            "SELECT DISTINCT project FROM \"{table}\" \
             WHERE project NOT IN (SELECT name FROM projects) LIMIT 3"
        );
        let strange: Vec<String> = rows(connection, &sql, params![], |row| row.get(0))?;
        let words = |name| format!("`{table}` has rows of a project that is missing: {name:?}");
        found.extend(strange.into_iter().map(words));
    }
    Ok(found)
}

/// Returns the first row of a table that commands cannot read, and why.
fn unreadable(
    connection: &Connection,
    table: &str,
    read: RowReader,
) -> driver::Result<Option<String>> {
    let (mut number, mut failure) = (0_u64, None);
    connection.each_row(&format!("SELECT * FROM \"{table}\""), &mut |row| {
        number += 1;
        failure = read(connection, row).err().map(|error| words(&error, &row.names()));
        Ok(failure.is_none())
    })?;
    Ok(failure.map(|why| format!("row {number} of `{table}` cannot be read: {why}")))
}

/// Says which column an error is about.
fn words(error: &driver::Error, names: &[String]) -> String {
    match error.out_of_range() {
        Some((column, value)) => {
            let name = names.get(column).map_or("a column", String::as_str);
            format!("`{name}` cannot be {value}")
        }
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use convoke_domain::client::Client;
    use convoke_domain::scope::{AgentName, Scope};
    use jiff::Timestamp;
    use rusqlite::backup::Backup;
    use serde_json::{Value, json};

    use super::*;
    use crate::delivery::{DeliveryStore, Session};
    use crate::sql::SqlStore;
    use crate::sql::transfer::lines::Lines;
    use crate::sql::transfer::{in_memory, take_in};
    use crate::sqlite::schema::KNOWN;

    const EXPORT: &str = include_str!("every_table.jsonl");

    /// Reads what a wake-up, a hook and `status` read.
    fn read_all(store: &SqlStore) -> Result<(), StoreError> {
        use crate::agent::AgentStore;
        use crate::message::MessageStore;
        use crate::pin::PinStore;
        use crate::skill::SkillStore;
        use crate::task::TaskStore;
        let (scope, me) = (Scope::new("p", "main"), AgentName::known("me"));
        let session = Session { client: Client::Claude, id: "a" };
        store.agents(&scope)?;
        store.tasks(&scope)?;
        store.pins(&scope, Timestamp::UNIX_EPOCH)?;
        store.last_receipt(1)?;
        store.recent_messages(&scope, 10)?;
        store.recent_events(&scope, 10)?;
        store.last_injection(&scope, &me, Some("plan.md"))?;
        store.sessions("p")?;
        store.activity(Client::Claude, "p")?;
        store.last_text(session, 1)?;
        store.is_settled(session)?;
        Ok(())
    }

    /// Returns the export with another value in one column of one line.
    fn mutated(line: usize, column: &str, value: &Value) -> String {
        let change = |(number, text): (usize, &str)| {
            if number != line {
                return text.to_owned();
            }
            let mut row: Value = serde_json::from_str(text).unwrap();
            row["row"][column] = value.clone();
            row.to_string()
        };
        let lines: Vec<_> = EXPORT.lines().enumerate().map(change).collect();
        lines.join("\n") + "\n"
    }

    /// Imports a file into a copy of an empty store.
    fn import(empty: &Connection, text: &str) -> Result<Connection, TransferError> {
        let mut memory = rusqlite::Connection::open_in_memory().unwrap();
        #[cfg(feature = "postgres")]
        let Connection::Sqlite(empty) = empty else { panic!("a file") };
        #[cfg(not(feature = "postgres"))]
        let Connection::Sqlite(empty) = empty;
        Backup::new(empty, &mut memory).unwrap().step(-1).unwrap();
        let memory = Connection::Sqlite(memory);
        let mut read = text.as_bytes();
        let mut lines = Lines::new(&mut read);
        lines.head()?;
        take_in(&memory, &mut lines)?;
        Ok(memory)
    }

    // A value that a command cannot read would silence every hook.
    #[test]
    fn an_import_refuses_what_commands_cannot_read() {
        let strange = [
            json!(-1),
            json!(i64::MAX),
            json!(""),
            json!("a\nb"),
            json!("\u{202e}"),
            json!("../../etc"),
            json!("1 x 2"),
        ];
        let empty = in_memory(KNOWN).unwrap();
        let memory = import(&empty, EXPORT).unwrap();
        assert_eq!(defects(&memory).unwrap(), Vec::<String>::new());
        read_all(&SqlStore::new(memory)).unwrap();
        let (mut refused, mut seen) = (0, BTreeSet::new());
        for (line, text) in EXPORT.lines().enumerate() {
            let row: Value = serde_json::from_str(text).unwrap();
            let Some(columns) = row["row"].as_object() else { continue };
            // One row of each table is enough.
            if !seen.insert(row["table"].to_string()) {
                continue;
            }
            let values = |name| strange.iter().map(move |value| (name, value));
            for (column, value) in columns.keys().flat_map(values) {
                let what = format!("{} {column} {value}", row["table"]);
                let Ok(memory) = import(&empty, &mutated(line, column, value)) else {
                    refused += 1;
                    continue;
                };
                assert_eq!(defects(&memory).unwrap(), Vec::<String>::new(), "{what}");
                let read = read_all(&SqlStore::new(memory));
                assert!(read.is_ok(), "{what}: {read:?}");
            }
        }
        assert!(refused > 500, "{refused}");
    }
}
