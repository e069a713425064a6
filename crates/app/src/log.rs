//! The log of Convoke's work, for people who look for a fault. Off by default.
//!
//! Engine and service describe their work with `tracing`. Without a log that costs them the check
//! of one number; hooks and guardians pay no more. Convoke's own small subscriber writes the lines:
//! it escapes values from clients and files, and needs none of the crates of a general one.

mod filter;
mod subscriber;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use convoke_service::environment::{Environment, LOG_FILTER};
use convoke_service::failure::{ErrorClass, Failure};

use self::filter::{LogFilter, USUAL};
use self::subscriber::{LineSubscriber, LogTarget};
use crate::output::{Output, is_stdout};

/// The requested log, and its target.
#[derive(Debug, Clone)]
pub struct LogWish {
    /// The filter, and who set it.
    filter: Option<(&'static str, OsString)>,
    /// The file; stderr if none is named.
    pub file: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
enum LogError {
    #[error("cannot log to `{}`", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("cannot log to `{}`: stdout goes there, and is for data", path.display())]
    Stdout { path: PathBuf },
    #[error("cannot log to `{}`: it is not a regular file", path.display())]
    NotAFile { path: PathBuf },
}

impl LogWish {
    /// Takes what flags say, and else what variables say.
    pub fn new(filter: Option<OsString>, file: Option<PathBuf>, environment: &Environment) -> Self {
        let flag = filter.map(|text| ("--log", text));
        let variable = || environment.log_filter().map(|text| (LOG_FILTER, text));
        Self { filter: flag.or_else(variable), file: file.or_else(|| environment.log_file()) }
    }

    /// Starts the log of a hook, if its target is a file: clients can show an agent a hook's
    /// output, and a mistake about the log is no reason to stop a client.
    pub fn start_for_hook(&self, output: &mut Output) {
        if self.file.is_some() {
            self.start(output).ok();
        }
    }

    /// Starts the log for the rest of the process, if one is wanted.
    pub fn start(&self, output: &mut Output) -> Result<(), Failure> {
        let filter = match (&self.filter, &self.file) {
            (None, None) => return Ok(()),
            (Some((place, text)), _) => LogFilter::parse(place, &text.to_string_lossy())?,
            (None, Some(_)) => LogFilter::parse(LOG_FILTER, USUAL)?,
        };
        if filter.is_off() {
            return Ok(());
        }
        let target = if let Some(path) = &self.file {
            LogTarget::File(open(path)?)
        } else {
            output.draw_nothing();
            LogTarget::Stderr
        };
        // A process that has a subscriber already, such as a test, keeps it.
        tracing::subscriber::set_global_default(LineSubscriber::new(filter, target)).ok();
        Ok(())
    }
}

/// Opens the file for lines that are added, readable by the user alone. Anything but a regular file
/// could block, or be stdout under another name.
fn open(path: &Path) -> Result<File, Failure> {
    let owned = || path.to_owned();
    let failed = |source| {
        Failure::new(ErrorClass::Prerequisite, LogError::File { path: owned(), source })
            .hint("name a file in a folder that you can write to with `--log-file`")
    };
    let usage = |error| {
        Failure::new(ErrorClass::Usage, error)
            .hint("leave out `--log-file` to log to stderr, or name another file")
    };
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(usage(LogError::NotAFile { path: owned() }));
    }
    let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path);
    let file = file.map_err(failed)?;
    if is_stdout(&file) {
        return Err(usage(LogError::Stdout { path: owned() }));
    }
    Ok(file)
}
