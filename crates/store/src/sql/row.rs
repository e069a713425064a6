//! Convoke's values in the database's form.

use crate::sql::driver::{
    self, ColumnIndex, FromSql, FromSqlError, FromSqlResult, Row, ToSql, ToSqlOutput, ValueRef,
};
use convoke_domain::scope::AgentName;
use convoke_domain::task::id::TaskId;
use jiff::Timestamp;

/// A time as text whose order is its order.
pub(crate) struct Time(pub(crate) Timestamp);

impl ToSql for Time {
    fn to_sql(&self) -> driver::ValueResult<ToSqlOutput<'_>> {
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

/// The numbers of messages in one column, with a blank between two. A text with anything else in it is an
/// error: leaving a number out would lose a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MessageIds(pub(super) Vec<i64>);

impl ToSql for MessageIds {
    fn to_sql(&self) -> driver::ValueResult<ToSqlOutput<'_>> {
        let ids: Vec<_> = self.0.iter().map(i64::to_string).collect();
        Ok(ids.join(" ").into())
    }
}

impl FromSql for MessageIds {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        if text.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let number = |word: &str| word.parse().ok().filter(|id| *id > 0);
        let ids: Option<Vec<i64>> = text.split(' ').map(number).collect();
        let strange = || FromSqlError::other(StrangeMessageIds { text: text.to_owned() });
        ids.map(Self).ok_or_else(strange)
    }
}

/// The store is damaged: Convoke writes no such list.
#[derive(Debug, thiserror::Error)]
#[error("`{}` is not a list of message numbers", text.escape_debug())]
struct StrangeMessageIds {
    text: String,
}

/// Returns a number as the database keeps it, which knows no larger ones than this.
pub(super) fn stored(amount: impl TryInto<i64>) -> i64 {
    amount.try_into().unwrap_or(i64::MAX)
}

/// Reads an amount, if it is known.
pub(super) fn amount(row: &Row<'_>, column: impl ColumnIndex) -> driver::Result<Option<u64>> {
    let found: Option<i64> = row.get(column)?;
    Ok(found.map(i64::unsigned_abs))
}

/// Reads a word that must be one of a fixed list.
pub(super) fn one_of<T>(
    row: &Row<'_>,
    column: &str,
    parse: fn(&str) -> Option<T>,
) -> driver::Result<T> {
    one_of_at(row, row.place_of(column)?, column, parse)
}

/// Reads a word that must be one of a fixed list, from a column whose place is known.
pub(super) fn one_of_at<T>(
    row: &Row<'_>,
    place: usize,
    column: &str,
    parse: fn(&str) -> Option<T>,
) -> driver::Result<T> {
    let text: String = row.get(place)?;
    parse(&text)
        .ok_or_else(|| driver::Error::strange(place, format!("`{text}` is not a valid {column}")))
}
