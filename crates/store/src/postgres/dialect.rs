//! The store's SQL in the words of PostgreSQL.

use tokio_postgres::types::{ToSql as ToServer, Type};

use super::failure::ServerFailure;
use super::nul::encoded;
use crate::sql::driver::{Result, ToSql, ToSqlOutput, ValueRef};

/// A statement for the server, with those of its values that are not NULL.
pub(super) struct Statement {
    pub(super) sql: String,
    values: Vec<Argument>,
}

enum Argument {
    Number(i64),
    Real(f64),
    Text(String),
}

impl Statement {
    /// Translates a statement: `?1` becomes `$1`, or NULL if that is the value, and `IS ?1` compares as
    /// an index can. Hints for SQLite's planner are left out.
    pub(super) fn new(sql: &str, values: &[&dyn ToSql]) -> Result<Self> {
        let mut statement = Self { sql: String::with_capacity(sql.len() + 16), values: Vec::new() };
        // The place that a value has got, by its number.
        let mut places: Vec<Option<usize>> = vec![None; values.len()];
        let mut rest = sql;
        while let Some(at) = rest.find(['?', '\'', '"', 'I']) {
            let (before, found) = rest.split_at(at);
            statement.sql.push_str(before);
            rest = match found.as_bytes().first() {
                Some(b'?') => statement.place(&found[1..], values, &mut places)?,
                Some(b'I') => statement.keyword(found),
                _ => statement.quoted(found),
            };
        }
        statement.sql.push_str(rest);
        Ok(statement)
    }

    /// Takes over a quoted text or name.
    fn quoted<'a>(&mut self, found: &'a str) -> &'a str {
        let (mark, inner) = found.split_at(1);
        let end = inner.find(mark).map_or(found.len(), |end| end + 2);
        let (quoted, rest) = found.split_at(end);
        self.sql.push_str(quoted);
        rest
    }

    /// Leaves out the name of an index; takes over any other word.
    fn keyword<'a>(&mut self, found: &'a str) -> &'a str {
        if let Some(name) = found.strip_prefix("INDEXED BY ") {
            return name.find(' ').map_or("", |end| &name[end + 1..]);
        }
        let (letter, rest) = found.split_at(1);
        self.sql.push_str(letter);
        rest
    }

    /// Puts a value's place in.
    fn place<'a>(
        &mut self,
        behind: &'a str,
        values: &[&dyn ToSql],
        places: &mut [Option<usize>],
    ) -> Result<&'a str> {
        let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        let (number, rest) = behind.split_at(end);
        let index = number.parse::<usize>().unwrap_or_default().wrapping_sub(1);
        let (Some(value), Some(known)) = (values.get(index), places.get_mut(index)) else {
            return Err(rusqlite::Error::InvalidParameterCount(values.len(), index + 1).into());
        };
        if known.is_none()
            && let Some(argument) = argument(*value)?
        {
            self.values.push(argument);
            *known = Some(self.values.len());
        }
        match known {
            None => self.sql.push_str("NULL"),
            Some(place) => {
                if self.sql.ends_with(" IS ") {
                    self.sql.truncate(self.sql.len() - "IS ".len());
                    self.sql.push_str("= ");
                }
                self.sql.push('$');
                self.sql.push_str(&place.to_string());
            }
        }
        Ok(rest)
    }

    /// Returns the values with their types, so that the server need not guess them.
    pub(super) fn values(&self) -> Vec<(&(dyn ToServer + Sync), Type)> {
        self.values.iter().map(typed).collect()
    }
}

fn typed(argument: &Argument) -> (&(dyn ToServer + Sync), Type) {
    match argument {
        Argument::Number(number) => (number, Type::INT8),
        Argument::Real(number) => (number, Type::FLOAT8),
        Argument::Text(text) => (text, Type::TEXT),
    }
}

/// Returns a value for the server; `None` for NULL.
fn argument(value: &dyn ToSql) -> Result<Option<Argument>> {
    let output = value.to_sql()?;
    let value = if let ToSqlOutput::Borrowed(value) = &output {
        *value
    } else if let ToSqlOutput::Owned(value) = &output {
        ValueRef::from(value)
    } else {
        return Err(ServerFailure::Type("special".to_owned()).into());
    };
    Ok(match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(Argument::Number(number)),
        ValueRef::Real(number) => Some(Argument::Real(number)),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(Argument::Text(encoded(&String::from_utf8_lossy(bytes)).into_owned()))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::driver::params;

    fn translated(sql: &str, values: &[&dyn ToSql]) -> (String, usize) {
        let statement = Statement::new(sql, values).unwrap();
        (statement.sql, statement.values.len())
    }

    #[test]
    fn statements_are_translated() {
        let none = None::<&str>;
        for (sql, values, expected, count) in [
            ("SELECT ?2, ?1, ?2", params!["a", 1], "SELECT $1, $2, $1", 2),
            ("x IS ?1 AND y IS ?2", params!["a", none], "x = $1 AND y IS NULL", 1),
            ("VALUES (?1, ?2)", params![none, true], "VALUES (NULL, $1)", 1),
            ("'?1' || \"?1\" = ?1", params!["a"], "'?1' || \"?1\" = $1", 1),
            ("FROM tasks INDEXED BY some_index WHERE IN", params![], "FROM tasks WHERE IN", 0),
            ("?1 IS NULL", params!["a"], "$1 IS NULL", 1),
        ] {
            assert_eq!(translated(sql, values), (expected.to_owned(), count), "{sql}");
        }
        assert!(Statement::new("?2", params![1]).is_err());
    }
}
