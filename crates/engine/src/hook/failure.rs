//! Why a hook delivered nothing, kept without the store: the store may be the reason.
//!
//! A file for each client and project has one fixed length and is written in place, so that neither a
//! lock nor a full disk keeps a hook from leaving its reason there.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::file;
use crate::skill::hash;

/// The length of a file. One block of a disk is not larger.
const LENGTH: usize = 2048;

/// The longest reason, in characters, so that it fits even if JSON escapes all of it.
const MOST_WHY: usize = 160;

/// The longest name of an event or agent, in characters.
const MOST_NAME: usize = 60;

/// A hook that delivered nothing, or not to the agent that `CONVOKE_AGENT` names, because something
/// failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookFailure {
    /// When.
    pub at: Timestamp,
    /// The event, by the client's name for it.
    pub event: String,
    /// The error with its causes.
    pub why: String,
    /// The agent that it took instead; `None` if it delivered nothing.
    pub instead: Option<String>,
}

/// Where the failures of a client's hooks in a project are kept.
#[derive(Debug, Clone)]
pub struct HookFailureFile(PathBuf);

impl HookFailureFile {
    /// Names the file below a folder of Convoke's own.
    pub fn new(folder: &Path, client: Client, project: &Path) -> Self {
        let hash = hash(project.as_os_str().as_encoded_bytes());
        Self(folder.join(format!("{}-{}", client.name(), &hash[..16])))
    }

    /// Makes the file, if it is missing, so that a full disk has room for a reason.
    pub fn make_room(&self) -> io::Result<()> {
        if self.0.exists() { Ok(()) } else { self.write("") }
    }

    /// Keeps a failure instead of the last one.
    pub fn keep(&self, failure: &HookFailure) -> io::Result<()> {
        let short = |text: &str, most: usize| text.chars().take(most).collect::<String>();
        let HookFailure { at, event, why, instead } = failure;
        let (at, instead) = (at.to_string(), instead.as_deref().map(|name| short(name, MOST_NAME)));
        let (event, why) = (short(event, MOST_NAME), short(why, MOST_WHY));
        let kept = json!({ "at": at, "event": event, "why": why, "instead": instead });
        self.write(&kept.to_string())
    }

    /// Returns the last failure.
    pub fn last(&self) -> Option<HookFailure> {
        let text = file::text(&self.0, u64::try_from(LENGTH).ok()?)?;
        let kept: Value = serde_json::from_str(text.trim_end()).ok()?;
        let word = |name: &str| kept.get(name)?.as_str().map(str::to_owned);
        Some(HookFailure {
            at: word("at")?.parse().ok()?,
            event: word("event")?,
            why: word("why")?,
            instead: word("instead"),
        })
    }

    fn write(&self, text: &str) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(LENGTH, b' ');
        file::open_private(&self.0)?.write_all(&bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(why: &str) -> HookFailure {
        HookFailure {
            at: Timestamp::UNIX_EPOCH,
            event: "SessionStart".to_owned(),
            why: why.to_owned(),
            instead: None,
        }
    }

    fn length(file: &HookFailureFile) -> usize {
        std::fs::read(&file.0).unwrap().len()
    }

    // The disk may be full: a reason takes no room that the file does not have already.
    #[test]
    fn a_reason_takes_no_new_room() {
        let folder = tempfile::tempdir().unwrap();
        let file =
            HookFailureFile::new(&folder.path().join("new"), Client::Claude, Path::new("/p"));
        file.make_room().unwrap();
        assert_eq!((file.last(), length(&file)), (None, LENGTH));
        for why in ["disk full", "x", &"\u{0}".repeat(5000), &"\u{1f600}".repeat(5000)] {
            file.keep(&failure(why)).unwrap();
            assert_eq!(length(&file), LENGTH);
            let kept = file.last().unwrap();
            assert!(why.starts_with(&kept.why) && !kept.why.is_empty(), "{kept:?}");
        }
        let long =
            HookFailure { instead: Some("\u{0}".repeat(5000)), ..failure(&"\u{0}".repeat(5000)) };
        let long = HookFailure { event: "\u{0}".repeat(5000), ..long };
        file.keep(&long).unwrap();
        assert_eq!(length(&file), LENGTH);
        assert_eq!(file.last().unwrap().instead, Some("\u{0}".repeat(MOST_NAME)));
        file.make_room().unwrap();
        assert!(file.last().is_some(), "room that is there already stays as it is");
    }

    #[test]
    fn each_client_and_project_has_its_own_reason() {
        let folder = tempfile::tempdir().unwrap();
        let file =
            |client, project: &str| HookFailureFile::new(folder.path(), client, Path::new(project));
        file(Client::Claude, "/p").keep(&failure("locked")).unwrap();
        assert_eq!(file(Client::Claude, "/p").last(), Some(failure("locked")));
        assert_eq!(file(Client::Codex, "/p").last(), None);
        assert_eq!(file(Client::Claude, "/q").last(), None);
    }
}
