//! Values of a server's rows, in the form that the store's code reads.

use std::error::Error as StdError;

use tokio_postgres::Row;
use tokio_postgres::types::{FromSql as FromServer, Type};

use super::failure::ServerFailure;
use super::nul::{TextForm, decoded};
use crate::sql::driver::{FromSql, FromSqlError, Result, ValueRef};

/// A row of a server's answer.
#[derive(Debug)]
pub(crate) struct ServerRow {
    row: Row,
    /// Values that the server writes in another way: sums, and texts with U+0000.
    rewritten: Vec<Option<Rewritten>>,
}

#[derive(Debug)]
enum Rewritten {
    Sum(i64),
    Text(String),
}

/// The bytes of a column, as the server sent them.
struct Bytes<'a>(Option<&'a [u8]>);

impl<'a> FromServer<'a> for Bytes<'a> {
    fn from_sql(
        _: &Type,
        raw: &'a [u8],
    ) -> std::result::Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(Some(raw)))
    }

    fn from_sql_null(_: &Type) -> std::result::Result<Self, Box<dyn StdError + Sync + Send>> {
        Ok(Self(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl ServerRow {
    pub(super) fn new(row: Row) -> Self {
        let rewrite = |place: usize| {
            let bytes = row.try_get::<_, Bytes<'_>>(place).ok()?.0?;
            match *row.columns().get(place)?.type_() {
                Type::NUMERIC => whole_number(bytes).map(Rewritten::Sum),
                Type::TEXT => {
                    let form = TextForm::of_column(row.columns().get(place)?.name());
                    decoded(std::str::from_utf8(bytes).ok()?, form).map(Rewritten::Text)
                }
                _ => None,
            }
        };
        let rewritten = (0..row.len()).map(rewrite).collect();
        Self { row, rewritten }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.row.columns().iter().map(tokio_postgres::Column::name)
    }

    /// Returns one column.
    pub(crate) fn value(&self, place: usize) -> Result<ValueRef<'_>> {
        let column = self.row.columns().get(place);
        let column = column.ok_or(rusqlite::Error::InvalidColumnIndex(place))?;
        let Bytes(bytes) = self.row.try_get(place).map_err(ServerFailure::of)?;
        let Some(bytes) = bytes else { return Ok(ValueRef::Null) };
        match self.rewritten.get(place) {
            Some(Some(Rewritten::Sum(sum))) => return Ok(ValueRef::Integer(*sum)),
            Some(Some(Rewritten::Text(text))) => return Ok(ValueRef::Text(text.as_bytes())),
            _ => {}
        }
        let kind = column.type_();
        let strange = || ServerFailure::Type(kind.name().to_owned());
        let number = match *kind {
            Type::INT8 => bytes.try_into().ok().map(i64::from_be_bytes),
            Type::INT4 => bytes.try_into().ok().map(|bytes| i32::from_be_bytes(bytes).into()),
            Type::BOOL => bytes.first().map(|byte| i64::from(*byte != 0)),
            Type::TEXT | Type::VARCHAR | Type::NAME | Type::UNKNOWN => {
                return Ok(ValueRef::Text(bytes));
            }
            _ => None,
        };
        Ok(ValueRef::Integer(number.ok_or_else(strange)?))
    }

    /// Reads one column.
    pub(crate) fn read<T: FromSql>(&self, place: usize) -> Result<T> {
        let value = self.value(place)?;
        T::column_result(value).map_err(|error| {
            let name = || self.names().nth(place).unwrap_or_default().to_owned();
            let error = if matches!(error, FromSqlError::InvalidType) {
                rusqlite::Error::InvalidColumnType(place, name(), value.data_type())
            } else if let FromSqlError::OutOfRange(number) = error {
                rusqlite::Error::IntegralValueOutOfRange(place, number)
            } else {
                let kind = value.data_type();
                rusqlite::Error::FromSqlConversionFailure(place, kind, Box::new(error))
            };
            error.into()
        })
    }
}

/// Reads a whole number in groups of four digits: how many groups, the weight of the first, the sign and
/// the number of decimals come before them.
fn whole_number(bytes: &[u8]) -> Option<i64> {
    let mut words = bytes.chunks_exact(2).map(|pair| [pair[0], pair[1]]);
    let mut next = || words.next();
    let groups = i16::from_be_bytes(next()?);
    let weight = i16::from_be_bytes(next()?);
    let sign = u16::from_be_bytes(next()?);
    next()?;
    let mut total: i64 = 0;
    for place in 0..=weight.max(-1) {
        let group = if place < groups { i64::from(u16::from_be_bytes(next()?)) } else { 0 };
        total = total.checked_mul(10_000)?.checked_add(group)?;
    }
    match sign {
        0 => Some(total),
        0x4000 => Some(-total),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::whole_number;

    #[test]
    fn sums_are_read() {
        let numeric = |words: &[i16]| -> Vec<u8> {
            words.iter().flat_map(|word| word.to_be_bytes()).collect()
        };
        assert_eq!(whole_number(&numeric(&[0, 0, 0, 0])), Some(0));
        assert_eq!(whole_number(&numeric(&[1, 0, 0, 0, 42])), Some(42));
        assert_eq!(whole_number(&numeric(&[2, 1, 0x4000, 0, 3, 7])), Some(-30_007));
        assert_eq!(whole_number(&numeric(&[1, 1, 0, 0, 3])), Some(30_000));
        assert_eq!(whole_number(&numeric(&[1, 9, 0, 0, 9])), None, "too large");
    }
}
