//! Reviews as SARIF 2.1.0, which code hosts show beside the lines that a finding is about.
//!
//! A log says whether the review took place: unless every reviewer gave an answer that counts,
//! `executionSuccessful` is false, and a notification says why.

mod document;
mod place;
mod review;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use convoke_engine::file;

pub use self::place::{FilePlace, FindingPlaces};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

/// A review, as far as a SARIF log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewLog {
    /// What reviewed: `dispatch loop`, `dispatch run` or `design`.
    pub command: &'static str,
    /// Whether every reviewer gave an answer that counts.
    pub took_place: bool,
    /// What is open.
    pub findings: Vec<LoggedFinding>,
    /// What went wrong, and what the log leaves out.
    pub notices: Vec<LoggedNotice>,
}

/// A finding, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedFinding {
    /// The reviewer, or the area that the finding is about.
    pub rule: String,
    /// How heavy it is.
    pub level: LogLevel,
    /// The finding in its reviewer's words.
    pub text: String,
    /// Where it is.
    pub place: FilePlace,
    /// The same for the same finding of another run, if there is one.
    pub id: Option<String>,
}

/// A fact about the review itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedNotice {
    /// How heavy it is.
    pub level: LogLevel,
    /// The fact.
    pub text: String,
}

/// How heavy something is, in SARIF's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogLevel {
    /// It blocks.
    Error,
    /// It must be looked at.
    Warning,
    /// It is a remark.
    Note,
}

impl LogLevel {
    /// Returns SARIF's word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// A log cannot be written.
#[derive(Debug, thiserror::Error)]
enum SarifError {
    #[error("cannot write `{}`: its folder does not exist", path.display())]
    NoFolder { path: PathBuf },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// The file of a log. The one of an earlier review is gone before a review begins, so that it cannot
/// be taken for this one's.
#[derive(Debug, Clone)]
pub struct SarifFile {
    path: PathBuf,
}

impl SarifFile {
    /// Removes the log of an earlier review; fails if a new one could not be written.
    pub fn prepare(session: &Session, path: &Path) -> Result<Self, Failure> {
        let from = session.environment.current_dir().unwrap_or_else(|_| session.project.clone());
        let path = from.join(path);
        let refused = |error| Failure::new(ErrorClass::Prerequisite, error);
        if !path.parent().is_some_and(Path::is_dir) {
            return Err(refused(SarifError::NoFolder { path }));
        }
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(refused(SarifError::Write { path, source }))
            }
            Ok(()) | Err(_) => Ok(Self { path }),
        }
    }

    /// Writes the log of a review.
    pub fn write(&self, log: &ReviewLog) -> Result<(), Failure> {
        let text = format!("{:#}\n", log.document());
        file::replace(&self.path, &text).map_err(|source| {
            let path = self.path.clone();
            Failure::new(ErrorClass::Prerequisite, SarifError::Write { path, source })
        })
    }
}
