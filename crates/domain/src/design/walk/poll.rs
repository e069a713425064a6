//! Polls: voters or judges, all of them or as many as settle the result.

use super::{LaneNeed, Walk, Walked};
use crate::design::event::LaneEnd;
use crate::design::notice::DesignNote;
use crate::design::settled::NotAsked;
use crate::design::voting_block::Poll;

impl<'f> Walk<'f> {
    /// Asks the seats of a poll, by their labels: all in parallel, or, in an adaptive design, as many as
    /// can decide and then one after another until the answers settle the poll. A seat has one request,
    /// or one for each order of the ballot. Returns the answers that there are then, seat by seat.
    pub(super) fn poll(
        &mut self,
        poll: Poll,
        labels: &[&str],
        requests: &dyn Fn(&Self, usize) -> Vec<LaneNeed>,
        is_settled: &dyn Fn(&[Vec<&LaneEnd>]) -> bool,
    ) -> Walked<Vec<Vec<&'f LaneEnd>>> {
        let mut ends: Vec<Vec<&'f LaneEnd>> = Vec::new();
        let mut wanted = self.settings.poll_rule.first_asked(labels.len());
        loop {
            let of_seats: Vec<_> =
                (ends.len()..wanted).map(|place| requests(self, place)).collect();
            let counts: Vec<_> = of_seats.iter().map(Vec::len).collect();
            let mut answered = self.lanes(of_seats.concat(), None)?.into_iter();
            ends.extend(counts.into_iter().map(|count| answered.by_ref().take(count).collect()));
            if wanted == labels.len() || is_settled(&ends) {
                break;
            }
            wanted += 1;
        }
        if wanted < labels.len() {
            let seats: Vec<_> = labels[wanted..].iter().map(|label| (*label).to_owned()).collect();
            let not_asked = NotAsked { saved_tokens: saved(&ends, seats.len()), seats };
            self.results().not_asked.push((poll, not_asked.clone()));
            self.note(DesignNote::NotAsked(poll, not_asked));
        }
        Ok(ends)
    }
}

/// Returns what some more lanes would have used; `None` if a lane does not say what it used.
fn saved(ends: &[Vec<&LaneEnd>], more: usize) -> Option<u64> {
    let of_seat = |ends: &Vec<&LaneEnd>| {
        let used = ends.iter().map(|end| Some(end.usage?.tokens()));
        used.sum::<Option<u64>>()
    };
    let used: Option<Vec<_>> = ends.iter().map(of_seat).collect();
    let used = used.filter(|used| !used.is_empty())?;
    let count = u64::try_from(used.len()).ok()?;
    let average = used.iter().fold(0, |sum: u64, tokens| sum.saturating_add(*tokens)) / count;
    Some(average.saturating_mul(u64::try_from(more).ok()?))
}
