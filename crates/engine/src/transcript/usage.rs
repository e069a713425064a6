//! What every session used, from the clients' own records.
//!
//! Records may come to gigabytes, so Convoke reads them line by line, and parses a line only if it
//! can hold usage. What cannot be read is counted, so that a sum is not taken for a complete one.

mod folder;
mod lines;

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::session_usage::{AnswerKey, SessionAnswer, SessionKey, SessionTally};

use self::folder::RecordFolders;
pub(crate) use self::lines::LineMarks;
use super::own::ClientHomes;
use crate::client::adapter;

/// How to find and read a client's records of usage.
#[derive(Clone, Copy)]
pub struct UsageRecords {
    /// Reads all records below the client's own folder.
    pub(crate) read: fn(&Path, &mut UsageReader),
}

impl fmt::Debug for UsageRecords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UsageRecords").finish_non_exhaustive()
    }
}

/// What was read, and what could not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RecordCounts {
    /// Files and databases that were read.
    pub files: u64,
    /// Files, folders and databases that could not be read.
    pub unreadable: u64,
    /// Lines and rows that are damaged or not in the client's format.
    pub broken_lines: u64,
    /// Lines that are too long to read.
    pub long_lines: u64,
}

/// The usage of every session that Convoke found.
#[derive(Debug, Default)]
pub struct SessionUse {
    /// The answers, each counted once.
    pub tally: SessionTally,
    /// What was read, and what could not be.
    pub counts: RecordCounts,
    /// The clients whose records were found.
    pub clients: Vec<Client>,
    /// The clients that are in use here and keep no usage in their records.
    pub without_records: Vec<Client>,
}

/// Reads the records of every client.
pub fn used_by_sessions(homes: &ClientHomes) -> SessionUse {
    let mut used = SessionUse::default();
    for client in Client::ALL {
        let Some(home) = homes.get(client).filter(|home| home.is_dir()) else { continue };
        match adapter(client).usage_records {
            Some(UsageRecords { read }) => {
                let tally = std::mem::take(&mut used.tally);
                let mut reader = UsageReader::new(client, tally, used.counts);
                read(home, &mut reader);
                (used.tally, used.counts) = (reader.tally, reader.counts);
                used.clients.push(client);
            }
            None => used.without_records.push(client),
        }
    }
    used
}

/// Tells whether a file's name begins so and has this ending.
pub(crate) fn is_called(name: &str, start: &str, ending: &str) -> bool {
    name.starts_with(start) && Path::new(name).extension().is_some_and(|found| found == ending)
}

/// Takes in the records of one client.
pub(crate) struct UsageReader {
    client: Client,
    tally: SessionTally,
    counts: RecordCounts,
    folders: RecordFolders,
}

/// One answer in a record.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RecordedAnswer<'a> {
    pub(crate) session: &'a str,
    pub(crate) model: Option<&'a str>,
    pub(crate) project: Option<&'a str>,
    pub(crate) at: Option<jiff::Timestamp>,
    pub(crate) tokens: Option<convoke_domain::session_usage::AnswerTokens>,
}

impl UsageReader {
    fn new(client: Client, tally: SessionTally, counts: RecordCounts) -> Self {
        Self { client, tally, counts, folders: RecordFolders::default() }
    }

    /// Finds records by their names below a folder, in the order of their names.
    pub(crate) fn find(
        &mut self,
        folder: &Path,
        deep: usize,
        is_record: &dyn Fn(&str) -> bool,
    ) -> Vec<PathBuf> {
        let mut found = self.folders.find(folder, deep, is_record, &mut self.counts.unreadable);
        found.sort_unstable_by(|one, other| {
            one.file_name().cmp(&other.file_name()).then_with(|| one.cmp(other))
        });
        found
    }

    /// Calls `each` for the lines of a record that have one of the marks. `each` returns `None` for a
    /// line that is not in the client's format.
    pub(crate) fn read_lines(
        &mut self,
        path: &Path,
        marks: &LineMarks,
        mut each: impl FnMut(&str, &mut Self) -> Option<()>,
    ) {
        let read = lines::each_marked(path, marks, |line| match line {
            lines::RecordLine::Whole(text) => {
                if each(text, self).is_none() {
                    self.counts.broken_lines += 1;
                }
            }
            lines::RecordLine::Broken => self.counts.broken_lines += 1,
            lines::RecordLine::TooLong => self.counts.long_lines += 1,
        });
        match read {
            Some(()) => self.counts.files += 1,
            None => self.counts.unreadable += 1,
        }
    }

    /// Notes a file that was read as a whole; `None` if it could not be.
    pub(crate) const fn note_file(&mut self, read: Option<()>) {
        match read {
            Some(()) => self.counts.files += 1,
            None => self.counts.unreadable += 1,
        }
    }

    /// Notes a row or file that is not in the client's format.
    pub(crate) const fn note_broken(&mut self) {
        self.counts.broken_lines += 1;
    }

    /// Counts an answer, by the words that identify it in all records of the client.
    pub(crate) fn count(&mut self, identity: &[&str], answer: &RecordedAnswer<'_>) {
        let RecordedAnswer { session, model, project, at, tokens } = *answer;
        let session = SessionKey(self.hash(&[session]));
        let key = AnswerKey(self.hash(identity));
        let client = self.client;
        self.tally.count(key, &SessionAnswer { client, session, model, project, at, tokens });
    }

    fn hash(&self, words: &[&str]) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.client, words).hash(&mut hasher);
        hasher.finish()
    }
}
