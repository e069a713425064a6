//! The rehearsal: a whole design on an example project, with recorded answers.
//!
//! It uses the same engine, journal and lanes as any other; only the agents are recordings. It runs
//! in a temporary copy with a repository of its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use convoke_domain::client::Client;
use convoke_domain::lane::event::{LaneEvent, Usage};
use convoke_engine::git::fresh::begin_repository;
use convoke_engine::lane::cassette::{Cassette, CassetteEntry};
use tempfile::TempDir;

use super::DesignError;
use super::seats::Seats;
use crate::failure::{ErrorClass, Failure};
use crate::rehearsal::{self, FEATURE, FILES, lane, parts};

/// The file with what the author answers, one line a question.
pub(super) const REPLIES: &str = "replies.txt";

/// The participants.
const SEATS: [&str; 3] = [Client::Cursor.name(), Client::Codex.name(), Client::Claude.name()];

/// A rehearsal, ready to begin. Dropping it removes all its files.
pub(super) struct Rehearsal {
    folder: TempDir,
    feature: String,
    replies: String,
}

/// The files of a rehearsal, by their paths.
type Files = Vec<(String, String)>;

impl Rehearsal {
    /// Copies the example, or a folder of the same form.
    pub(super) fn prepare(named: Option<&Path>) -> Result<Self, Failure> {
        let failed = |source: io::Error| {
            let path = named.map_or_else(|| PathBuf::from("the rehearsal"), Path::to_path_buf);
            Failure::new(ErrorClass::Prerequisite, DesignError::Folder { path, source })
        };
        let shipped = || FILES.map(|(path, text)| (path.to_owned(), text.to_owned())).to_vec();
        let (files, feature, replies) = match named {
            Some(folder) => {
                let feature = fs::read_to_string(folder.join("feature.txt")).map_err(failed)?;
                let replies = match fs::read_to_string(folder.join(REPLIES)) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
                    replies => replies.map_err(failed)?,
                };
                (found(folder).map_err(failed)?, feature, replies)
            }
            None => (shipped(), FEATURE.to_owned(), rehearsal::REPLIES.to_owned()),
        };
        let folder = tempfile::tempdir().map_err(failed)?;
        lay_out(folder.path(), &files).map_err(failed)?;
        Ok(Self { folder, feature: feature.trim().to_owned(), replies })
    }

    /// Returns what the author answers.
    pub(super) fn replies(&self) -> String {
        self.replies.clone()
    }

    pub(super) fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(super) fn feature(&self) -> String {
        self.feature.clone()
    }

    /// Seats the recordings under the names of the usual participants.
    pub(super) fn seats(&self) -> Result<Seats, Failure> {
        let mut seats =
            Seats::parse(&SEATS.join(",")).map_err(|error| Failure::new(ErrorClass::Bug, error))?;
        for chosen in &mut seats.agents {
            chosen.agent = format!("replay:{}", tape(self.folder.path()).display());
        }
        Ok(seats)
    }
}

fn tape(folder: &Path) -> PathBuf {
    folder.join("answers.jsonl")
}

/// Reads a folder that has the shape of the example.
fn found(folder: &Path) -> io::Result<Files> {
    let mut files = Vec::new();
    let mut open = vec!["answers".to_owned(), "project".to_owned()];
    while let Some(path) = open.pop() {
        for entry in fs::read_dir(folder.join(&path))? {
            let entry = entry?;
            let inner = format!("{path}/{}", entry.file_name().to_string_lossy());
            // The copy gets a repository of its own; settings and hooks of another are not wanted.
            if entry.file_name() == ".git" {
                continue;
            }
            if entry.file_type()?.is_dir() {
                open.push(inner);
            } else {
                files.push((inner, fs::read_to_string(entry.path())?));
            }
        }
    }
    Ok(files)
}

/// Writes the project with its repository, and the answers as recorded lanes.
fn lay_out(folder: &Path, files: &Files) -> io::Result<()> {
    let mut tape_text = format!("{}\n", Cassette::head());
    for (path, text) in files {
        if let Some(lane) = lane(path) {
            tape_text += &entry(lane, text).lines(None);
        } else {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)?;
        }
    }
    fs::write(tape(folder), tape_text)?;
    begin_repository(&folder.join("project"))
}

/// Makes a recorded lane of an answer. Values between `---` lines at its start describe its lane.
fn entry(lane: &str, text: &str) -> CassetteEntry {
    let (head, answer) = parts(text);
    let value = |name: &str| {
        let mut said = head.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        said.next().map(str::trim)
    };
    let took = value("took").map_or(1, seconds);
    let numbers = value("tokens").unwrap_or_default().split(|c: char| !c.is_ascii_digit());
    let mut numbers = numbers.filter_map(|number| number.parse().ok());
    let (input, output) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let took = Duration::from_secs(took);
    let usage = LaneEvent::Usage(Usage { input, output, ..Usage::default() });
    let model = value("model").map(|model| LaneEvent::Model(model.to_owned()));
    let mut entry = CassetteEntry::answered(lane, answer.trim(), took);
    let before = [Some(usage), model].into_iter().flatten().map(|event| (took, event));
    entry.events.splice(0..0, before);
    entry
}

/// Reads `41s` or `1m12s`.
fn seconds(text: &str) -> u64 {
    let (minutes, rest) = text.split_once('m').unwrap_or(("0", text));
    let number = |text: &str| text.trim_end_matches('s').parse::<u64>().unwrap_or(0);
    number(minutes) * 60 + number(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_example_is_shipped() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("rehearsal");
        let mut found: Vec<_> = found(&folder)
            .map(|files| files.into_iter().map(|(path, _)| path).collect())
            .unwrap_or_default();
        found.sort();
        let shipped: Vec<_> = FILES.map(|(path, _)| path.to_owned()).to_vec();
        assert_eq!(shipped, found);
    }
}
