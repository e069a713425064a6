//! The phases of a design, in their order. A new phase is a file with a function, and a line here.

use super::state::WalkState;
use super::{
    DesignEnding, Halt, Next, Walk, Walked, cleanup, debates, diagram, heavy, interview, plan,
    review, rulings, setup, sketches,
};
use crate::design::notice::LogMark;

/// A phase: a function over the facts that leaves its result with the others.
type Phase = fn(&mut Walk<'_>) -> Walked<Passage>;

/// The next phase after a completed one.
pub(super) enum Passage {
    /// To the next phase.
    On,
    /// Through the same phase again, for the next of several items.
    Again,
}

/// Every phase, in order. The last one ends the design.
const PHASES: [Phase; 13] = [
    setup::set_up,
    setup::branch,
    interview::scope_interview,
    sketches::sketches,
    debates::dialectic,
    plan::plan,
    review::review,
    heavy::end_before_interview,
    interview::design_interview,
    diagram::diagram,
    cleanup::rejected,
    cleanup::clean_up,
    rulings::rulings,
];

/// Walks from the present phase as far as the facts go. It calls `settle` after every completed
/// phase, with the state that the next one begins in.
pub(super) fn go(walk: &mut Walk<'_>, settle: &mut dyn FnMut(&WalkState, LogMark)) -> Next {
    let halt = loop {
        let Some(phase) = PHASES.get(walk.state.place) else {
            break Halt::End(walk.complete());
        };
        match phase(walk) {
            Ok(Passage::On) => walk.state.place += 1,
            Ok(Passage::Again) => {}
            Err(halt) => break halt,
        }
        settle(&walk.state, walk.log.mark());
    };
    match halt {
        Halt::End(ending) => Next::End(ending),
        Halt::Need(need) => match walk.facts.worker_failure().filter(|_| walk.state.is_heavy) {
            Some(why) => Next::End(DesignEnding::HeavyFailed(why.clone())),
            None => Next::Need(need),
        },
    }
}

impl Walk<'_> {
    /// Returns the ending of a design that came through all phases.
    pub(super) fn complete(&self) -> DesignEnding {
        DesignEnding::Complete { degraded: self.log.warnings.clone() }
    }
}
