//! One attempt at a background run: the files of its process, and how the process is.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

use convoke_engine::file;
use convoke_engine::lock::Lock;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::folder::{MAX_BYTES, illegible, unusable};
use crate::failure::{ErrorClass, Failure};

const WORDS: &str = "words.json";
const OUTPUT: &str = "output";
const MESSAGES: &str = "messages";
const PROCESS: &str = "process";
const EXIT: &str = "exit";

/// How long a process may take to begin.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Debug, Serialize, Deserialize)]
struct KeptWords {
    words: Vec<String>,
    asked_at: String,
}

/// How the process of an attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProcessState {
    /// It has not begun yet.
    Starting,
    /// It works.
    Running,
    /// It ended with this exit code.
    Ended(u8),
    /// It was killed, or never began.
    Lost,
}

/// One attempt at a run: a process.
pub(super) struct Attempt {
    pub(super) path: PathBuf,
}

impl Attempt {
    pub(super) fn put(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let path = self.path.join(name);
        file::put_private(&path, text.as_bytes()).map_err(unusable(&path))?;
        Ok(path)
    }

    /// Returns a file that was put there, if it can be read.
    pub(super) fn read(&self, name: &str) -> Option<String> {
        file::text(&self.path.join(name), MAX_BYTES)
    }

    pub(super) fn put_words(&self, words: Vec<String>, now: Timestamp) -> Result<(), Failure> {
        let kept = KeptWords { words, asked_at: now.to_string() };
        self.put(WORDS, &serde_json::to_string(&kept).unwrap_or_default()).map(drop)
    }

    /// Opens the files for what the process prints and says.
    pub(super) fn streams(&self) -> Result<(File, File), Failure> {
        let open = |name| {
            let path = self.path.join(name);
            file::append_private(&path).map_err(unusable(&path))
        };
        Ok((open(OUTPUT)?, open(MESSAGES)?))
    }

    pub(super) fn has_begun(&self) -> bool {
        self.path.join(PROCESS).exists()
    }

    /// As the process of the attempt: takes it for ourselves, and returns what to do.
    pub(super) fn take(&self) -> Result<(Vec<String>, Lock), Failure> {
        let kept = self.kept_words().ok_or_else(|| illegible(&self.path.join(WORDS)))?;
        let lock = Lock::take(&self.path.join(PROCESS), "this attempt")
            .map_err(|error| Failure::new(ErrorClass::Refused, error))?;
        Ok((kept.words, lock))
    }

    pub(super) fn end(&self, code: u8) -> Result<(), Failure> {
        self.put(EXIT, &code.to_string()).map(drop)
    }

    /// Returns when the process ended; nothing if it works or was killed.
    pub(super) fn ended_at(&self) -> Option<Timestamp> {
        let written = fs::metadata(self.path.join(EXIT)).and_then(|exit| exit.modified()).ok()?;
        written.try_into().ok()
    }

    pub(super) fn asked_at(&self) -> Option<Timestamp> {
        self.kept_words()?.asked_at.parse().ok()
    }

    fn kept_words(&self) -> Option<KeptWords> {
        serde_json::from_str(&file::text(&self.path.join(WORDS), MAX_BYTES)?).ok()
    }

    pub(super) fn state(&self, now: Timestamp) -> ProcessState {
        if let Some(code) = self.exit_code() {
            return ProcessState::Ended(code);
        }
        let process = self.path.join(PROCESS);
        // A process makes its lock first and writes its name into it a moment later.
        let is_named = fs::metadata(&process).is_ok_and(|file| file.len() > 0);
        if Lock::holder(&process).is_some() {
            return ProcessState::Running;
        }
        // It may have ended since the first look; it writes its exit code before it gives the lock back.
        if let Some(code) = self.exit_code() {
            return ProcessState::Ended(code);
        }
        let age = self.asked_at().map(|asked| now.duration_since(asked).unsigned_abs());
        let is_young = age.is_some_and(|age| age < PATIENCE);
        if is_young && !is_named { ProcessState::Starting } else { ProcessState::Lost }
    }

    fn exit_code(&self) -> Option<u8> {
        file::text(&self.path.join(EXIT), MAX_BYTES)?.trim().parse().ok()
    }

    /// Tells whether the process works, or is about to.
    pub(super) fn goes_on(&self, now: Timestamp) -> bool {
        matches!(self.state(now), ProcessState::Starting | ProcessState::Running)
    }

    /// Tells whether the process ended without a report.
    pub(super) fn has_failed(&self, now: Timestamp) -> bool {
        match self.state(now) {
            ProcessState::Ended(code) => code != 0 && self.output().is_none(),
            ProcessState::Lost => true,
            ProcessState::Starting | ProcessState::Running => false,
        }
    }

    /// Returns what the process printed: a report as JSON, unless it failed.
    pub(super) fn output(&self) -> Option<String> {
        file::lossy_text(&self.path.join(OUTPUT), MAX_BYTES).filter(|text| !text.is_empty())
    }

    /// Returns what the process said on stderr.
    pub(super) fn messages(&self) -> String {
        file::lossy_text(&self.path.join(MESSAGES), MAX_BYTES).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use convoke_domain::owner::Owner;
    use convoke_engine::owner;

    use super::*;

    #[test]
    fn a_process_without_its_name_yet_is_starting_and_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let attempt = Attempt { path: folder.path().to_owned() };
        let asked = Timestamp::UNIX_EPOCH;
        let later = |seconds| asked + Duration::from_secs(seconds);
        attempt.put_words(vec!["runs".to_owned()], asked).unwrap();
        assert_eq!(attempt.state(later(1)), ProcessState::Starting);
        assert_eq!(attempt.state(later(20)), ProcessState::Lost, "it never began");

        attempt.put(PROCESS, "").unwrap();
        assert_eq!(attempt.state(later(1)), ProcessState::Starting);
        assert_eq!(attempt.state(later(20)), ProcessState::Lost);

        let (_, lock) = attempt.take().unwrap();
        assert_eq!(attempt.state(later(20)), ProcessState::Running);
        attempt.end(3).unwrap();
        drop(lock);
        assert_eq!(attempt.state(later(20)), ProcessState::Ended(3));
    }

    #[test]
    fn a_process_that_was_killed_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        let attempt = Attempt { path: folder.path().to_owned() };
        attempt.put_words(vec!["runs".to_owned()], Timestamp::UNIX_EPOCH).unwrap();
        let Owner { mark, .. } = owner::myself();
        attempt.put(PROCESS, &format!("this attempt\n{} {mark}\n", u32::MAX)).unwrap();
        assert_eq!(attempt.state(Timestamp::UNIX_EPOCH), ProcessState::Lost);
    }
}
