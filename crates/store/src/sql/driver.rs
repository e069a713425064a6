//! One interface to every database that understands the store's SQL.
//!
//! The store's statements are written once, in the SQL that SQLite and PostgreSQL share. A parameter is
//! `?1`, `?2`…; `column IS ?1` also finds NULL. What only one of the two understands is in its own
//! module. Values and their conversions are rusqlite's: they are plain data.

pub(crate) use rusqlite::params;
pub(crate) use rusqlite::types::{
    FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, Value, ValueRef,
};
use rusqlite::{CachedStatement, RowIndex};

#[cfg(feature = "postgres")]
use crate::postgres::{Server, ServerFailure, ServerRow};

/// What a conversion of a value returns.
pub(crate) type ValueResult<T> = rusqlite::Result<T>;

pub(crate) type Result<T> = std::result::Result<T, Error>;

/// A statement failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// In SQLite, or while a value was converted.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// In a server, or on the way to it.
    #[cfg(feature = "postgres")]
    #[error(transparent)]
    Server(#[from] ServerFailure),
}

impl Error {
    /// The error for an answer without the row that must be there.
    pub(crate) const fn no_row() -> Self {
        Self::Sqlite(rusqlite::Error::QueryReturnedNoRows)
    }

    /// The error for a value that Convoke does not write.
    pub(crate) fn strange(column: usize, why: String) -> Self {
        Self::Sqlite(rusqlite::Error::FromSqlConversionFailure(column, Type::Text, why.into()))
    }

    /// Returns the column and the number, if a number does not fit into what it is read as.
    pub(crate) const fn out_of_range(&self) -> Option<(usize, i64)> {
        match self {
            Self::Sqlite(rusqlite::Error::IntegralValueOutOfRange(column, value)) => {
                Some((*column, *value))
            }
            Self::Sqlite(_) => None,
            #[cfg(feature = "postgres")]
            Self::Server(_) => None,
        }
    }
}

impl From<FromSqlError> for Error {
    fn from(error: FromSqlError) -> Self {
        Self::Sqlite(error.into())
    }
}

/// An answer that may have no row.
pub(crate) trait OptionalExtension<T> {
    fn optional(self) -> Result<Option<T>>;
}

impl<T> OptionalExtension<T> for Result<T> {
    fn optional(self) -> Result<Option<T>> {
        match self {
            Ok(value) => Ok(Some(value)),
            Err(Error::Sqlite(rusqlite::Error::QueryReturnedNoRows)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// The values of a statement.
pub(crate) trait Values {
    fn hand_to<R>(self, run: impl FnOnce(&[&dyn ToSql]) -> R) -> R;
}

impl Values for &[&dyn ToSql] {
    fn hand_to<R>(self, run: impl FnOnce(&[&dyn ToSql]) -> R) -> R {
        run(self)
    }
}

impl<T: ToSql, const N: usize> Values for [T; N] {
    fn hand_to<R>(self, run: impl FnOnce(&[&dyn ToSql]) -> R) -> R {
        run(&self.each_ref().map(|value| value as &dyn ToSql))
    }
}

/// Names a column of a row: by its place, or by its name.
pub(crate) trait ColumnIndex: RowIndex + Copy {
    #[cfg(feature = "postgres")]
    fn place_in(self, row: &ServerRow) -> rusqlite::Result<usize>;
}

impl ColumnIndex for usize {
    #[cfg(feature = "postgres")]
    fn place_in(self, _: &ServerRow) -> rusqlite::Result<usize> {
        Ok(self)
    }
}

impl ColumnIndex for &str {
    #[cfg(feature = "postgres")]
    fn place_in(self, row: &ServerRow) -> rusqlite::Result<usize> {
        let place = row.names().position(|name| name == self);
        place.ok_or_else(|| rusqlite::Error::InvalidColumnName(self.to_owned()))
    }
}

/// A row of an answer.
pub(crate) enum Row<'a> {
    Sqlite(&'a rusqlite::Row<'a>),
    #[cfg(feature = "postgres")]
    Server(&'a ServerRow),
}

impl Row<'_> {
    /// Reads one column.
    pub(crate) fn get<I: ColumnIndex, T: FromSql>(&self, column: I) -> Result<T> {
        match self {
            Self::Sqlite(row) => Ok(row.get(column)?),
            #[cfg(feature = "postgres")]
            Self::Server(row) => row.read(column.place_in(row)?),
        }
    }

    /// Returns one column as the database keeps it.
    pub(crate) fn get_ref<I: ColumnIndex>(&self, column: I) -> Result<ValueRef<'_>> {
        match self {
            Self::Sqlite(row) => Ok(row.get_ref(column)?),
            #[cfg(feature = "postgres")]
            Self::Server(row) => row.value(column.place_in(row)?),
        }
    }

    /// Returns the place of a column.
    pub(crate) fn place_of(&self, name: &str) -> Result<usize> {
        match self {
            Self::Sqlite(row) => Ok(row.as_ref().column_index(name)?),
            #[cfg(feature = "postgres")]
            Self::Server(row) => Ok(name.place_in(row)?),
        }
    }

    /// Returns the names of the columns.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Self::Sqlite(row) => row.as_ref().column_names().map(str::to_owned).collect(),
            #[cfg(feature = "postgres")]
            Self::Server(row) => row.names().map(str::to_owned).collect(),
        }
    }
}

/// An open database.
#[derive(Debug)]
pub(crate) enum Connection {
    Sqlite(rusqlite::Connection),
    #[cfg(feature = "postgres")]
    Server(Box<Server>),
}

impl Connection {
    /// Runs a statement, and returns how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, values: impl Values) -> Result<usize> {
        values.hand_to(|values| match self {
            Self::Sqlite(connection) => Ok(connection.execute(sql, values)?),
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.execute(sql, values),
        })
    }

    /// Runs statements without values.
    pub(crate) fn execute_batch(&self, sql: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.execute_batch(sql),
        }
    }

    /// Reads the first row of an answer; without one it is an error.
    pub(crate) fn query_row<T>(
        &self,
        sql: &str,
        values: impl Values,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare(sql)?;
                first(&mut statement, values, read)
            }
            #[cfg(feature = "postgres")]
            Self::Server(server) => values.hand_to(|values| server.first(sql, values, read)),
        }
    }

    /// Keeps a statement ready for its next use.
    pub(crate) fn prepare_cached(&self, sql: &str) -> Result<Prepared<'_>> {
        match self {
            Self::Sqlite(connection) => Ok(Prepared::Sqlite(connection.prepare_cached(sql)?)),
            #[cfg(feature = "postgres")]
            Self::Server(server) => Ok(Prepared::Server(server, sql.to_owned())),
        }
    }

    /// Reads every row of an answer, one at a time. `read` may use the connection.
    pub(crate) fn each_row(
        &self,
        sql: &str,
        read: &mut dyn FnMut(&Row<'_>) -> Result<bool>,
    ) -> Result<()> {
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare(sql)?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    if !read(&Row::Sqlite(row))? {
                        break;
                    }
                }
                Ok(())
            }
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.each_row(sql, read),
        }
    }

    /// Returns a number that changes when another connection has written.
    pub(crate) fn changes(&self) -> Result<i64> {
        match self {
            Self::Sqlite(connection) => {
                Ok(connection.pragma_query_value(None, "data_version", |row| row.get(0))?)
            }
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.changes(),
        }
    }

    /// Returns the words for the user whose rows about a machine these are: a member of a server's team.
    pub(crate) const fn me(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "''",
            #[cfg(feature = "postgres")]
            Self::Server(_) => "team_me()",
        }
    }

    /// Begins a change. No other change can happen until it ends, so that nothing read here can be
    /// outdated when it is written.
    pub(crate) fn begin_write(&self) -> Result<()> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch("BEGIN IMMEDIATE")?),
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.begin_write(),
        }
    }

    /// Begins a change of the file beside the store alone. Others may write to the store meanwhile, and
    /// what is read of it here is one state.
    pub(crate) fn begin_write_beside(&self, first: &str) -> Result<()> {
        match self {
            // A statement that writes takes the lock of its own file, and waits for it.
            Self::Sqlite(connection) => {
                connection.execute_batch("BEGIN")?;
                Ok(connection.execute_batch(first)?)
            }
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.begin_write(),
        }
    }

    /// Begins a look at one state of the store.
    pub(crate) fn begin_read(&self) -> Result<()> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch("BEGIN")?),
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.begin_read(),
        }
    }

    pub(crate) fn commit(&self) -> Result<()> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch("COMMIT")?),
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.commit(),
        }
    }

    /// Undoes a change that is under way, if there is one.
    pub(crate) fn rollback(&self) {
        match self {
            Self::Sqlite(connection) if connection.is_autocommit() => {}
            Self::Sqlite(connection) => {
                connection.execute_batch("ROLLBACK").ok();
            }
            #[cfg(feature = "postgres")]
            Self::Server(server) => server.rollback(),
        }
    }
}

/// A statement that is ready for its next use.
pub(crate) enum Prepared<'a> {
    Sqlite(CachedStatement<'a>),
    #[cfg(feature = "postgres")]
    Server(&'a Server, String),
}

impl Prepared<'_> {
    pub(crate) fn execute(&mut self, values: impl Values) -> Result<usize> {
        values.hand_to(|values| match self {
            Self::Sqlite(statement) => Ok(statement.execute(values)?),
            #[cfg(feature = "postgres")]
            Self::Server(server, sql) => server.execute(sql, values),
        })
    }

    /// Tells whether the answer has a row.
    pub(crate) fn exists(&mut self, values: impl Values) -> Result<bool> {
        values.hand_to(|values| match self {
            Self::Sqlite(statement) => Ok(statement.exists(values)?),
            #[cfg(feature = "postgres")]
            Self::Server(server, sql) => Ok(server.query(sql, values)?.next().is_some()),
        })
    }

    pub(crate) fn query_row<T>(
        &mut self,
        values: impl Values,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> Result<T> {
        match self {
            Self::Sqlite(statement) => first(statement, values, read),
            #[cfg(feature = "postgres")]
            Self::Server(server, sql) => values.hand_to(|values| server.first(sql, values, read)),
        }
    }

    pub(crate) fn query_all<T>(
        &mut self,
        values: impl Values,
        mut read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> Result<Vec<T>> {
        values.hand_to(|values| match self {
            Self::Sqlite(statement) => {
                let mut rows = statement.query(values)?;
                let mut found = Vec::new();
                while let Some(row) = rows.next()? {
                    found.push(read(&Row::Sqlite(row))?);
                }
                Ok(found)
            }
            #[cfg(feature = "postgres")]
            Self::Server(server, sql) => {
                server.query(sql, values)?.map(|row| read(&Row::Server(&row))).collect()
            }
        })
    }
}

fn first<T>(
    statement: &mut rusqlite::Statement<'_>,
    values: impl Values,
    read: impl FnOnce(&Row<'_>) -> Result<T>,
) -> Result<T> {
    values.hand_to(|values| {
        let mut rows = statement.query(values)?;
        let row = rows.next()?.ok_or_else(Error::no_row)?;
        read(&Row::Sqlite(row))
    })
}
