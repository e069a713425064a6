//! Translates errors of databases for callers, which do not depend on any.

use rusqlite::ErrorCode;

use super::driver::Error;
use crate::error::{BackendTrouble, StoreError};
use crate::location::StoreLocation;

/// Returns the error for a failed operation.
pub(crate) fn failed(doing: &'static str) -> impl Fn(Error) -> StoreError {
    move |source| StoreError::Failed { doing, trouble: trouble(&source), source: source.into() }
}

/// Returns the error for a store that could not be opened.
pub(crate) fn not_opened(location: StoreLocation, source: Error) -> StoreError {
    StoreError::Open { location, trouble: trouble(&source), source: source.into() }
}

fn trouble(error: &Error) -> BackendTrouble {
    let code = match error {
        Error::Sqlite(error) if is_strange_value(error) => return BackendTrouble::Damaged,
        Error::Sqlite(error) => error.sqlite_error_code(),
        #[cfg(feature = "postgres")]
        Error::Server(failure) => return failure.trouble(),
    };
    match code {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => BackendTrouble::Damaged,
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            BackendTrouble::NotWritable
        }
        Some(ErrorCode::DiskFull) => BackendTrouble::Full,
        Some(ErrorCode::SystemIoFailure) => BackendTrouble::Disk,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => BackendTrouble::Busy,
        _ => BackendTrouble::Other,
    }
}

/// Tells whether a column has a value that Convoke does not write. Stores of later versions, which may
/// have more of them, are refused when they are opened.
const fn is_strange_value(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType};
    matches!(
        error,
        FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..)
    )
}
