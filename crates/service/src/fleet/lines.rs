//! The lines of an attempt on their way to the store, and the heartbeat of the attempt.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use convoke_engine::lane::cancel::Cancel;
use convoke_store::Store;
use convoke_store::error::StoreError;
use convoke_store::fleet::{AttemptFence, FenceAnswer};

use super::patience::{LONGEST, patiently};
use crate::clock::Clock;

/// How often lines are written, at most.
const STEP: Duration = Duration::from_millis(200);

/// An attempt says that it is there every so many steps.
const STEPS_OF_A_BEAT: u32 = 5;

/// Whether an attempt may still add to its lane, as far as its worker has heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FenceView {
    /// Nothing says otherwise.
    Current,
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
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

#[derive(Default)]
struct Waiting {
    lines: Vec<String>,
    written: u64,
    is_over: bool,
    is_superseded: bool,
}

impl<'a> AttemptLines<'a> {
    pub(super) fn new(
        store: &'a dyn Store,
        clock: &'a dyn Clock,
        fence: &'a AttemptFence,
        cancel: &'a Cancel,
    ) -> Self {
        let (waiting, changed) = (Mutex::default(), Condvar::new());
        Self { store, clock, fence, cancel, waiting, changed }
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
    /// client must not work, and spend, for an attempt that counts no more.
    pub(super) fn write(&self) {
        let mut steps = 0;
        loop {
            let is_over = self.wait();
            let lines = self.flush(if is_over { LONGEST } else { Duration::ZERO });
            steps = if steps == STEPS_OF_A_BEAT { 0 } else { steps + 1 };
            let beats = steps == 0 && !is_over;
            // A store that is away is no reason to stop a lane: the engine's heartbeat goes on.
            let beat = beats.then(|| self.store.renew_attempt(self.fence, self.clock.now()));
            let is_refused = |answer: Option<Result<FenceAnswer, StoreError>>| {
                matches!(answer, Some(Ok(FenceAnswer::Superseded)))
            };
            if is_refused(lines) || is_refused(beat) {
                self.waiting().is_superseded = true;
                self.cancel.cancel();
                return;
            }
            if is_over {
                return;
            }
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
        if self.waiting().is_superseded { FenceView::Superseded } else { FenceView::Current }
    }
}
