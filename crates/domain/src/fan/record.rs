//! What a fan-out's journal says: its items, the state of each, and what is missing.

use std::collections::HashMap;

use super::event::{FanEvent, FanSettings, FanTerms};
use super::item::{ItemKey, ListedItem};
use super::stop::FanStop;

/// How often Convoke asks for an answer that fits a schema.
pub const MOST_TRIES: u8 = 2;

/// The state of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ItemState {
    /// It has no answer, and no lane has failed for it.
    #[default]
    Missing,
    /// It has an answer, in this event of the journal.
    Answered(u64),
    /// Its last answer does not fit the schema; this was the nth.
    Unfit(u64, u8),
    /// Its last lane gave no answer.
    Failed(u64),
}

/// Which items a process asks for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// Those without an answer.
    Unanswered,
    /// Those and the ones whose answers do not fit.
    UnfitToo,
}

/// How many items are in which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FanTally {
    /// All items of the list, also identical ones.
    pub items: usize,
    /// Those that differ; the others share their requests.
    pub distinct: usize,
    /// Different items with an answer.
    pub answered: usize,
    /// Different items whose answers do not fit the schema.
    pub unfit: usize,
    /// Different items whose last lane gave no answer.
    pub failed: usize,
    /// Different items for which no lane has ended.
    pub missing: usize,
}

/// A fan-out, from the events of its journal. It keeps no answers: they can be large.
#[derive(Debug, Clone, Default)]
pub struct FanRecord {
    settings: Option<FanSettings>,
    terms: Option<FanTerms>,
    items: Vec<ListedItem>,
    list_digest: Option<String>,
    /// A list that is not complete.
    begun: Vec<ListedItem>,
    states: HashMap<ItemKey, ItemState>,
    stopped: Option<FanStop>,
}

impl FanRecord {
    /// Takes in an event with its number.
    pub fn take(&mut self, seq: u64, event: FanEvent) {
        match event {
            FanEvent::Begun(settings) => self.settings = Some(*settings),
            FanEvent::ListBegun => self.begun.clear(),
            FanEvent::Items(items) => self.begun.extend(items),
            FanEvent::Listed { digest, count } => {
                let listed = std::mem::take(&mut self.begun);
                // A list of another length is not the one that was promised.
                if listed.len() == count {
                    self.items = listed;
                    self.list_digest = Some(digest);
                }
            }
            FanEvent::Opened(terms) => {
                self.terms = Some(terms);
                self.stopped = None;
            }
            FanEvent::Answered(answer) => {
                let before = self.state(&answer.key);
                let state = match (&answer.misfit, before) {
                    (_, ItemState::Answered(_)) => before,
                    (None, _) => ItemState::Answered(seq),
                    (Some(_), ItemState::Unfit(_, tries)) if tries < MOST_TRIES => {
                        ItemState::Unfit(seq, tries + 1)
                    }
                    (Some(_), _) => ItemState::Unfit(seq, 1),
                };
                self.states.insert(answer.key, state);
            }
            FanEvent::Failed(failure) => {
                // An answer that does not fit stays known: only its second request failed.
                let state = self.states.entry(failure.key).or_default();
                if !matches!(state, ItemState::Unfit(..) | ItemState::Answered(_)) {
                    *state = ItemState::Failed(seq);
                }
            }
            FanEvent::Stopped(why) => self.stopped = Some(why),
        }
    }

    /// Returns what its answers depend on; nothing if the journal does not say.
    pub const fn settings(&self) -> Option<&FanSettings> {
        self.settings.as_ref()
    }

    /// Returns the terms of the process that worked last.
    pub const fn terms(&self) -> Option<&FanTerms> {
        self.terms.as_ref()
    }

    /// Returns the items of the last complete list.
    pub fn items(&self) -> &[ListedItem] {
        &self.items
    }

    /// Returns the hash of that list.
    pub fn list_digest(&self) -> Option<&str> {
        self.list_digest.as_deref()
    }

    /// Returns why the last process stopped early.
    pub const fn stopped(&self) -> Option<&FanStop> {
        self.stopped.as_ref()
    }

    /// Returns the state of an item.
    pub fn state(&self, key: &ItemKey) -> ItemState {
        self.states.get(key).copied().unwrap_or_default()
    }

    /// Returns the places of the items to ask for: each different one once, in the order of the list.
    pub fn to_ask(&self, retry: Retry) -> Vec<usize> {
        let places = self.distinct().into_iter();
        places.filter(|place| self.is_open(&self.items[*place].key, retry)).collect()
    }

    fn is_open(&self, key: &ItemKey, retry: Retry) -> bool {
        match self.state(key) {
            ItemState::Missing | ItemState::Failed(_) => true,
            ItemState::Answered(_) => false,
            ItemState::Unfit(_, tries) => tries < MOST_TRIES || retry == Retry::UnfitToo,
        }
    }

    /// Returns the place of the first of each group of identical items.
    fn distinct(&self) -> Vec<usize> {
        let mut seen = HashMap::with_capacity(self.items.len());
        for (place, item) in self.items.iter().enumerate() {
            seen.entry(&item.key).or_insert(place);
        }
        let mut places: Vec<_> = seen.into_values().collect();
        places.sort_unstable();
        places
    }

    /// Counts the items of the list by their states.
    pub fn tally(&self) -> FanTally {
        let mut tally = FanTally { items: self.items.len(), ..FanTally::default() };
        for place in self.distinct() {
            tally.distinct += 1;
            let count = match self.state(&self.items[place].key) {
                ItemState::Missing => &mut tally.missing,
                ItemState::Answered(_) => &mut tally.answered,
                ItemState::Unfit(..) => &mut tally.unfit,
                ItemState::Failed(_) => &mut tally.failed,
            };
            *count += 1;
        }
        tally
    }

    /// Tells whether nothing is left to ask for.
    pub fn is_settled(&self) -> bool {
        self.list_digest.is_some() && self.to_ask(Retry::Unanswered).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fan::event::{FanAnswer, FanFailure};
    use crate::lane::outcome::LaneOutcome;

    fn key(number: u8) -> ItemKey {
        ItemKey::parse(&format!("{number:032x}")).unwrap()
    }

    fn listed(numbers: &[u8]) -> Vec<FanEvent> {
        let item =
            |number: &u8| ListedItem { key: key(*number), text: number.to_string(), sha256: None };
        let (digest, count) = (format!("{numbers:?}"), numbers.len());
        let items = FanEvent::Items(numbers.iter().map(item).collect());
        vec![FanEvent::ListBegun, items, FanEvent::Listed { digest, count }]
    }

    fn answered(number: u8, misfit: Option<&str>) -> FanEvent {
        FanEvent::Answered(Box::new(FanAnswer {
            key: key(number),
            text: "answer".to_owned(),
            misfit: misfit.map(str::to_owned),
            lane: None,
            model: None,
            usage: None,
            took_ms: 0,
        }))
    }

    fn failed(number: u8) -> FanEvent {
        let (outcome, why) = (LaneOutcome::TimedOut, String::new());
        FanEvent::Failed(Box::new(FanFailure { key: key(number), outcome, why, lane: None }))
    }

    fn record(events: impl IntoIterator<Item = FanEvent>) -> FanRecord {
        let mut record = FanRecord::default();
        for (seq, event) in (1..).zip(events) {
            record.take(seq, event);
        }
        record
    }

    // F-6
    #[test]
    fn identical_items_share_a_request_and_answers_stay() {
        let mut events = listed(&[1, 2, 1, 3, 2, 1]);
        let fresh = record(events.clone());
        assert_eq!(fresh.to_ask(Retry::Unanswered), [0, 1, 3]);
        events.extend([answered(2, None), failed(1)]);
        let later = record(events);
        assert_eq!(later.to_ask(Retry::Unanswered), [0, 3]);
        assert_eq!(later.state(&key(2)), ItemState::Answered(4));
        let tally = later.tally();
        assert_eq!((tally.items, tally.distinct, tally.answered), (6, 3, 1));
        assert_eq!((tally.failed, tally.missing, tally.unfit), (1, 1, 0));
    }

    // F-7
    #[test]
    fn a_list_counts_once_it_is_complete() {
        let mut events = listed(&[1, 2]);
        let half = listed(&[7, 8]).into_iter().take(2);
        events.extend(half);
        let killed = record(events.clone());
        assert_eq!(killed.items().len(), 2, "the list before still holds");
        assert_eq!(killed.list_digest(), Some("[1, 2]"));
        events.extend(listed(&[2, 3]));
        let next = record(events.clone());
        assert_eq!((next.items().len(), next.list_digest()), (2, Some("[2, 3]")));
        events.extend([FanEvent::ListBegun, FanEvent::Listed { digest: "x".into(), count: 1 }]);
        assert_eq!(record(events).list_digest(), Some("[2, 3]"), "a list of another length");
    }

    // F-9
    #[test]
    fn an_answer_that_does_not_fit_has_a_second_request() {
        let mut events = listed(&[1]);
        events.push(answered(1, Some("not JSON")));
        assert_eq!(record(events.clone()).to_ask(Retry::Unanswered), [0]);
        events.push(failed(1));
        let between = record(events.clone());
        assert_eq!(between.state(&key(1)), ItemState::Unfit(4, 1), "a failed lane takes nothing");
        events.push(answered(1, Some("not JSON")));
        let twice = record(events.clone());
        assert!(twice.is_settled() && twice.to_ask(Retry::UnfitToo) == [0]);
        // A retry begins anew.
        events.push(answered(1, Some("not JSON")));
        assert_eq!(record(events.clone()).to_ask(Retry::Unanswered), [0]);
        events.push(answered(1, None));
        assert!(record(events).to_ask(Retry::UnfitToo).is_empty());
    }

    #[test]
    fn a_run_without_a_list_is_not_settled() {
        assert!(!record([]).is_settled());
        assert!(record(listed(&[])).is_settled());
    }

    proptest! {
        // F-6: after any course of events, Convoke never asks for an answered item again.
        #[test]
        fn no_answered_item_has_another_request(
            numbers in proptest::collection::vec(0_u8..6, 0..12),
            course in proptest::collection::vec((0_u8..6, 0_u8..3), 0..30),
        ) {
            let mut events = listed(&numbers);
            events.extend(course.iter().map(|(number, kind)| match kind {
                0 => answered(*number, None),
                1 => answered(*number, Some("no")),
                _ => failed(*number),
            }));
            let has_answer = |number: &u8| course.contains(&(*number, 0));
            let record = record(events);
            let asked = record.to_ask(Retry::UnfitToo);
            for place in &asked {
                prop_assert!(!has_answer(&numbers[*place]));
            }
            let keys: std::collections::HashSet<_> =
                asked.iter().map(|place| &record.items()[*place].key).collect();
            prop_assert_eq!(keys.len(), asked.len());
            let tally = record.tally();
            let all = tally.answered + tally.unfit + tally.failed + tally.missing;
            prop_assert_eq!(all, tally.distinct);
        }
    }
}
