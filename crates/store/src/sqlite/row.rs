//! Convoke's values in the database's form.

use convoke_domain::scope::AgentName;
use convoke_domain::task::id::TaskId;
use jiff::Timestamp;
use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};

/// A time as text whose order is its order.
pub(super) struct Time(pub(super) Timestamp);

impl ToSql for Time {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(format!("{:.3}", self.0).into())
    }
}

impl FromSql for Time {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str()?.parse().map(Self).map_err(FromSqlError::other)
    }
}

/// A validated word: an agent's name or a task's id.
pub(super) struct Word<T>(pub(super) T);

impl FromSql for Word<AgentName> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Ok(Self(AgentName::known(value.as_str()?)))
    }
}

impl FromSql for Word<TaskId> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        TaskId::parse(value.as_str()?).map(Self).map_err(FromSqlError::other)
    }
}

/// Returns a number as the database keeps it, which knows no larger ones than this.
pub(super) fn stored(amount: impl TryInto<i64>) -> i64 {
    amount.try_into().unwrap_or(i64::MAX)
}

/// Reads an amount, if it is known.
pub(super) fn amount(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<u64>> {
    let found: Option<i64> = row.get(column)?;
    Ok(found.map(i64::unsigned_abs))
}

/// Reads a word that must be one of a fixed list.
pub(super) fn one_of<T>(
    row: &Row<'_>,
    column: &str,
    parse: fn(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    parse(&text).ok_or_else(|| {
        let strange = format!("`{text}` is not a valid {column}");
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, strange.into())
    })
}
