//! What only the chair can write, checked before anything is built on it.

use super::{LaneNeed, Walk, Walked};
use crate::design::aside::without_asides;
use crate::design::event::{LaneEnd, LaneId};
use crate::design::lane_id::{ChairTask, LaneKind};
use crate::design::notice::DesignNote;
use crate::design::progress::unnumbered_warning;
use crate::design::seat::Holder;
use crate::design::{prompt, quote};
use crate::lane::collected::CollectedStatus;

/// Something that the chair writes.
#[derive(Clone, Copy)]
pub(super) struct Task {
    /// What its lanes are asked for.
    pub(super) word: ChairTask,
    /// How it is called in a warning.
    pub(super) noun: &'static str,
    /// What it looks like, shown to a chair that missed it.
    pub(super) form: &'static str,
}

/// An answer that is not what was asked for.
pub(super) struct Flawed<T> {
    /// What is wrong with it, one defect each.
    pub(super) defects: Vec<String>,
    /// What can be used of it, if no answer is better.
    pub(super) salvaged: Option<T>,
}

impl<T> Flawed<T> {
    /// An answer of which nothing can be used.
    pub(super) const fn useless(defects: Vec<String>) -> Self {
        Self { defects, salvaged: None }
    }
}

/// What the chair said.
pub(super) enum Said<T> {
    /// What was asked for, taken apart.
    Well(T),
    /// Something else, also when every agent was told what is wrong with it. This is the best of it.
    Badly(Flawed<T>),
    /// Nothing. Nobody who could be the chair answered.
    Nothing,
}

impl<'f> Walk<'f> {
    /// Has the chair write something. `check` takes an answer apart or says what is wrong with it.
    /// An answer that cannot be used is asked for once more, with its defects; so is one that was cut
    /// off, whatever there is of it. After that, or if the agent does not answer, the next one is
    /// asked. An agent that only missed the form keeps its seat.
    pub(super) fn chair<T>(
        &mut self,
        task: Task,
        prompt: &dyn Fn() -> String,
        check: &dyn Fn(&str) -> Result<T, Flawed<T>>,
    ) -> Walked<Said<T>> {
        let mut flawed: Vec<Flawed<T>> = Vec::new();
        let chairs = self.state.roster.chairs();
        for (place, holder) in chairs.iter().copied().enumerate() {
            let first = self.chair_lane(task, "", holder, prompt)?;
            if first.status != CollectedStatus::Ok && !first.is_cut_off() {
                self.chair_failed(holder, first);
                continue;
            }
            let missed = match checked(first, check) {
                Ok(said) => return Ok(Said::Well(self.heard(task, first, said))),
                Err(missed) => missed,
            };
            let again = || prompt::with_complaints(&prompt(), &missed.defects, task.form);
            let second = self.chair_lane(task, "/again", holder, &again)?;
            if second.status != CollectedStatus::Ok && !second.is_cut_off() {
                self.chair_failed(holder, second);
                flawed.push(missed);
                continue;
            }
            match checked(second, check) {
                Ok(said) => return Ok(Said::Well(self.heard(task, second, said))),
                Err(again) => {
                    if place + 1 < chairs.len() {
                        self.chair_missed(holder, task, &again.defects);
                    }
                    // Of two that lack as much, the later counts.
                    flawed.extend([again, missed]);
                }
            }
        }
        let lacks = |answer: &Flawed<T>| (answer.salvaged.is_none(), answer.defects.len());
        Ok(flawed.into_iter().min_by_key(lacks).map_or(Said::Nothing, Said::Badly))
    }

    /// Says what was left out of an answer before it was read.
    fn heard<T>(&mut self, task: Task, end: &LaneEnd, said: T) -> T {
        let asides = without_asides(&end.answer).1.words();
        if !asides.is_empty() {
            self.note(DesignNote::LeftOut { noun: task.noun, asides });
        }
        said
    }

    fn chair_lane(
        &mut self,
        task: Task,
        again: &str,
        holder: Holder,
        prompt: &dyn Fn() -> String,
    ) -> Walked<&'f LaneEnd> {
        let word = self.settings.panel.named(holder).word();
        let id = LaneId::new(LaneKind::Chair(task.word), &format!("{word}{again}"));
        let request = LaneNeed {
            prompt: self.prompt_of(&id, prompt),
            id,
            holder,
            step: self.state.step.0,
            kind: format!("{word}-chair-{}", task.word),
            file: String::new(),
        };
        let ends = self.lanes(vec![request], None)?;
        Ok(ends[0])
    }

    fn chair_failed(&mut self, holder: Holder, end: &LaneEnd) {
        let name = self.settings.panel.named(holder).name();
        let reason = quote::line(&end.reason);
        let text = format!("{name} failed as the chair — {reason}. Asking the next agent.");
        self.warn(unnumbered_warning(&text));
        self.state.roster.is_chair_lost |= holder == Holder::Host;
        self.state.roster.lose(holder);
    }

    /// Says that an agent missed the form twice. It keeps its seat: the next thing that it writes may
    /// well be right.
    fn chair_missed(&mut self, holder: Holder, task: Task, defects: &[String]) {
        let name = self.settings.panel.named(holder).name();
        let (noun, defects) = (task.noun, in_short(defects));
        let text = format!(
            "{name} wrote no usable {noun} in two tries ({defects}). Asking the next agent."
        );
        self.warn(unnumbered_warning(&text));
    }

    /// Says that the chair's answer could not be used as it is.
    pub(super) fn chair_was_poor(&mut self, task: Task, defects: &[String]) {
        let text = format!("The chair's {} is incomplete ({}).", task.noun, in_short(defects));
        self.warn(unnumbered_warning(&text));
    }
}

/// Takes an answer apart, or says what is wrong with it. The beginning of one may look whole.
fn checked<T>(end: &LaneEnd, check: &dyn Fn(&str) -> Result<T, Flawed<T>>) -> Result<T, Flawed<T>> {
    let found = check(&end.answer);
    if !end.is_cut_off() {
        return found;
    }
    let defect = "the answer was cut off at its longest; it must be shorter".to_owned();
    let salvaged = found.map_or_else(|flawed| flawed.salvaged, Some);
    Err(Flawed { defects: vec![defect], salvaged })
}

/// Names the first defects, and says how many more there are.
fn in_short(defects: &[String]) -> String {
    const NAMED: usize = 3;
    let named: Vec<_> = defects.iter().take(NAMED).map(|defect| quote::line(defect)).collect();
    let more = match defects.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("{}{more}", named.join("; "))
}
