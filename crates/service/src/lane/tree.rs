//! Watching the working tree while a read-only agent runs in it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use convoke_domain::dispatch::history;
use convoke_domain::tree::kept::KeptTree;
use convoke_domain::tree::{DirtyReason, TreeStatus, TreeVerdict};
use convoke_engine::client::Rights;
use convoke_engine::dispatch::next::STATE_FILE;
use convoke_engine::git::snapshot::Snapshot;
use convoke_engine::lane::cancel::Cancel;
use serde::Serialize;

use crate::observer::Reporter;
use crate::session::Session;

/// How long a snapshot may take before Convoke reports it.
const QUIET: Duration = Duration::from_secs(1);

/// The least time limit of a snapshot, for any limit of a lane.
const LEAST: Duration = Duration::from_secs(10);

/// The working tree as it was before one lane, or several parallel ones.
pub enum TreeWatch {
    /// There is nothing to watch for: the agent may write, or the check is switched off.
    Off,
    /// It cannot be watched.
    Blind(DirtyReason),
    /// This is how it was.
    Began(Box<Snapshot>),
}

/// The settings for snapshots of the tree.
pub struct TreeLook<'a> {
    /// The session whose project it is.
    pub session: &'a Session,
    /// The reporter of a slow snapshot.
    pub reporter: &'a Reporter,
    /// The time limit of each lane, and of each snapshot.
    pub limit: Duration,
}

impl TreeWatch {
    /// Takes a snapshot of the project's working tree if the agent is read-only. An interruption
    /// stops it immediately.
    pub fn begin(rights: Rights, look: &TreeLook<'_>) -> Self {
        if rights == Rights::Write {
            return Self::Off;
        }
        let Session { project, environment, .. } = look.session;
        let cancel = look.session.cancel().child();
        let convoke = environment.program();
        let taken = look.limited(&cancel, || Snapshot::take(project, &convoke, &cancel));
        match taken {
            (Ok(snapshot), _) => Self::Began(Box::new(snapshot)),
            // A user who stops the snapshot stops the lane, too, so no agent will have worked.
            (Err(DirtyReason::LookStopped), LookEnd::InTime) => Self::Off,
            (Err(reason), end) => Self::Blind(named(reason, end)),
        }
    }

    /// Returns what another process can compare with a snapshot of its own.
    pub fn kept(&self) -> Option<KeptTree> {
        match self {
            Self::Off | Self::Blind(_) => None,
            Self::Began(snapshot) => Some(snapshot.kept()),
        }
    }

    /// Returns the verdict on the tree; `None` if the check is switched off. A stopped lane is checked,
    /// too, unless the user interrupts again.
    pub fn end(&self, look: &TreeLook<'_>) -> Option<TreeVerdict> {
        let snapshot = match self {
            Self::Off => return None,
            Self::Blind(reason) => return Some(TreeVerdict::unknown(*reason)),
            Self::Began(snapshot) => snapshot,
        };
        let asked = look.session.cancel();
        let cancel =
            if asked.is_cancelled() { look.session.interruption.urgent() } else { asked }.child();
        let (mut verdict, end) = look.limited(&cancel, || snapshot.compare(&cancel));
        verdict.reason = verdict.reason.map(|reason| named(reason, end));
        Some(verdict)
    }
}

/// Whether a snapshot kept to its time limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LookEnd {
    InTime,
    TooLate,
}

/// Tells what stopped a snapshot: the user, or its time limit.
const fn named(reason: DirtyReason, end: LookEnd) -> DirtyReason {
    match (reason, end) {
        (DirtyReason::LookStopped, LookEnd::TooLate) => DirtyReason::LookTimedOut,
        (reason, LookEnd::InTime | LookEnd::TooLate) => reason,
    }
}

impl TreeLook<'_> {
    /// Runs `work` until its limit, reports a long wait, and tells whether the limit was exceeded.
    fn limited<T>(&self, cancel: &Cancel, work: impl FnOnce() -> T) -> (T, LookEnd) {
        let is_late = AtomicBool::new(false);
        let late = &is_late;
        let found = thread::scope(|threads| {
            let (doing, done) = channel::<()>();
            threads.spawn(move || {
                if is_waited(&done, QUIET) {
                    self.reporter.note("taking a snapshot of the working tree…");
                }
                if is_waited(&done, self.limit.max(LEAST).saturating_sub(QUIET)) {
                    late.store(true, Ordering::SeqCst);
                    cancel.cancel();
                }
            });
            let found = work();
            drop(doing);
            found
        });
        let end = if is_late.into_inner() { LookEnd::TooLate } else { LookEnd::InTime };
        (found, end)
    }
}

/// Waits, and tells whether the time ran out.
fn is_waited(done: &Receiver<()>, most: Duration) -> bool {
    done.recv_timeout(most) == Err(RecvTimeoutError::Timeout)
}

/// Whether the working tree changed, as reports show it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeReport {
    /// `clean`, `dirty` or `unknown`.
    pub status: &'static str,
    /// Why it is unknown.
    pub reason: Option<&'static str>,
    /// The changed paths.
    pub paths: Vec<String>,
}

impl TreeReport {
    /// Reports a verdict.
    pub fn new(verdict: &TreeVerdict) -> Self {
        Self {
            status: verdict.status.name(),
            reason: verdict.reason.map(DirtyReason::name),
            paths: verdict.paths.clone(),
        }
    }
}

/// Returns a verdict without the files of Convoke's own records; nothing if only those changed.
pub(crate) fn changes_by_others(mut verdict: TreeVerdict) -> Option<TreeVerdict> {
    let ours = [STATE_FILE, history::FILE];
    let is_known = !verdict.paths.is_empty();
    verdict.paths.retain(|path| !ours.iter().any(|name| path.ends_with(name)));
    (!is_known || !verdict.paths.is_empty()).then_some(verdict)
}

/// Tells whether a read-only agent left changes behind.
pub(super) fn is_dirty(verdict: Option<&TreeVerdict>) -> bool {
    verdict.is_some_and(|verdict| verdict.status == TreeStatus::Dirty)
}
