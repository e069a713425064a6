//! Reading messages out of the SQLite database in which a client keeps its sessions.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

use crate::foreign::{ForeignError, ForeignMessage};

/// The client may be writing.
const PATIENCE: Duration = Duration::from_secs(2);

/// Messages come with the folder of their session, in the order in which they were kept.
const SQL: &str = "SELECT message.session_id, session.directory, message.data FROM message \
                   LEFT JOIN session ON session.id = message.session_id ORDER BY message.rowid";

/// Calls `each` for every message of a database, one by one. The database stays as it is.
pub fn each_message(
    path: &Path,
    mut each: impl FnMut(ForeignMessage<'_>),
) -> Result<(), ForeignError> {
    let failed = |source: rusqlite::Error| ForeignError::Database {
        path: path.to_owned(),
        source: source.into(),
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    connection.busy_timeout(PATIENCE).map_err(failed)?;
    let mut statement = connection.prepare(SQL).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        each(ForeignMessage {
            session: text(row, 0).unwrap_or_default(),
            folder: text(row, 1),
            data: text(row, 2),
        });
    }
    Ok(())
}

/// Returns a column's text; `None` for a value of another type, or that is no UTF-8.
fn text<'a>(row: &'a Row<'_>, column: usize) -> Option<&'a str> {
    match row.get_ref(column).ok()? {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok(),
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_of_any_content_is_read_as_far_as_it_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let read = || {
            let mut found = Vec::new();
            each_message(&path, |message| {
                let ForeignMessage { session, folder, data } = message;
                let owned = |text: Option<&str>| text.unwrap_or("-").to_owned();
                found.push([session.to_owned(), owned(folder), owned(data)].join(" "));
            })
            .map(|()| found)
        };
        assert!(read().is_err());
        assert!(!path.exists(), "reading makes no database");
        let connection = Connection::open(&path).unwrap();
        assert!(read().is_err(), "it has no table of messages");
        let sql = "CREATE TABLE session (id, directory); CREATE TABLE message (session_id, data); \
                   INSERT INTO session VALUES ('s', '/p'); \
                   INSERT INTO message VALUES ('s', '{}'), ('gone', 5), (x'ff', x'ff')";
        connection.execute_batch(sql).unwrap();
        assert_eq!(read().unwrap(), ["s /p {}", "gone - -", " - -"]);
        std::fs::write(&path, "no database at all, however long it may be").unwrap();
        assert!(read().is_err());
    }
}
