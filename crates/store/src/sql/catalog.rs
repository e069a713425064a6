//! The tables of a store, as the database knows them.

use super::driver::{Connection, Result, params};
use super::rows;

/// Tables of counts that triggers keep.
pub(crate) const DERIVED: [&str; 2] = ["unread_counts", "plan_counts"];

/// Returns all of Convoke's tables, in the order of their names.
pub(crate) fn tables(connection: &Connection) -> Result<Vec<String>> {
    let sql = match connection {
        Connection::Sqlite(_) => {
            "SELECT name FROM sqlite_master \
             WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY 1"
        }
        #[cfg(feature = "postgres")]
        Connection::Server(_) => {
            // A view is a table as the connection's user knows it.
            "SELECT CAST(relname AS TEXT) COLLATE \"C\" FROM pg_class \
             WHERE relnamespace = to_regnamespace(current_schema()::text) \
             AND relkind IN ('r', 'v') AND relname <> 'convoke_schema' \
             AND relname NOT LIKE 'found!_%' ESCAPE '!' \
             AND relname NOT LIKE 'team!_%' ESCAPE '!' ORDER BY 1"
        }
    };
    rows(connection, sql, params![], |row| row.get(0))
}

/// Returns the tables that have a column, in the order of their names.
pub(crate) fn tables_with(connection: &Connection, column: &str) -> Result<Vec<String>> {
    let all = tables(connection)?;
    let mut found = Vec::new();
    for table in all {
        if columns(connection, &table)?.iter().any(|name| name == column) {
            found.push(table);
        }
    }
    Ok(found)
}

/// Returns the columns of a table.
pub(crate) fn columns(connection: &Connection, table: &str) -> Result<Vec<String>> {
    let sql = match connection {
        Connection::Sqlite(_) => "SELECT name FROM pragma_table_info(?1)",
        #[cfg(feature = "postgres")]
        Connection::Server(_) => {
            "SELECT CAST(column_name AS TEXT) FROM information_schema.columns \
             WHERE table_schema = current_schema() AND table_name = ?1 ORDER BY ordinal_position"
        }
    };
    rows(connection, sql, params![table], |row| row.get(0))
}
