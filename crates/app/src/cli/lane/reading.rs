//! Files that an agent is sent to read before it answers, and what proves that it did.

use std::path::{Path, PathBuf};

use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::hook::Client;
use convoke_domain::receipt::demand::{can_be_named, with_reading};
use convoke_engine::dispatch::evidence::{Demand, Record, evidence};
use convoke_engine::file;
use convoke_engine::lane::adapter::Agent;
use convoke_engine::lane::agent_ref::AgentRef;

use super::LaneError;
use crate::app::App;
use crate::cli::dispatch::proof::ReceiptReport;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::with_causes;

/// The files that are to be read.
pub(super) struct Reading {
    demands: Vec<Demand>,
}

/// What is known of the reading when there is an answer.
pub(super) struct Proof {
    /// One for each file; none if nobody can tell.
    pub(super) receipts: Option<Vec<ReceiptReport>>,
    /// Files that are known not to have been read before the answer.
    pub(super) unproven: Vec<String>,
    /// Why nobody can tell.
    unknown: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum NotReadable {
    #[error("cannot have `{}` read: there is no such file", path.display())]
    Absent { path: PathBuf },
    #[error("cannot have `{}` read: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
    #[error("cannot name {path:?} in a prompt: it does not fit on a line of text")]
    Unnameable { path: PathBuf },
}

impl Reading {
    /// Looks whether there is everything to read, and somebody who can.
    pub(super) fn find(paths: &[PathBuf], agent: &AgentRef) -> Result<Self, Failure> {
        if let (AgentRef::Http(_), [_, ..]) = (agent, paths) {
            let what = "files to read: it has no tools";
            let error = LaneError::Unable { agent: agent.clone(), what };
            return Err(Failure::new(Exit::Usage, error)
                .hint("leave out `--read`, and put what matters into the prompt"));
        }
        let mut demands: Vec<Demand> = Vec::new();
        for path in paths {
            let demand = demand(path)?;
            if demands.iter().all(|it| !is_same(it, &demand)) {
                demands.push(demand);
            }
        }
        Ok(Self { demands })
    }

    /// Adds to a prompt what is to be read.
    pub(super) fn prompt(&self, prompt: &str) -> String {
        let paths: Vec<_> = self.demands.iter().map(|it| it.path.clone()).collect();
        with_reading(prompt, &paths)
    }

    /// Judges by what the client printed, and by its own record of that session; `None` if nothing
    /// was to be read.
    pub(super) fn proof(&self, agent: &AgentRef, scratch: &Path, app: &App) -> Option<Proof> {
        if self.demands.is_empty() {
            return None;
        }
        let unknown = |why: String| Proof {
            receipts: None,
            unproven: Vec::new(),
            unknown: Some(format!("note: what {agent} read cannot be told: {why}")),
        };
        let Some(client) = agent.client().map(Agent::name).and_then(Client::parse) else {
            return Some(unknown("it leaves no record that convoke understands".to_owned()));
        };
        let (path, homes) = (scratch.join("stdout"), app.environment.client_homes());
        let project = app.project.as_path();
        let record = Record { client, path: &path, project, homes: &homes, answer: None };
        Some(match evidence(&record, &self.demands) {
            Ok(found) => Proof {
                unproven: found.unproven(),
                receipts: Some(found.receipts.iter().map(ReceiptReport::new).collect()),
                unknown: None,
            },
            Err(error) => unknown(with_causes(&error)),
        })
    }
}

impl Proof {
    /// Says what was read.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        let receipts = self.receipts.iter().flatten().map(|it| format!("read {}", it.line()));
        let unproven = (!self.unproven.is_empty())
            .then(|| format!("warning: not read before the answer: {}", self.unproven.join(", ")));
        self.unknown.clone().into_iter().chain(receipts).chain(unproven)
    }
}

fn demand(path: &Path) -> Result<Demand, Failure> {
    let owned = || path.to_owned();
    let absolute = std::path::absolute(path).unwrap_or_else(|_| owned());
    let named = absolute.to_str().filter(|path| can_be_named(path));
    let error = match (named, file::open_regular(&absolute)) {
        (Some(named), Some(_)) => {
            let name = path.display().to_string();
            return Ok(Demand { name, path: named.to_owned() });
        }
        (None, Some(_)) => NotReadable::Unnameable { path: owned() },
        // Only what cannot be opened is asked why.
        (_, None) => match file::read(&absolute, 0) {
            FileFinding::Unreadable(Unreadable::TooLarge) => {
                let reason = Unreadable::PermissionDenied;
                NotReadable::Unreadable { path: owned(), reason }
            }
            FileFinding::Unreadable(reason) => NotReadable::Unreadable { path: owned(), reason },
            FileFinding::Absent | FileFinding::Text(_) => NotReadable::Absent { path: owned() },
        },
    };
    Err(Failure::new(Exit::Surroundings, error))
}

fn is_same(one: &Demand, other: &Demand) -> bool {
    let real = |it: &Demand| Path::new(&it.path).canonicalize().unwrap_or_default();
    one.path == other.path || real(one) == real(other)
}
