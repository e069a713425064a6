//! The word of a ballot's marker lines.

use super::{Halt, Need, Walk, Walked};
use crate::design::event::LaneId;
use crate::design::policy::Policy;
use crate::design::reading_order::{ReadingOrder, Spacing};
use crate::design::rules::RulesVersion;
use crate::design::voting_block::{MarkerWord, Poll};

impl<'f> Walk<'f> {
    /// Returns the marker word of a ballot, which occurs in none of the texts that its lanes
    /// receive. There is no word under the original's rules, or if lanes answered before words
    /// existed.
    pub(super) fn marker_word(
        &mut self,
        poll: Poll,
        lanes: &[LaneId],
        texts: &[&str],
    ) -> Walked<Option<&'f MarkerWord>> {
        if self.settings.policy == Policy::Seed {
            return Ok(None);
        }
        let facts = self.facts;
        let is_over = |id: &LaneId| facts.lane(id).is_some_and(|course| course.ended.is_some());
        let has_answers = lanes.iter().any(is_over);
        match facts.words(poll).last() {
            None if has_answers => Ok(None),
            Some((at, word)) if has_answers || !texts.iter().any(|text| word.occurs_in(text)) => {
                self.state.at(*at);
                Ok(Some(word))
            }
            Some(_) | None => Err(Halt::Need(Need::Word(poll))),
        }
    }

    /// Returns the order in which each of some seats reads a ballot with a marker word.
    pub(super) fn reading_orders(
        &self,
        word: Option<&MarkerWord>,
        seats: usize,
    ) -> Vec<ReadingOrder> {
        let rules = self.facts.rules();
        let word = word.filter(|_| rules >= RulesVersion::READING_ORDERS);
        let is_even = rules >= RulesVersion::EVEN_READING_ORDERS;
        let spacing = if is_even { Spacing::Even } else { Spacing::Stepped };
        let order = |place| {
            let drawn = |word| ReadingOrder::draw(word, place, seats, spacing);
            word.map_or(ReadingOrder::WRITTEN, drawn)
        };
        (0..seats).map(order).collect()
    }
}
