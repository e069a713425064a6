//! Steps 0 and 1: the available agents, and the branch.

use super::phases::Passage;
use super::{DesignEnding, Halt, Need, Walk, Walked};
use crate::design::event::{Health, Occasion};
use crate::design::notice::{DesignNote, Notice};
use crate::design::progress::Step;
use crate::design::setup::SetUp;

pub(super) fn set_up(walk: &mut Walk<'_>) -> Walked<Passage> {
    walk.begin(Step::Setup);
    let Some((at, set_up)) = walk.facts.set_up() else { return Err(Halt::Need(Need::SetUp)) };
    walk.state.at(at);
    match set_up {
        SetUp::Refused(refusal) => {
            refusal.lines.iter().for_each(|line| walk.note(DesignNote::Refused(line.clone())));
            return Err(Halt::End(DesignEnding::Refused(refusal.code)));
        }
        SetUp::Ready(ready) => walk.note_set_up(&ready.setup_notes),
        // A person has not decided yet where it begins.
        SetUp::Undecided { .. } => return Err(Halt::Need(Need::SetUp)),
    }
    if walk.settings.is_rehearsal {
        walk.note(DesignNote::Rehearsal);
    }
    let Health { available, absences } = walk.probe(Occasion::SetUp)?;
    walk.state.roster.available = *available;
    for absence in absences {
        walk.warn(absence.warning(walk.settings, Occasion::SetUp, *available));
    }
    Ok(Passage::On)
}

pub(super) fn branch(walk: &mut Walk<'_>) -> Walked<Passage> {
    let Some((_, SetUp::Ready(ready))) = walk.facts.set_up() else {
        return Err(Halt::Need(Need::SetUp));
    };
    match ready.remark() {
        None => walk.begin(Step::Branch),
        with @ Some(_) => {
            walk.state.step = (Step::Branch, walk.state.now);
            walk.tell(Notice::StepBegins { step: Step::Branch, with });
        }
    }
    walk.note_set_up(&ready.branch_notes);
    Ok(Passage::On)
}
