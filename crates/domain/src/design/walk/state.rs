//! The state of a walk: the phase, the time, the available agents, and the phases' results.

use super::seconds;
use crate::design::event::{LaneId, Millis, Settings};
use crate::design::outline::PhaseResults;
use crate::design::progress::Step;
use crate::design::seat::{Available, Holder};

/// The state of a walk. Cheap to copy: long texts are shared.
#[derive(Debug, Clone)]
pub(super) struct WalkState {
    /// The place of the present phase in the table.
    pub(super) place: usize,
    /// The time of the last fact that was used.
    pub(super) now: Millis,
    /// The step, and when it began.
    pub(super) step: (Step, Millis),
    /// Every lane of this step so far.
    pub(super) asked: Vec<LaneId>,
    pub(super) roster: Roster,
    /// The available agents before any decision of a person.
    pub(super) before_rulings: Option<Available>,
    /// Whether a process of its own does what comes now; then nothing is shown.
    pub(super) is_heavy: bool,
    pub(super) results: PhaseResults,
}

impl WalkState {
    /// The state of a design that has only been requested.
    pub(super) fn new(begun: Millis, settings: &Settings) -> Self {
        Self {
            place: 0,
            now: begun,
            step: (Step::Setup, begun),
            asked: Vec::new(),
            roster: Roster::FULL,
            before_rulings: None,
            is_heavy: false,
            results: PhaseResults::new(settings),
        }
    }

    /// Takes notice of a time. Clocks may be set back; a design does not go backwards.
    pub(super) fn at(&mut self, at: Millis) {
        self.now = self.now.max(at);
    }

    /// Returns how many seconds the step has taken.
    pub(super) fn elapsed(&self) -> u64 {
        seconds(self.now - self.step.1)
    }
}

/// The available agents. An agent that failed gets no further request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Roster {
    /// Which of the two agents are available.
    pub(super) available: Available,
    /// Whether the host failed.
    pub(super) is_host_lost: bool,
    /// Whether it failed as the chair.
    pub(super) is_chair_lost: bool,
}

impl Roster {
    /// No agent has failed.
    pub(super) const FULL: Self = Self {
        available: Available { first: true, second: true },
        is_host_lost: false,
        is_chair_lost: false,
    };

    /// Gives every agent another chance; of the two, those that were found at the beginning.
    pub(super) fn revive(&mut self, found: Option<Available>) {
        let available = found.unwrap_or(self.available);
        *self = Self { available, ..Self::FULL };
    }

    /// Does not ask an agent again that failed.
    pub(super) const fn lose(&mut self, holder: Holder) {
        match holder {
            Holder::First => self.available.first = false,
            Holder::Second => self.available.second = false,
            Holder::Host => self.is_host_lost = true,
        }
    }

    /// Returns the candidates for the chair, in order. A host that failed at another task comes
    /// last.
    pub(super) fn chairs(self) -> Vec<Holder> {
        let mut order = [Holder::Host, Holder::First, Holder::Second];
        order.rotate_left(usize::from(self.is_host_lost));
        let is_there = |holder: &Holder| {
            self.available.has(*holder) && !(*holder == Holder::Host && self.is_chair_lost)
        };
        order.into_iter().filter(is_there).collect()
    }
}
