//! A walk that continues with every event, and one from the first event.

use super::phases::go;
use super::state::WalkState;
use super::{DesignEnding, FailedStep, Next, Walk};
use crate::design::event::{Event, Settings, Stamped};
use crate::design::facts::{EarlierNotices, Facts};
use crate::design::heavy::WorkerResult;
use crate::design::notice::{DesignNote, LogMark, Notice, NoticeLog};
use crate::design::outline::{DesignOutline, PhaseResults};
use crate::design::progress::Step;
use crate::design::seat::Available;

/// A design in progress. It takes in events and derives the present state; a new event repeats only
/// the phase that waited for it, so that the cost of a run grows with its events.
#[derive(Debug, Clone, Default)]
pub struct DesignWalk {
    facts: Facts,
    /// The walk as far as phases are done, and where its notices ended then.
    settled: Option<(WalkState, LogMark)>,
    /// The walk as far as the facts go.
    present: Option<Present>,
    log: NoticeLog,
}

#[derive(Debug, Clone)]
struct Present {
    state: WalkState,
    next: Next,
}

impl DesignWalk {
    /// Takes in events, the oldest first.
    pub fn fold(events: impl IntoIterator<Item = Stamped>) -> Self {
        let mut design = Self::default();
        for event in events {
            design.take(event);
        }
        design
    }

    /// Takes in an event. A second answer to the same request changes nothing.
    pub fn take(&mut self, stamped: Stamped) {
        let is_failed_worker =
            matches!(&stamped.event, Event::Worked { worked: WorkerResult::Failed(_), .. });
        // A worker shows nothing itself; its warnings appear with its failure.
        let warnings = is_failed_worker.then(|| {
            self.advance();
            self.log.warnings.clone()
        });
        let is_resumed = stamped.event == Event::Resumed;
        // Phases that are already done may use such an event.
        if matches!(stamped.event, Event::Begun(_) | Event::Worked { .. } | Event::WordDrawn(..)) {
            self.settled = None;
        }
        self.facts.take(stamped);
        if let Some(warnings) = warnings {
            self.facts.keep_warnings_of_worker(warnings);
        }
        self.present = None;
        if is_resumed {
            self.resume();
        }
    }

    /// Repeats the lanes without a usable answer, if the design ended for that reason.
    fn resume(&mut self) {
        self.advance();
        let Some(Present { next: Next::End(DesignEnding::Failed(failed)), .. }) = &self.present
        else {
            return;
        };
        let failed = failed.clone();
        let EarlierNotices { mut notices, repeated } = self.facts.forget(&failed);
        let repeated = repeated.min(self.log.shown.len());
        notices.extend(self.log.shown.drain(repeated..));
        notices.push(Notice::Note(DesignNote::AsksAgain { why: failed.why.clone() }));
        (self.settled, self.present) = (None, None);
        self.advance();
        self.facts.begin_again(EarlierNotices { notices, repeated: self.log.shown.len() });
    }

    /// Walks as far as the facts go.
    fn advance(&mut self) {
        if self.present.is_some() {
            return;
        }
        let Some((begun, settings)) = self.facts.settings() else { return };
        let (state, mark) = self
            .settled
            .take()
            .unwrap_or_else(|| (WalkState::new(begun, settings), LogMark::default()));
        self.log.rewind(mark);
        let log = std::mem::take(&mut self.log);
        let settled = &mut self.settled;
        *settled = Some((state.clone(), mark));
        let mut walk = Walk { facts: &self.facts, settings, state, log };
        let next = go(&mut walk, &mut |state, mark| *settled = Some((state.clone(), mark)));
        self.log = walk.log;
        self.present = Some(Present { state: walk.state, next });
    }

    /// Returns the facts so far.
    pub const fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the facts, for callers that need nothing else.
    pub fn into_facts(self) -> Facts {
        self.facts
    }

    /// Returns the next need, or how the design ended.
    pub fn upcoming(&mut self) -> Next {
        self.advance();
        self.present.as_ref().map_or_else(never_begun, |present| present.next.clone())
    }

    /// Tells whether the design is in the part that a process of its own does.
    pub fn is_heavy(&mut self) -> bool {
        self.advance();
        self.present.as_ref().is_some_and(|present| present.state.is_heavy)
    }

    /// Returns the number of notices so far.
    pub fn notice_count(&mut self) -> usize {
        self.advance();
        told(&self.facts, &self.log).count()
    }

    /// Returns the notices after the first so many.
    pub fn notices_after(&mut self, count: usize) -> Vec<Notice> {
        self.advance();
        told_after(&self.facts, &self.log, count).cloned().collect()
    }

    /// Returns the result of each phase.
    pub fn results(&mut self) -> Option<&PhaseResults> {
        self.advance();
        self.present.as_ref().map(|present| &present.state.results)
    }

    /// Returns the present state of the design.
    pub fn outline(&mut self) -> DesignOutline {
        self.advance();
        match (&self.present, self.facts.settings()) {
            (Some(Present { state, next }), Some((_, settings))) => {
                outlined(&self.facts, settings, state, &self.log, next.clone())
            }
            _ => nothing(),
        }
    }
}

impl From<Facts> for DesignWalk {
    /// Goes on from facts that were folded before.
    fn from(facts: Facts) -> Self {
        Self { facts, ..Self::default() }
    }
}

/// Walks from the first event as far as the facts go.
pub fn walk(facts: &Facts) -> DesignOutline {
    let Some((begun, settings)) = facts.settings() else { return nothing() };
    let state = WalkState::new(begun, settings);
    let mut walk = Walk { facts, settings, state, log: NoticeLog::default() };
    let next = go(&mut walk, &mut |_, _| {});
    let Walk { state, log, .. } = walk;
    outlined(facts, settings, &state, &log, next)
}

fn outlined(
    facts: &Facts,
    settings: &Settings,
    state: &WalkState,
    log: &NoticeLog,
    next: Next,
) -> DesignOutline {
    let results = state.results.clone();
    DesignOutline {
        settings: Some(settings.clone()),
        notices: told(facts, log).cloned().collect(),
        warnings: log.warnings.clone(),
        available: state.roster.available,
        matters: results.matters(facts.rulings()),
        is_heavy: state.is_heavy,
        results,
        next,
    }
}

/// The outline of events without a beginning.
fn nothing() -> DesignOutline {
    DesignOutline {
        settings: None,
        notices: Vec::new(),
        warnings: Vec::new(),
        available: Available { first: true, second: true },
        matters: Vec::new(),
        is_heavy: false,
        results: PhaseResults::default(),
        next: never_begun(),
    }
}

fn never_begun() -> Next {
    let why = "it was never begun".to_owned();
    Next::End(DesignEnding::Failed(FailedStep { why, step: Step::Setup, lanes: Vec::new() }))
}

/// Returns all shown notices. Those from before a repeated step stay.
fn told<'a>(facts: &'a Facts, log: &'a NoticeLog) -> impl Iterator<Item = &'a Notice> {
    told_after(facts, log, 0)
}

/// The same without the first notices, which it does not visit.
fn told_after<'a>(
    facts: &'a Facts,
    log: &'a NoticeLog,
    count: usize,
) -> impl Iterator<Item = &'a Notice> {
    let (earlier, repeated): (&[Notice], _) = match facts.earlier() {
        Some(EarlierNotices { notices, repeated }) => (notices, *repeated),
        None => (&[], 0),
    };
    let anew = repeated + count.saturating_sub(earlier.len());
    let earlier = earlier.get(count..).unwrap_or_default();
    earlier.iter().chain(log.shown.get(anew..).unwrap_or_default())
}
