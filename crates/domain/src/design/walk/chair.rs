//! The chair's documents, checked before any phase uses them.

use super::{LaneNeed, Walk, Walked};
use crate::design::aside::without_asides;
use crate::design::event::{LaneEnd, LaneId};
use crate::design::lane_id::{ChairTask, LaneKind};
use crate::design::notice::DesignNote;
use crate::design::prompt;
use crate::design::seat::Holder;
use crate::design::warning::ChairWarning;
use crate::lane::collected::CollectedStatus;

/// Something that the chair writes.
#[derive(Clone, Copy)]
pub(super) struct Task {
    /// The kind of document its lanes write.
    pub(super) word: ChairTask,
    /// The document's name in a warning.
    pub(super) noun: &'static str,
    /// The required form, shown to a chair that missed it.
    pub(super) form: &'static str,
}

/// An answer with defects.
pub(super) struct Flawed<T> {
    /// The defects, one each.
    pub(super) defects: Vec<String>,
    /// The usable part, in case no answer is better.
    pub(super) salvaged: Option<T>,
}

impl<T> Flawed<T> {
    /// An answer of which nothing can be used.
    pub(super) const fn useless(defects: Vec<String>) -> Self {
        Self { defects, salvaged: None }
    }
}

/// The result of a request to the chair.
pub(super) enum Said<T> {
    /// The requested document, parsed.
    Well(T),
    /// A document with defects, although every agent received the list of them. This is the best one.
    Badly(Flawed<T>),
    /// No agent in the chair answered.
    Nothing,
}

impl<'f> Walk<'f> {
    /// Has the chair write a document. `check` parses an answer or returns its defects. Convoke
    /// requests an unusable answer once more, with its defects; likewise one that was cut off.
    /// After that, or if the agent does not answer, the next agent gets the request. An agent that
    /// only missed the form keeps its seat.
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

    /// Warns of parts that were left out of an answer before parsing.
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
        let agent = self.settings.panel.named(holder).name().to_owned();
        self.warn(ChairWarning::Failed { agent, reason: end.reason_text() });
        self.state.roster.is_chair_lost |= holder == Holder::Host;
        self.state.roster.lose(holder);
    }

    /// Warns that an agent missed the form twice. It keeps its seat: its next document may well be
    /// right.
    fn chair_missed(&mut self, holder: Holder, task: Task, defects: &[String]) {
        let agent = self.settings.panel.named(holder).name().to_owned();
        let (noun, defects) = (task.noun, defects.to_vec());
        self.warn(ChairWarning::MissedForm { agent, noun, defects });
    }

    /// Warns that the chair's answer was unusable in its form.
    pub(super) fn chair_was_poor(&mut self, task: Task, defects: &[String]) {
        let (noun, defects) = (task.noun, defects.to_vec());
        self.warn(ChairWarning::Incomplete { noun, defects });
    }
}

/// Parses an answer, or returns its defects. The beginning of an answer may look complete.
fn checked<T>(end: &LaneEnd, check: &dyn Fn(&str) -> Result<T, Flawed<T>>) -> Result<T, Flawed<T>> {
    let found = check(&end.answer);
    if !end.is_cut_off() {
        return found;
    }
    let defect = "the answer was cut off at its longest; it must be shorter".to_owned();
    let salvaged = found.map_or_else(|flawed| flawed.salvaged, Some);
    Err(Flawed { defects: vec![defect], salvaged })
}
