//! Steps 0 and 1: who is there, and on which branch.

use super::{Ending, Halt, Need, Walk, Walked};
use crate::design::event::{Health, Occasion};
use crate::design::progress::Step;
use crate::design::setup::{Begins, Ready, SetUp};

impl Walk<'_> {
    pub(super) fn set_up(&mut self) -> Walked<()> {
        self.begin(Step::Setup);
        let Some((at, set_up)) = self.facts.set_up() else { return Err(Halt::Need(Need::SetUp)) };
        self.at(at);
        match set_up {
            SetUp::Refused(refusal) => {
                self.say_all(&refusal.lines);
                return Err(Halt::End(Ending::Refused(refusal.code)));
            }
            SetUp::Ready(ready) => self.say_all(&ready.setup_lines),
            // A person has not said yet where it begins.
            SetUp::Undecided { .. } => return Err(Halt::Need(Need::SetUp)),
        }
        if self.settings.is_rehearsal {
            self.say("**ℹ This is a rehearsal: every answer was recorded.**");
        }
        let Health { available, warnings } = self.probe(Occasion::SetUp)?;
        self.available = *available;
        for warning in warnings {
            self.warn(warning.clone());
        }
        Ok(())
    }

    pub(super) fn branch(&mut self) -> Walked<()> {
        let Some((_, SetUp::Ready(Ready { begins, branch_lines, .. }))) = self.facts.set_up()
        else {
            return Err(Halt::Need(Need::SetUp));
        };
        match begins {
            Begins::Plain => self.begin(Step::Branch),
            Begins::With(payload) => {
                self.step = (Step::Branch, self.now);
                self.say(self.crumbs.start_with(Step::Branch, payload));
            }
        }
        self.say_all(branch_lines);
        Ok(())
    }
}
