//! Translates SQLite's errors for callers, which do not depend on SQLite.

use std::path::Path;

use rusqlite::{Error, ErrorCode};

use crate::error::{BackendTrouble, StoreError};
use crate::location::StoreLocation;

/// Returns the error for a failed operation.
pub(super) fn failed(doing: &'static str) -> impl Fn(Error) -> StoreError {
    move |source| StoreError::Failed { doing, trouble: trouble(&source), source: source.into() }
}

/// Returns the error for a store that could not be opened.
pub(super) fn not_opened(path: &Path) -> impl Fn(Error) -> StoreError {
    move |source| StoreError::Open {
        location: StoreLocation::file(path),
        trouble: trouble(&source),
        source: source.into(),
    }
}

fn trouble(error: &Error) -> BackendTrouble {
    match error.sqlite_error_code() {
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
