//! Files that an agent is sent to read before it answers, and what proves that it did.

use std::path::{Path, PathBuf};

use convoke_domain::client::Client;
use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::receipt::demand::{can_be_named, with_reading};
use convoke_engine::client::adapter;
use convoke_engine::dispatch::evidence::{DemandedFile, EvidenceSource, evidence};
use convoke_engine::file;
use convoke_engine::lane::agent_ref::AgentRef;

use super::LaneError;
use crate::failure::with_causes;
use crate::failure::{ErrorClass, Failure};
use crate::observer::Progress;
use crate::receipt::ReceiptReport;
use crate::session::Session;

/// The files that the agent must read.
pub(super) struct Reading {
    demands: Vec<DemandedFile>,
}

/// The evidence of reading, after an answer.
#[derive(Debug)]
pub struct ReadingReport {
    /// One for each file; `None` if the transcript does not show the reading.
    pub receipts: Option<Vec<ReceiptReport>>,
    /// Files that are known not to have been read before the answer.
    pub unproven: Vec<String>,
    /// Why the transcript does not show the reading.
    unknown: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum NotReadable {
    #[error("cannot require `{}`: no such file", path.display())]
    Absent { path: PathBuf },
    #[error("cannot require `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
    #[error("cannot name {path:?} in a prompt: it is not one line of text")]
    Unnameable { path: PathBuf },
}

impl Reading {
    /// Checks that every file exists and that the agent can read files.
    pub(super) fn find(paths: &[PathBuf], agent: &AgentRef) -> Result<Self, Failure> {
        if let (AgentRef::Http(_), [_, ..]) = (agent, paths) {
            let what = "files to read: it has no tools";
            let error = LaneError::Unable { agent: agent.clone(), what };
            return Err(Failure::new(ErrorClass::Usage, error)
                .hint("leave out `--read`, and put what matters into the prompt"));
        }
        let mut demands: Vec<DemandedFile> = Vec::new();
        for path in paths {
            let demand = demand(path)?;
            if demands.iter().all(|other| !is_same(other, &demand)) {
                demands.push(demand);
            }
        }
        Ok(Self { demands })
    }

    /// Adds the required reading to a prompt.
    pub(super) fn prompt(&self, prompt: &str) -> String {
        let paths: Vec<_> = self.demands.iter().map(|demand| demand.path.clone()).collect();
        with_reading(prompt, &paths)
    }

    /// Judges by the client's printed events, and by its own record of that session; `None` without
    /// required reading.
    pub(super) fn proof(
        &self,
        agent: &AgentRef,
        scratch: &Path,
        session: &Session,
    ) -> Option<ReadingReport> {
        if self.demands.is_empty() {
            return None;
        }
        let unknown = |why: String| ReadingReport {
            receipts: None,
            unproven: Vec::new(),
            unknown: Some(format!("Convoke cannot tell what {agent} read: {why}")),
        };
        let has_transcript = |client: &Client| adapter(*client).transcript.is_some();
        let Some(client) = agent.speaker().filter(has_transcript) else {
            return Some(unknown("it leaves no transcript that Convoke can read".to_owned()));
        };
        let (path, homes) = (scratch.join("stdout"), session.environment.client_homes());
        let project = session.project.as_path();
        let record = EvidenceSource { client, path: &path, project, homes: &homes, answer: None };
        Some(match evidence(&record, &self.demands) {
            Ok(found) => ReadingReport {
                unproven: found.unproven(),
                receipts: Some(found.receipts.iter().map(ReceiptReport::new).collect()),
                unknown: None,
            },
            Err(error) => unknown(with_causes(&error)),
        })
    }
}

impl ReadingReport {
    /// Reports which files the agent read.
    pub fn messages(&self) -> impl Iterator<Item = Progress> {
        let unknown = self.unknown.iter().map(|why| Progress::Aside(why.clone()));
        let receipts = self.receipts.iter().flatten();
        let receipts = receipts.map(|receipt| Progress::Note(format!("read {}", receipt.line())));
        let unproven = (!self.unproven.is_empty()).then(|| {
            let files = self.unproven.join(", ");
            Progress::Warning(format!("not read before the answer: {files}"))
        });
        unknown.chain(receipts).chain(unproven)
    }
}

fn demand(path: &Path) -> Result<DemandedFile, Failure> {
    let owned = || path.to_owned();
    let absolute = std::path::absolute(path).unwrap_or_else(|_| owned());
    let named = absolute.to_str().filter(|path| can_be_named(path));
    let error = match (named, file::open_regular(&absolute)) {
        (Some(named), Some(_)) => {
            let name = path.display().to_string();
            return Ok(DemandedFile { name, path: named.to_owned() });
        }
        (None, Some(_)) => NotReadable::Unnameable { path: owned() },
        // Only a file that cannot be opened is read again for the reason.
        (_, None) => match file::read(&absolute, 0) {
            FileFinding::Unreadable(Unreadable::TooLarge) => {
                let reason = Unreadable::PermissionDenied;
                NotReadable::Unreadable { path: owned(), reason }
            }
            FileFinding::Unreadable(reason) => NotReadable::Unreadable { path: owned(), reason },
            FileFinding::Absent | FileFinding::Text(_) => NotReadable::Absent { path: owned() },
        },
    };
    Err(Failure::new(ErrorClass::Prerequisite, error))
}

fn is_same(one: &DemandedFile, other: &DemandedFile) -> bool {
    let real = |demand: &DemandedFile| Path::new(&demand.path).canonicalize().unwrap_or_default();
    one.path == other.path || real(one) == real(other)
}
