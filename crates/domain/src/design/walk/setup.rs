//! Steps 0 and 1: the available agents, and the branch.

use super::phases::Passage;
use super::{DesignEnding, Halt, Need, Walk, Walked};
use crate::design::event::{Health, Occasion};
use crate::design::notice::{DesignNote, Notice};
use crate::design::progress::Step;
use crate::design::setup::{Begins, Ready, SetUp};
use crate::design::warning::DesignWarning;

pub(super) fn set_up(walk: &mut Walk<'_>) -> Walked<Passage> {
    walk.begin(Step::Setup);
    let Some((at, set_up)) = walk.facts.set_up() else { return Err(Halt::Need(Need::SetUp)) };
    walk.state.at(at);
    match set_up {
        SetUp::Refused(refusal) => {
            walk.note_set_up(&refusal.lines);
            return Err(Halt::End(DesignEnding::Refused(refusal.code)));
        }
        SetUp::Ready(ready) => walk.note_set_up(&ready.setup_lines),
        // A person has not decided yet where it begins.
        SetUp::Undecided { .. } => return Err(Halt::Need(Need::SetUp)),
    }
    if walk.settings.is_rehearsal {
        walk.note(DesignNote::Rehearsal);
    }
    let Health { available, warnings } = walk.probe(Occasion::SetUp)?;
    walk.state.roster.available = *available;
    for warning in warnings {
        walk.warn(DesignWarning::Unavailable(warning.clone()));
    }
    Ok(Passage::On)
}

pub(super) fn branch(walk: &mut Walk<'_>) -> Walked<Passage> {
    let Some((_, SetUp::Ready(Ready { begins, branch_lines, .. }))) = walk.facts.set_up() else {
        return Err(Halt::Need(Need::SetUp));
    };
    match begins {
        Begins::Plain => walk.begin(Step::Branch),
        Begins::With(payload) => {
            walk.state.step = (Step::Branch, walk.state.now);
            let with = Some(payload.clone());
            walk.tell(Notice::StepBegins { step: Step::Branch, with });
        }
    }
    walk.note_set_up(branch_lines);
    Ok(Passage::On)
}
