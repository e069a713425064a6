//! Copies of all rows from one database to another, and the digests that compare them.

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use super::{json_row, kept_tables};
use crate::sql::catalog::columns;
#[cfg(feature = "postgres")]
use crate::sql::driver::params;
use crate::sql::driver::{Connection, Result, ToSql, Value};
use crate::transfer::TableDigest;

/// How many values go to a server in one statement: each takes a way there and back.
#[cfg(feature = "postgres")]
const AT_ONCE: usize = 2000;

/// Returns the statement that puts rows into a table.
pub(super) fn insertion(table: &str, names: &[String], rows: usize) -> String {
    let row = |first: usize| {
        let places = (first..first + names.len()).map(|number| format!("?{number}"));
        format!("({})", places.collect::<Vec<_>>().join(", "))
    };
    let rows: Vec<_> = (0..rows).map(|number| row(number * names.len() + 1)).collect();
    format!("INSERT INTO \"{table}\" ({}) VALUES {}", names.join(", "), rows.join(", "))
}

/// Copies the rows of a table.
pub(super) fn copy_table(from: &Connection, to: &Connection, table: &str) -> Result<()> {
    let names = columns(from, table)?;
    let quoted: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let most = match to {
        Connection::Sqlite(_) => 1,
        #[cfg(feature = "postgres")]
        Connection::Server(_) => (AT_ONCE / names.len().max(1)).max(1),
    };
    let mut values: Vec<Value> = Vec::new();
    let whole = insertion(table, &quoted, most);
    let put = |values: &mut Vec<Value>| -> Result<()> {
        let rows = values.len() / names.len().max(1);
        let handed: Vec<_> = values.iter().map(|value| value as &dyn ToSql).collect();
        if rows == most {
            to.prepare_cached(&whole)?.execute(&*handed)?;
        } else {
            to.execute(&insertion(table, &quoted, rows), &*handed)?;
        }
        values.clear();
        Ok(())
    };
    let list = quoted.join(", ");
    from.each_row(&format!("SELECT {list} FROM \"{table}\""), &mut |row| {
        for at in 0..names.len() {
            values.push(row.get_ref(at)?.try_into()?);
        }
        if values.len() >= most * names.len() {
            put(&mut values)?;
        }
        Ok(true)
    })?;
    if values.is_empty() { Ok(()) } else { put(&mut values) }
}

/// Lets a server number new rows behind those that were put in with their numbers; SQLite does so by
/// itself.
#[cfg(feature = "postgres")]
pub(super) fn number_rows(connection: &Connection, tables: &[String]) -> Result<()> {
    for table in tables {
        let sql = "SELECT 1 FROM information_schema.columns \
                   WHERE table_schema = current_schema() AND table_name = ?1 \
                   AND column_name = 'id' AND is_identity = 'YES'";
        if connection.prepare_cached(sql)?.exists(params![table])? {
            let sql = format!(
                "SELECT setval(pg_get_serial_sequence('{table}', 'id'), \
                 coalesce(max(id), 1), max(id) IS NOT NULL) FROM \"{table}\""
            );
            connection.query_row(&sql, params![], |_| Ok(()))?;
        }
    }
    Ok(())
}

/// Returns the number of rows and a digest of each table that is taken along. The order of rows and
/// columns, which databases choose, does not matter.
pub(super) fn digests(connection: &Connection) -> Result<Vec<TableDigest>> {
    let mut found = Vec::new();
    for table in kept_tables(connection)? {
        let (mut rows, mut sum) = (0, [0_u8; 32]);
        let mut names = Vec::new();
        connection.each_row(&format!("SELECT * FROM \"{table}\""), &mut |row| {
            if names.is_empty() {
                names = row.names();
            }
            let mut cells: Vec<_> = json_row(row, &names)?.into_iter().collect();
            cells.sort_by(|(one, _), (other, _)| one.cmp(other));
            let cells: Vec<_> =
                cells.into_iter().flat_map(|(name, value)| [Json::String(name), value]).collect();
            add(&mut sum, &Sha256::digest(Json::Array(cells).to_string()));
            rows += 1;
            Ok(true)
        })?;
        let sha256 = sum.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
        found.push(TableDigest { table, rows, sha256 });
    }
    Ok(found)
}

/// Adds a digest to a sum of digests, modulo 2²⁵⁶: a row that is there twice counts twice.
fn add(sum: &mut [u8; 32], digest: &[u8]) {
    let mut carry = 0;
    for (byte, other) in sum.iter_mut().zip(digest).rev() {
        let total = u16::from(*byte) + u16::from(*other) + carry;
        *byte = (total & 0xff) as u8;
        carry = total >> 8;
    }
}
