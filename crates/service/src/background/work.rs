//! The process of a background run: starting it, and being it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use convoke_engine::detach::{DetachedStart, start_detached, start_outside};
use convoke_engine::lock::Lock;

use super::attempt::Attempt;
use super::folder::{Folders, KeptRun};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

#[derive(Debug, thiserror::Error)]
#[error("cannot start a process for the run")]
struct NotStarted {
    source: io::Error,
}

fn not_started(source: io::Error) -> Failure {
    Failure::new(ErrorClass::Prerequisite, NotStarted { source })
}

/// Starts a process that does what the words say.
pub(super) fn start(session: &Session, kept: &KeptRun, words: &[String]) -> Result<(), Failure> {
    let attempt = kept.next_attempt(words, session.now())?;
    start_attempt(session, &attempt)
}

pub(super) fn start_attempt(session: &Session, attempt: &Attempt) -> Result<(), Failure> {
    let (output, messages) = attempt.streams()?;
    start_detached(DetachedStart {
        program: &session.environment.program(),
        arguments: &command(&attempt.path, Some("--leave")),
        variables: session.environment.for_worker(),
        folder: &session.project,
        output,
        messages,
    })
    .map_err(not_started)
}

/// Returns the command line of the process, or of the helper that starts it.
fn command(folder: &Path, leave: Option<&str>) -> Vec<OsString> {
    let words = ["plumbing", "background-run", "--folder"].map(OsString::from);
    words.into_iter().chain([folder.into()]).chain(leave.map(OsString::from)).collect()
}

/// As the helper: leaves the session that we were started in, and starts the process of an attempt.
pub fn leave_session(session: &Session, folder: &Path) -> Result<(), Failure> {
    let here = session.environment.current_dir().map_err(not_started)?;
    start_outside(&session.environment.program(), &command(folder, None), &here)
        .map_err(not_started)
}

/// What the process of an attempt does. As long as this lives, others see that it works.
pub struct BackgroundWork {
    /// The words of a command of Convoke's own.
    pub words: Vec<String>,
    attempt: Attempt,
    _lock: Lock,
}

/// As the process of an attempt: takes the attempt for ourselves.
pub fn begin_work(folder: PathBuf) -> Result<BackgroundWork, Failure> {
    let attempt = Attempt { path: folder };
    let (words, lock) = attempt.take()?;
    Ok(BackgroundWork { words, attempt, _lock: lock })
}

impl BackgroundWork {
    /// Keeps the exit code. Then it removes runs that ended long ago: no client waits for this process.
    pub fn end(&self, session: &Session, code: u8) -> Result<(), Failure> {
        self.attempt.end(code)?;
        if let Ok(folders) = Folders::of(session) {
            folders.remove_expired(session.now());
        }
        Ok(())
    }
}
