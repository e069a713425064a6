//! Watching the working tree while somebody works in it who may only read.

use convoke_domain::tree::{Reason, Status, Verdict};
use convoke_engine::git::snapshot::Snapshot;
use convoke_engine::lane::adapter::Rights;
use serde::Serialize;

use crate::app::App;
use crate::interrupt;

/// The working tree as it was before a lane, or several at once.
pub(in crate::cli) enum TreeWatch {
    /// There is nothing to watch for: the agent may write, or nobody wants to know.
    Off,
    /// It cannot be watched.
    Blind(Reason),
    /// This is how it was.
    Began(Box<Snapshot>),
}

impl TreeWatch {
    /// Looks at the project's working tree, if nobody may change it.
    pub(in crate::cli) fn begin(app: &App, rights: Rights) -> Self {
        match rights {
            Rights::Write => Self::Off,
            Rights::ReadOnly => match looked(app) {
                Ok(snapshot) => Self::Began(Box::new(snapshot)),
                Err(reason) => Self::Blind(reason),
            },
        }
    }

    /// Says what became of it; `None` if nobody wants to know.
    pub(in crate::cli) fn end(&self) -> Option<Verdict> {
        match self {
            Self::Off => None,
            Self::Blind(reason) => Some(Verdict::unknown(*reason)),
            Self::Began(snapshot) => Some(snapshot.compare()),
        }
    }
}

/// Looks at the tree. Who is asked to stop meanwhile must not leave behind what git stored for it.
fn looked(app: &App) -> Result<Snapshot, Reason> {
    interrupt::cancel();
    Snapshot::take(&app.project)
}

#[derive(Serialize)]
pub(super) struct TreeReport<'a> {
    status: &'static str,
    reason: Option<&'static str>,
    paths: &'a [String],
}

impl<'a> TreeReport<'a> {
    pub(super) fn new(verdict: &'a Verdict) -> Self {
        Self {
            status: verdict.status.name(),
            reason: verdict.reason.map(Reason::name),
            paths: &verdict.paths,
        }
    }
}

/// Tells whether somebody who could only read left something.
pub(super) fn is_dirty(verdict: Option<&Verdict>) -> bool {
    verdict.is_some_and(|verdict| verdict.status == Status::Dirty)
}
