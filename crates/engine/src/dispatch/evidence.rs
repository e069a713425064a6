//! What proves that a dispatched agent read what it was sent to, and that its words stand where it
//! says.

use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use convoke_domain::dispatch::required::Reference;
use convoke_domain::dispatch::review::Review;
use convoke_domain::hook::Client;
use convoke_domain::receipt::path::base_name;
use convoke_domain::receipt::quotation::{Quotation, Source, quotations};
use convoke_domain::receipt::{Demanded, Read, Receipt, Seen, Standing, receipts};

use super::feature::MAX_BYTES;
use crate::file;
use crate::skill::hash;
use crate::transcript::reads::{Ending, Session, Wanted, reads};

/// A record that proves nothing.
#[derive(Debug, thiserror::Error)]
pub enum NoEvidence {
    /// It is not there, or no file.
    #[error("cannot read the record `{}`: it is no file", path.display())]
    NoFile {
        /// The record.
        path: PathBuf,
    },
    /// It cannot be read to its end.
    #[error("cannot read the record `{}`", path.display())]
    Unreadable {
        /// The record.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It says nothing.
    #[error("cannot judge by the record `{}`: it is empty", path.display())]
    Empty {
        /// The record.
        path: PathBuf,
    },
    /// Nothing in it makes sense.
    #[error("cannot understand the record `{}`: it is none of {client}", path.display())]
    Foreign {
        /// The record.
        path: PathBuf,
        /// The client it was taken for.
        client: &'static str,
    },
}

/// What a record proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// One receipt for each file that had to be read, with the hash of what was shown of it, if all
    /// of it was.
    pub receipts: Vec<(Receipt, Option<String>)>,
    /// What the agent answered, if the record has it.
    pub answer: Option<String>,
    /// Remarks, by their codes.
    pub diagnostics: Vec<String>,
}

impl Evidence {
    /// Returns the files that are known not to have been read before the answer. What is in doubt is
    /// not among them.
    pub fn unproven(&self) -> Vec<String> {
        let unread = |receipt: &&Receipt| match receipt.standing {
            Standing::Whole | Standing::Part { .. } | Standing::Older { .. } | Standing::Unsure => {
                false
            }
            Standing::OnlySubagent
            | Standing::OnlyAfterAnswer
            | Standing::OnlyNamesake { .. }
            | Standing::NotRead { .. } => true,
        };
        let receipts = self.receipts.iter().map(|(receipt, _)| receipt);
        receipts.filter(unread).map(|receipt| receipt.name.clone()).collect()
    }
}

/// A file that had to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demand {
    /// What whoever demands it calls it.
    pub name: String,
    /// Its absolute path.
    pub path: String,
}

impl Demand {
    /// Returns what a role's references demand.
    pub fn of_references(references: &[Reference]) -> Vec<Self> {
        let demand = |it: &Reference| {
            // Two files of a project may have one name.
            let name =
                if it.artifact.is_in_project() { it.artifact.file() } else { it.expected_name()? };
            let (name, path) = (name.to_owned(), it.path.clone()?);
            Some(Self { name, path })
        };
        references.iter().filter_map(demand).collect()
    }
}

/// Reads a client's record for what it proves about the files that had to be read.
pub fn evidence(
    client: Client,
    transcript: &Path,
    project: &Path,
    demands: &[Demand],
) -> Result<Evidence, NoEvidence> {
    let names: Vec<_> = demands.iter().map(|it| base_name(&it.path)).collect();
    let wanted = Wanted { folder: Some(project), names: &names };
    let mut session = read(client, transcript, &wanted)?;
    if session.lines.understood == 0 && session.lines.passed_over == 0 {
        return Err(NoEvidence::Empty { path: transcript.to_owned() });
    }
    if session.is_foreign() {
        let path = transcript.to_owned();
        return Err(NoEvidence::Foreign { path, client: client.name() });
    }
    for path in subagents(transcript) {
        // What an agent that was sent read is worth knowing, and no reason to fail.
        if let Ok(other) = read(client, &path, &wanted) {
            session.add_subagent(other);
        }
    }
    session.reads.iter_mut().for_each(resolve);
    let now = |it: &Demand| (canonical(&it.path), file::text(Path::new(&it.path), MAX_BYTES));
    let found: Vec<_> = demands.iter().map(now).collect();
    let demanded: Vec<_> = demands
        .iter()
        .zip(&found)
        .map(|(it, (path, text))| Demanded { name: &it.name, path, text: text.as_deref() })
        .collect();
    let answered = session.answer.as_ref().map(|answer| answer.step);
    let receipts = receipts(&demanded, &session.reads, answered).into_iter().map(|receipt| {
        let shown = receipt.shown_whole.as_deref().map(hash);
        (receipt, shown)
    });
    let mut diagnostics = Vec::new();
    if session.ending == Ending::Cut {
        diagnostics.push("record_cut".to_owned());
    }
    if session.answer.is_none() {
        diagnostics.push("record_without_answer".to_owned());
    }
    let receipts = receipts.collect();
    Ok(Evidence { receipts, answer: session.answer.map(|answer| answer.text), diagnostics })
}

/// A file is the same file by whatever links it is reached.
fn resolve(read: &mut Read) {
    match &mut read.seen {
        Seen::Lines { path, .. } | Seen::Nothing { path } => *path = canonical(path),
        Seen::Perhaps { .. } => {}
    }
}

fn canonical(path: &str) -> String {
    let whole = Some(Path::new(path)).filter(|path| path.is_absolute());
    let found = whole.and_then(|path| path.canonicalize().ok());
    found.map_or_else(|| path.to_owned(), |it| it.display().to_string())
}

fn read(client: Client, path: &Path, wanted: &Wanted<'_>) -> Result<Session, NoEvidence> {
    let no_file = || NoEvidence::NoFile { path: path.to_owned() };
    let file = file::open_regular(path).ok_or_else(no_file)?;
    reads(client, BufReader::with_capacity(256 * 1024, file), wanted)
        .map_err(|source| NoEvidence::Unreadable { path: path.to_owned(), source })
}

/// Claude Code keeps what its subagents did in a folder beside the record.
fn subagents(transcript: &Path) -> Vec<PathBuf> {
    let folder = transcript.with_extension("").join("subagents");
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect();
    paths.sort();
    paths
}

/// Looks up what a review quotes: in the documents it was sent to, and in the files it names.
pub fn quoted(review: &Review, project: &Path, documents: &[PathBuf]) -> Vec<Vec<Quotation>> {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut add = |name: String, path: &Path| {
        let known = files.iter().any(|(known, _)| *known == name);
        if let Some(text) = file::text(path, MAX_BYTES).filter(|_| !known) {
            files.push((name, text));
        }
    };
    for path in documents {
        let name =
            path.file_name().map_or_else(String::new, |it| it.to_string_lossy().into_owned());
        add(name, path);
    }
    for location in review.issues.iter().filter_map(|issue| issue.location.as_deref()) {
        let named = location.split([':', '#', ' ']).next().unwrap_or_default();
        let path = project.join(named);
        if !named.is_empty() && is_below(project, &path) {
            add(named.to_owned(), &path);
        }
    }
    let sources: Vec<_> = files.iter().map(|(name, text)| Source { name, text }).collect();
    let of = |issue: &convoke_domain::dispatch::review::Issue| {
        quotations(&issue.description, issue.location.as_deref(), &sources)
    };
    review.issues.iter().map(of).collect()
}

/// A review may name any file; only those of the project are looked into.
fn is_below(project: &Path, path: &Path) -> bool {
    let both = path.canonicalize().ok().zip(project.canonicalize().ok());
    both.is_some_and(|(path, project)| path.starts_with(project) && path.is_file())
}
