//! The course of a run on a time axis: its lanes, waits and steps, from the events alone.
//!
//! Facts forget what a later event replaced, such as a lane that was started again. A time axis
//! shows all of it.

mod described;

use super::citation::CitedIn;
use super::event::{
    Boundary, Event, LaneEnd, LaneId, Millis, Occasion, QuestionId, Stamped, StopReason,
};
use super::progress::Step;
use super::voting_block::Poll;

pub use self::described::described;

/// An event by its number, and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimelineMoment {
    /// The event's number in the journal, from 1.
    pub event: u64,
    /// When it happened.
    pub at: Millis,
}

/// The end of a lane's bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BarEnd<'e> {
    /// The lane is still open.
    Open,
    /// Convoke or its process stopped while the lane was open.
    CutOff(TimelineMoment),
    /// The lane ended.
    Ended(TimelineMoment, &'e LaneEnd),
}

/// One start of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneBar<'e> {
    /// A lane of the run.
    pub id: &'e LaneId,
    /// When it began.
    pub from: TimelineMoment,
    /// When and how it ended.
    pub end: BarEnd<'e>,
    /// How many starts of the same lane came before.
    pub restarts: usize,
}

impl LaneBar<'_> {
    /// Returns when it ended; nothing for an open lane.
    pub const fn to(&self) -> Option<TimelineMoment> {
        match self.end {
            BarEnd::Open => None,
            BarEnd::CutOff(to) | BarEnd::Ended(to, _) => Some(to),
        }
    }
}

/// Why a run stood still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitReason<'e> {
    /// Convoke asked a person this.
    Question(QuestionId),
    /// Convoke asked a person about a changed working tree.
    Tree(Boundary),
    /// The run was stopped, for this reason.
    Stopped(&'e StopReason),
    /// An agent's limit was reached.
    Parked,
    /// The run's process ended without a word.
    Lost,
}

/// A time in which a run stood still.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait<'e> {
    /// Why.
    pub reason: WaitReason<'e>,
    /// Since when.
    pub from: TimelineMoment,
    /// Until when; nothing if it has not gone on.
    pub to: Option<TimelineMoment>,
}

/// A step's first and last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepSpan {
    /// The step between the two events.
    pub step: Step,
    /// Its first event.
    pub from: TimelineMoment,
    /// Its last event so far.
    pub to: TimelineMoment,
}

/// The course of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Timeline<'e> {
    /// Every start of a lane, in the order of the starts.
    pub bars: Vec<LaneBar<'e>>,
    /// Every wait, in order.
    pub waits: Vec<Wait<'e>>,
    /// Every step with an event, in the order of the steps.
    pub steps: Vec<StepSpan>,
}

impl<'e> Timeline<'e> {
    /// Reads a journal's events, the oldest first.
    pub fn of(events: &'e [Stamped]) -> Self {
        let mut timeline = Self::default();
        let mut before = None;
        // The files that a person's decision changed are written in its step.
        let mut closing = Step::Cleanup;
        let mut now = Millis::MIN;
        for (number, Stamped { at, event }) in (1..).zip(events) {
            // Clocks may be set back; an axis does not go backwards.
            now = now.max(*at);
            let moment = TimelineMoment { event: number, at: now };
            timeline.take(moment, before.unwrap_or(moment), event);
            if matches!(event, Event::Decided(_)) {
                closing = Step::Decisions;
            }
            if let Some(step) = step_of(event, closing) {
                timeline.extend(step, moment);
            }
            before = Some(moment);
        }
        timeline.steps.sort_by_key(|span| span.step);
        timeline
    }

    fn take(&mut self, moment: TimelineMoment, before: TimelineMoment, event: &'e Event) {
        match event {
            Event::LaneStarted(id) => {
                self.end_parking(moment);
                self.cut_off(before, |bar| bar.id == id);
                let restarts = self.bars.iter().filter(|bar| bar.id == id).count();
                self.bars.push(LaneBar { id, from: moment, end: BarEnd::Open, restarts });
            }
            Event::LaneEnded(id, end) => self.end(moment, id, end),
            Event::Replied(id, _) => self.wait(WaitReason::Question(*id), before, moment),
            Event::TreeDecided(boundary, _) => {
                self.wait(WaitReason::Tree(*boundary), before, moment);
            }
            Event::Parked(_) => {
                self.cut_off(moment, |_| true);
                if !self.is_parked() {
                    self.waits.push(Wait { reason: WaitReason::Parked, from: moment, to: None });
                }
            }
            Event::Interrupted(why) => {
                self.end_parking(moment);
                self.cut_off(moment, |_| true);
                let reason = WaitReason::Stopped(why);
                self.waits.push(Wait { reason, from: moment, to: None });
            }
            Event::Resumed => {
                self.cut_off(before, |_| true);
                match self.waits.last_mut().filter(|wait| wait.to.is_none()) {
                    Some(stopped) => stopped.to = Some(moment),
                    None => self.wait(WaitReason::Lost, before, moment),
                }
            }
            Event::Begun(_)
            | Event::SetUp(_)
            | Event::Probed { .. }
            | Event::WordDrawn(..)
            | Event::TreeChecked(..)
            | Event::CitationsChecked(_)
            | Event::CitationsLookedUp(..)
            | Event::BudgetReached(_)
            | Event::Worked { .. }
            | Event::Decided(_)
            | Event::Exported(_)
            | Event::Kept(_) => {}
        }
    }

    /// Ends a lane. A second answer to the same request counts for nothing, as in the facts.
    fn end(&mut self, moment: TimelineMoment, id: &'e LaneId, end: &'e LaneEnd) {
        let ended = BarEnd::Ended(moment, end);
        let open = |bar: &&mut LaneBar<'e>| bar.id == id && bar.end == BarEnd::Open;
        if let Some(bar) = self.bars.iter_mut().rev().find(open) {
            bar.end = ended;
        } else if !self.bars.iter().any(|bar| bar.id == id) {
            let took = Millis::try_from(end.took).unwrap_or(Millis::MAX);
            let from = TimelineMoment { at: moment.at.saturating_sub(took), ..moment };
            self.bars.push(LaneBar { id, from, end: ended, restarts: 0 });
        }
    }

    fn cut_off(&mut self, at: TimelineMoment, is_meant: impl Fn(&LaneBar<'e>) -> bool) {
        let open = self.bars.iter_mut().filter(|bar| bar.end == BarEnd::Open && is_meant(bar));
        for bar in open {
            // An event between its start and the loss is the last that is known of it.
            let at = if at.event < bar.from.event { bar.from } else { at };
            bar.end = BarEnd::CutOff(at);
        }
    }

    fn is_parked(&self) -> bool {
        let last = self.waits.last();
        last.is_some_and(|wait| wait.reason == WaitReason::Parked && wait.to.is_none())
    }

    /// Ends the wait for a limit, if there is one.
    fn end_parking(&mut self, moment: TimelineMoment) {
        if self.is_parked()
            && let Some(wait) = self.waits.last_mut()
        {
            wait.to = Some(moment);
        }
    }

    fn wait(&mut self, reason: WaitReason<'e>, from: TimelineMoment, to: TimelineMoment) {
        self.waits.push(Wait { reason, from, to: Some(to) });
    }

    fn extend(&mut self, step: Step, moment: TimelineMoment) {
        match self.steps.iter_mut().find(|span| span.step == step) {
            Some(span) => span.to = moment,
            None => self.steps.push(StepSpan { step, from: moment, to: moment }),
        }
    }
}

/// Returns the step that an event belongs to; `closing` is that of written files.
const fn step_of(event: &Event, closing: Step) -> Option<Step> {
    match event {
        Event::Begun(_) | Event::SetUp(_) | Event::Probed { occasion: Occasion::SetUp, .. } => {
            Some(Step::Setup)
        }
        Event::Probed { occasion: Occasion::Judges, .. } | Event::WordDrawn(Poll::Judges, _) => {
            Some(Step::Dialectic)
        }
        Event::WordDrawn(Poll::Voters, _) | Event::CitationsChecked(_) => Some(Step::Review),
        Event::CitationsLookedUp(moment, _) => Some(match moment {
            CitedIn::Sketches => Step::Sketches,
            CitedIn::Debates => Step::Dialectic,
            CitedIn::Findings => Step::Review,
            CitedIn::Plan => Step::Cleanup,
            CitedIn::Ruling(_) => Step::Decisions,
        }),
        Event::LaneStarted(id) | Event::LaneEnded(id, _) => Some(id.step()),
        Event::Replied(QuestionId::Interview(round, _), _) => Some(round.step()),
        Event::Replied(QuestionId::Branch, _) => Some(Step::Branch),
        Event::Replied(QuestionId::Tree(boundary), _)
        | Event::TreeChecked(boundary, _)
        | Event::TreeDecided(boundary, _) => Some(match boundary {
            Boundary::Sketches => Step::Sketches,
            Boundary::Debates | Boundary::Judges => Step::Dialectic,
            Boundary::Reviews => Step::Review,
        }),
        Event::Decided(_) => Some(Step::Decisions),
        Event::Exported(_) | Event::Kept(_) => Some(closing),
        Event::Replied(QuestionId::Ground, _)
        | Event::BudgetReached(_)
        | Event::Interrupted(_)
        | Event::Parked(_)
        | Event::Resumed
        | Event::Worked { .. } => None,
    }
}

#[cfg(test)]
mod tests;
