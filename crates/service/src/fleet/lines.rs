//! The lines of an attempt on their way to the store, and the heartbeat of the attempt.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_engine::lane::cancel::Cancel;
use convoke_store::Store;
use convoke_store::error::StoreError;
use convoke_store::fleet::{AttemptFence, FenceAnswer, RenewAnswer};
use jiff::SignedDuration;

use super::patience::{LONGEST, patiently};
use super::submitter_watch::SubmitterWatch;
use crate::clock::Clock;

/// How often lines are written, at most.
const STEP: Duration = Duration::from_millis(200);

/// An attempt says that it is there every so many steps.
const STEPS_OF_A_BEAT: u32 = 5;

/// Whether an attempt may still add to its lane, as far as its worker has heard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum FenceView {
    /// Nothing says otherwise.
    #[default]
    Current,
    /// It may, and its submitter is gone: what it would answer is for no reader.
    Abandoned,
    /// The store refused it.
    Superseded,
}

/// The lines of one attempt. The lane adds, a thread of its own writes.
pub(super) struct AttemptLines<'a> {
    pub(super) store: &'a dyn Store,
    pub(super) clock: &'a dyn Clock,
    pub(super) fence: &'a AttemptFence,
    /// Stops the lane.
    pub(super) cancel: &'a Cancel,
    /// How long the submitter may be silent; `None` if another one can find the lane by its name.
    patience: Option<SignedDuration>,
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    lines: Vec<String>,
    written: u64,
    is_over: bool,
    view: FenceView,
}

impl<'a> AttemptLines<'a> {
    pub(super) fn new(
        store: &'a dyn Store,
        clock: &'a dyn Clock,
        fence: &'a AttemptFence,
        cancel: &'a Cancel,
        patience: Option<SignedDuration>,
    ) -> Self {
        let (waiting, changed) = (Mutex::default(), Condvar::new());
        Self { store, clock, fence, cancel, patience, waiting, changed }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a line.
    pub(super) fn add(&self, line: String) {
        self.waiting().lines.push(line);
    }

    /// Ends the thread that writes, after its last lines.
    pub(super) fn finish(&self) {
        self.waiting().is_over = true;
        self.changed.notify_all();
    }

    /// Writes lines and beats until the lane is over. The first refusal of the store stops the lane: its
    /// client must not work, and spend, for an attempt that counts no more. Nor must it for a submitter
    /// that is gone.
    pub(super) fn write(&self) {
        let mut steps = 0;
        let mut submitter = self.patience.map(SubmitterWatch::new);
        loop {
            let is_over = self.wait();
            let lines = self.flush(if is_over { LONGEST } else { Duration::ZERO });
            steps = if steps == STEPS_OF_A_BEAT { 0 } else { steps + 1 };
            let beats = steps == 0 && !is_over;
            let beat = if beats { self.beat(submitter.as_mut()) } else { FenceView::Current };
            let is_refused = matches!(lines, Some(Ok(FenceAnswer::Superseded)));
            let view = if is_refused { FenceView::Superseded } else { beat };
            if view != FenceView::Current {
                self.waiting().view = view;
                self.cancel.cancel();
                submitter = None;
            }
            // The lines of a lane that is stopped for its submitter's sake tell what it spent.
            if is_over || view == FenceView::Superseded {
                return;
            }
        }
    }

    /// Says that the worker is there, and hears whether the lane goes on.
    fn beat(&self, submitter: Option<&mut SubmitterWatch>) -> FenceView {
        match self.store.renew_attempt(self.fence, self.clock.now()) {
            Ok(RenewAnswer::Superseded) => FenceView::Superseded,
            Ok(RenewAnswer::Current { now, watched_at })
                if submitter.is_some_and(|submitter| submitter.is_gone(now, watched_at)) =>
            {
                FenceView::Abandoned
            }
            // A store that is away is no reason to stop a lane: the engine's heartbeat goes on.
            Ok(RenewAnswer::Current { .. }) | Err(_) => FenceView::Current,
        }
    }

    /// Waits for a step or the end, and tells whether it is the end.
    fn wait(&self) -> bool {
        let waiting = self.waiting();
        let goes_on = |waiting: &mut Waiting| !waiting.is_over;
        let waited = self.changed.wait_timeout_while(waiting, STEP, goes_on);
        waited.map_or(true, |(waiting, _)| waiting.is_over)
    }

    /// Writes what there is, and tries for so long. Lines that cannot be written then are written with the
    /// next ones.
    fn flush(&self, longest: Duration) -> Option<Result<FenceAnswer, StoreError>> {
        let (lines, written) = {
            let waiting = self.waiting();
            (waiting.lines.clone(), waiting.written)
        };
        if lines.is_empty() {
            return None;
        }
        let append = || self.store.append_fleet_events(self.fence, written + 1, &lines);
        let answer = patiently(longest, self.cancel, append);
        if let Ok(FenceAnswer::Current) = answer {
            let mut waiting = self.waiting();
            waiting.lines.drain(..lines.len());
            waiting.written += lines.len() as u64;
        }
        Some(answer)
    }

    /// Returns what the store said last.
    pub(super) fn view(&self) -> FenceView {
        self.waiting().view
    }
}
