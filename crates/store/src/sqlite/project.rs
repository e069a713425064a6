//! Projects in SQLite.

use rusqlite::{Connection, OptionalExtension, params};

use super::{SqliteStore, failed};
use crate::error::StoreError;
use crate::project::ProjectStore;

impl ProjectStore for SqliteStore {
    fn project_name(&self, path: &str, wanted: &str) -> Result<String, StoreError> {
        let name = || {
            if let Some(name) = name_of(&self.connection, path)? {
                return Ok(name);
            }
            let transaction = self.begin()?;
            // Another process may have been faster.
            let name = match name_of(&transaction, path)? {
                Some(name) => name,
                None => add(&transaction, path, wanted)?,
            };
            transaction.commit()?;
            Ok(name)
        };
        name().map_err(failed("name the project"))
    }
}

fn name_of(connection: &Connection, path: &str) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT name FROM projects WHERE path = ?1";
    connection.prepare_cached(sql)?.query_row([path], |row| row.get(0)).optional()
}

fn add(connection: &Connection, path: &str, wanted: &str) -> rusqlite::Result<String> {
    let numbered = (2..).map(|number: u64| format!("{wanted}-{number}"));
    let mut taken = connection.prepare_cached("SELECT 1 FROM projects WHERE name = ?1")?;
    for name in std::iter::once(wanted.to_owned()).chain(numbered) {
        if !taken.exists([&name])? {
            let sql = "INSERT INTO projects (path, name) VALUES (?1, ?2)";
            connection.execute(sql, params![path, name])?;
            return Ok(name);
        }
    }
    Ok(wanted.to_owned())
}
