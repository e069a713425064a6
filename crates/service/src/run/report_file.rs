//! Reports that travel, as files: writing one, and reading one to check it.

use std::io;
use std::path::{Path, PathBuf};

use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_engine::file;

use crate::failure::{ErrorClass, Failure};

/// The largest file that is read as a report, in bytes: no report is larger.
const MOST_BYTES: u64 = 3 * 1024 * 1024;

/// What happens to a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExistingFile {
    /// It stays, and the report is not written.
    Kept,
    /// The report replaces it.
    Replaced,
}

#[derive(Debug, thiserror::Error)]
enum ReportFileError {
    #[error("cannot write `{}`: the file exists", .0.display())]
    Exists(PathBuf),
    #[error("cannot write `{}`: it is not a regular file", .0.display())]
    NotAFile(PathBuf),
    #[error("cannot write `{}`", .path.display())]
    NotWritten { path: PathBuf, source: io::Error },
    #[error("cannot read `{}`: there is no such file", .0.display())]
    Absent(PathBuf),
    #[error("cannot read `{}`: {why}", .path.display())]
    Unreadable { path: PathBuf, why: Unreadable },
}

/// Writes a report in one step: a reader sees all of it or nothing.
pub fn write_report(path: &Path, text: &str, existing: ExistingFile) -> Result<(), Failure> {
    let found = path.symlink_metadata().ok();
    if found.as_ref().is_some_and(|found| !found.is_file()) {
        let failure = Failure::new(ErrorClass::Refused, ReportFileError::NotAFile(path.to_owned()));
        return Err(failure.hint("name a file; without one, `--markdown` prints the report"));
    }
    if existing == ExistingFile::Kept && found.is_some() {
        let failure = Failure::new(ErrorClass::Refused, ReportFileError::Exists(path.to_owned()));
        return Err(failure.hint("replace it with `--force`, or name another file"));
    }
    file::put(path, text.as_bytes()).map_err(|source| {
        let path = path.to_owned();
        Failure::new(ErrorClass::Prerequisite, ReportFileError::NotWritten { path, source })
    })
}

/// The text of a file that may be a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportText {
    /// The text.
    Read(String),
    /// No report is like this file.
    NotAReport(String),
}

/// Reads a file that may be a report.
pub fn read_report(path: &Path) -> Result<ReportText, Failure> {
    let usage = |error| Failure::new(ErrorClass::Usage, error);
    match file::read(path, MOST_BYTES) {
        FileFinding::Text(text) => Ok(ReportText::Read(text)),
        FileFinding::Absent => Err(usage(ReportFileError::Absent(path.to_owned()))),
        FileFinding::Unreadable(Unreadable::TooLarge) => {
            Ok(ReportText::NotAReport("the file has more than 3 MB, and no report has".to_owned()))
        }
        FileFinding::Unreadable(Unreadable::InvalidUtf8 | Unreadable::Binary) => {
            Ok(ReportText::NotAReport("the file is not UTF-8 text, and every report is".to_owned()))
        }
        FileFinding::Unreadable(why) => {
            Err(usage(ReportFileError::Unreadable { path: path.to_owned(), why }))
        }
    }
}
