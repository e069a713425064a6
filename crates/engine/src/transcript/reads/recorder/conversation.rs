//! Removals from the conversation by the client.

use convoke_domain::receipt::{FileReader, Read};

use super::Recorder;
use crate::transcript::reads::thread::{Follows, Role, Side};
use crate::transcript::reads::{Damage, DamageKind, LinePlace};

/// The position of a read in a record.
pub(crate) struct Place {
    /// The message with the read.
    pub(crate) message: Option<String>,
    /// The call that led to it.
    pub(crate) call: Option<String>,
}

impl Recorder<'_> {
    /// Takes note of which message is read.
    pub(crate) fn message_is(&mut self, message: Option<&str>) {
        self.message = message.map(str::to_owned);
    }

    /// The client takes out of the conversation what it was shown, but for some of it.
    pub(crate) fn forgets(&mut self, is_lost: impl Fn(&Place) -> bool) {
        self.step += 1;
        for (read, place) in self.reads.iter_mut().zip(&self.places) {
            if read.by == FileReader::Answerer && read.forgotten.is_none() && is_lost(place) {
                read.forgotten = Some(self.step);
            }
        }
    }

    /// Records the current message, so that a rollback can find it.
    pub(crate) fn begins_message(&mut self, message: &str) {
        self.message = Some(message.to_owned());
        self.begun.entry(message.to_owned()).or_insert(self.step);
    }

    /// Removes all messages from one on, as the client does.
    pub(crate) fn rewinds(&mut self, message: &str) {
        if let Some(begun) = self.begun.get(message).copied() {
            self.goes_back_to(begun);
        }
    }

    /// The user's next turn begins.
    pub(crate) fn begins_turn(&mut self) {
        self.turns.push(self.step);
    }

    /// Removes the user's last turns from the conversation, with all their results.
    pub(crate) fn drops_turns(&mut self, count: usize) {
        if count == 0 {
            return;
        }
        // With more turns than were recognised as such, nothing is known to be kept.
        let kept = self.turns.len().checked_sub(count);
        let begun = kept.and_then(|kept| self.turns.get(kept).copied()).unwrap_or(0);
        self.turns.truncate(kept.unwrap_or(0));
        self.goes_back_to(begun);
    }

    fn goes_back_to(&mut self, begun: usize) {
        self.step += 1;
        let is_later = |read: &&mut Read| read.step > begun && read.forgotten.is_none();
        self.reads.iter_mut().filter(is_later).for_each(|read| read.forgotten = Some(self.step));
    }

    /// Begins the line with this number.
    pub(crate) fn begins_line(&mut self, line: usize) {
        self.line = line;
    }

    /// Takes note that the line is damaged: it may have removed anything from the conversation.
    pub(crate) fn loses_line(&mut self) {
        self.unreadable.push(self.place());
    }

    /// Adds the message whose line is read.
    pub(crate) fn adds(&mut self, name: &str, follows: Follows, role: Role, side: Side) {
        let place = self.place();
        self.thread.add(name, follows, role, side, place);
    }

    const fn place(&self) -> LinePlace {
        LinePlace { line: self.line, step: self.step }
    }

    /// Returns the damages of the record before its answer, in order.
    pub(super) fn damages(&self) -> Vec<Damage> {
        let lost = self.thread.branch(self.answered_in.as_deref()).lost;
        let lost = lost.map(|at| Damage { at, kind: DamageKind::BrokenLink });
        let unreadable = |at: &LinePlace| Damage { at: *at, kind: DamageKind::UnreadableLine };
        let answered = self.answer.as_ref().map_or(usize::MAX, |answer| answer.step);
        let all = self.unreadable.iter().map(unreadable).chain(lost);
        let mut damages: Vec<_> = all.filter(|damage| damage.at.step < answered).collect();
        damages.sort_by_key(|damage| damage.at.line);
        damages
    }

    /// Drops reads on branches of the conversation that do not lead to the answer: the agent no
    /// longer had them.
    pub(super) fn leaves_branches(&mut self) {
        let at = self.answer.as_ref().map_or(self.step, |answer| answer.step);
        let branch = self.thread.branch(self.answered_in.as_deref());
        for (read, place) in self.reads.iter_mut().zip(&self.places) {
            let is_left = place.message.as_deref().is_some_and(|message| branch.is_left(message));
            if is_left && read.forgotten.is_none() {
                read.forgotten = Some(at);
            }
        }
    }
}
