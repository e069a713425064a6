//! What only the chair can write, checked before anything is built on it.

use super::{Request, Walk, Walked};
use crate::design::event::{LaneEnd, LaneId};
use crate::design::progress::unnumbered_warning;
use crate::design::seat::Holder;
use crate::design::{prompt, quote};
use crate::lane::collected::Status;

/// What the chair said.
pub(super) enum Said<'f, T> {
    /// What was asked for, taken apart.
    Well(T),
    /// Something else, also when it was told what is wrong with it.
    Badly {
        /// The answer.
        text: &'f str,
        /// What is wrong with it.
        complaint: String,
    },
    /// Nothing. Nobody who could be the chair answered.
    Nothing,
}

impl<'f> Walk<'f> {
    /// Has the chair write something. `check` takes an answer apart or says what is wrong with it.
    /// An answer that will not do is asked for once more, with what is wrong with it; so is one that
    /// was cut off, whatever there is of it. An agent that does not answer is replaced by the next.
    pub(super) fn chair<T>(
        &mut self,
        task: &str,
        prompt: &dyn Fn() -> String,
        check: &dyn Fn(&'f str) -> Result<T, String>,
    ) -> Walked<Said<'f, T>> {
        // A host that failed as something else is asked after all others.
        let mut order = [Holder::Host, Holder::First, Holder::Second];
        order.rotate_left(usize::from(self.is_host_lost));
        for holder in order {
            if !self.available.has(holder) || holder == Holder::Host && self.is_chair_lost {
                continue;
            }
            let first = self.chair_lane(task, "", holder, prompt)?;
            if first.status != Status::Ok && !first.is_cut_off() {
                self.chair_failed(holder, first);
                continue;
            }
            let complaint = match checked(first, check) {
                Ok(said) => return Ok(Said::Well(said)),
                Err(complaint) => complaint,
            };
            let complaints = std::slice::from_ref(&complaint);
            let again = || prompt::with_complaints(&prompt(), complaints);
            let second = self.chair_lane(task, "/again", holder, &again)?;
            if second.status != Status::Ok && !second.is_cut_off() {
                return Ok(Said::Badly { text: &first.answer, complaint });
            }
            return Ok(match checked(second, check) {
                Ok(said) => Said::Well(said),
                Err(complaint) => Said::Badly { text: &second.answer, complaint },
            });
        }
        Ok(Said::Nothing)
    }

    fn chair_lane(
        &mut self,
        task: &str,
        again: &str,
        holder: Holder,
        prompt: &dyn Fn() -> String,
    ) -> Walked<&'f LaneEnd> {
        let word = self.settings.panel.named(holder).word();
        let id = LaneId(format!("chair/{task}/{word}{again}"));
        let request = Request {
            prompt: self.prompt_of(&id, prompt),
            id,
            holder,
            step: self.step.0,
            kind: format!("{word}-chair-{task}"),
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
        self.is_chair_lost |= holder == Holder::Host;
        self.lose(holder);
    }

    /// Says that the chair's answer could not be used as it is.
    pub(super) fn chair_was_poor(&mut self, what: &str, complaint: &str) {
        let text = format!("The chair's {what} is incomplete ({}).", quote::line(complaint));
        self.warn(unnumbered_warning(&text));
    }

    /// Does not ask an agent again that failed.
    pub(super) const fn lose(&mut self, holder: Holder) {
        match holder {
            Holder::First => self.available.first = false,
            Holder::Second => self.available.second = false,
            Holder::Host => self.is_host_lost = true,
        }
    }
}

/// Takes an answer apart, or says what is wrong with it. The beginning of one may look whole.
fn checked<'f, T>(
    end: &'f LaneEnd,
    check: &dyn Fn(&'f str) -> Result<T, String>,
) -> Result<T, String> {
    if end.is_cut_off() {
        return Err("the answer was cut off at its longest; it must be shorter".to_owned());
    }
    check(&end.answer)
}
