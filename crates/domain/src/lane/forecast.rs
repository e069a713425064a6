//! Forecasts a lane's usage from earlier ones.

use std::collections::VecDeque;

use super::event::Usage;
use super::ledger::LaneEntry;

/// A middle, and what nine of ten stay below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Half of the lanes needed no more.
    pub median: u64,
    /// Nine of ten needed no more.
    pub p90: u64,
}

impl Range {
    /// Computes the ranks of some amounts; `None` without amounts.
    pub fn of(mut amounts: Vec<u64>) -> Option<Self> {
        amounts.sort_unstable();
        let rank = |percent: usize| {
            let rank = (amounts.len() * percent).div_ceil(100);
            amounts.get(rank.checked_sub(1)?).copied()
        };
        Some(Self { median: rank(50)?, p90: rank(90)? })
    }
}

/// The usage of earlier lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneForecast {
    /// How many lanes it is taken from.
    pub lanes: usize,
    /// Tokens of prompts and answers.
    pub tokens: Range,
    /// Money in millionths of a dollar, where clients reported it.
    pub micro_dollars: Option<Range>,
    /// Milliseconds.
    pub took_ms: Option<Range>,
}

/// Forecasts from the last lanes that answered and reported their usage; `None` without any. A lane that
/// was cut off or failed does not tell what an answer costs.
pub fn forecast(entries: &[&LaneEntry], last: usize) -> Option<LaneForecast> {
    let answered: Vec<_> = entries.iter().copied().filter(|entry| entry.has_answered()).collect();
    usage_of_last(&answered, last)
}

/// Returns the usage of the last lanes that reported it, with or without an answer; `None` without any.
/// A lane that never started does not count.
pub fn usage_of_last(entries: &[&LaneEntry], last: usize) -> Option<LaneForecast> {
    let counted: Vec<_> =
        entries.iter().rev().filter_map(|entry| LaneCost::of(entry)).take(last).collect();
    of_costs(counted.iter())
}

/// What the last lanes of a kind used, kept while lanes go by in the order in which they began: all that a
/// forecast needs of them.
#[derive(Debug, Clone)]
pub struct RecentLanes {
    last: usize,
    costs: VecDeque<LaneCost>,
}

impl RecentLanes {
    /// Keeps the last so many lanes; none yet.
    pub const fn new(last: usize) -> Self {
        Self { last, costs: VecDeque::new() }
    }

    /// Keeps what a lane used, if it answered and reported that.
    pub fn add(&mut self, entry: &LaneEntry) {
        let Some(cost) = LaneCost::of(entry).filter(|_| entry.has_answered()) else { return };
        self.costs.push_back(cost);
        if self.costs.len() > self.last {
            self.costs.pop_front();
        }
    }

    /// Forecasts from these lanes, as [`forecast`] does from all.
    pub fn forecast(&self) -> Option<LaneForecast> {
        of_costs(self.costs.iter())
    }
}

/// What a forecast needs of one lane.
#[derive(Debug, Clone, Copy)]
struct LaneCost {
    tokens: u64,
    micro_dollars: Option<u64>,
    took_ms: Option<u64>,
}

impl LaneCost {
    /// Returns a lane's figures, if it reported what it used.
    fn of(entry: &LaneEntry) -> Option<Self> {
        let spent = entry.spent().filter(|spent| *spent != Usage::default())?;
        let took_ms = entry.over.as_ref()?.took_ms;
        Some(Self { tokens: spent.tokens(), micro_dollars: spent.micro_dollars, took_ms })
    }
}

fn of_costs<'a>(
    costs: impl ExactSizeIterator<Item = &'a LaneCost> + Clone,
) -> Option<LaneForecast> {
    Some(LaneForecast {
        lanes: costs.len(),
        tokens: Range::of(costs.clone().map(|cost| cost.tokens).collect())?,
        micro_dollars: Range::of(costs.clone().filter_map(|cost| cost.micro_dollars).collect()),
        took_ms: Range::of(costs.filter_map(|cost| cost.took_ms).collect()),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::ledger::tests::entry;
    use super::super::outcome::LaneOutcome;
    use super::*;

    #[test]
    fn a_forecast_is_what_the_last_lanes_needed() {
        let spent = |input| Usage { input, ..Usage::default() };
        let mut entries: Vec<_> =
            (1..=20).map(|id: i64| entry(id, "a", Some(spent(id.unsigned_abs())))).collect();
        entries.push(entry(21, "a", None));
        entries.push(entry(22, "a", Some(Usage::default())));
        for (id, outcome) in [(23, Some(LaneOutcome::TimedOut)), (24, None)] {
            let mut failed = entry(id, "a", Some(spent(9000)));
            failed.over.as_mut().unwrap().outcome = outcome;
            entries.push(failed);
        }
        let all: Vec<_> = entries.iter().collect();
        let found = forecast(&all, 10).unwrap();
        assert_eq!((found.lanes, found.tokens), (10, Range { median: 15, p90: 19 }));
        assert_eq!(found.micro_dollars, None);
        assert_eq!(found.took_ms, Some(Range { median: 1000, p90: 1000 }));
        assert_eq!(forecast(&all[20..], 10), None, "none of these answered at a known cost");
    }

    proptest! {
        // Lanes that go by leave the same forecast as lanes that are all at hand.
        #[test]
        fn recent_lanes_forecast_what_all_lanes_do(
            lanes in prop::collection::vec((any::<bool>(), prop::option::of(0..9_u64)), 0..40),
            last in 0..12_usize,
        ) {
            let made = lanes.iter().map(|(is_answered, input)| {
                let spent = |input: u64| Usage { input, micro_dollars: (input > 3).then_some(input), ..Usage::default() };
                let mut lane = entry(1, "a", input.map(spent));
                lane.over.as_mut().unwrap().outcome = is_answered.then_some(LaneOutcome::Answered);
                lane
            });
            let entries: Vec<_> = made.collect();
            let mut recent = RecentLanes::new(last);
            for entry in &entries {
                recent.add(entry);
            }
            let all: Vec<_> = entries.iter().collect();
            prop_assert_eq!(recent.forecast(), forecast(&all, last));
        }

        #[test]
        fn ranks_are_amounts_that_occurred(amounts in prop::collection::vec(any::<u64>(), 1..30)) {
            let Range { median, p90 } = Range::of(amounts.clone()).unwrap();
            prop_assert!(amounts.contains(&median) && amounts.contains(&p90) && median <= p90);
            let below = amounts.iter().filter(|amount| **amount <= p90).count();
            prop_assert!(below * 10 >= amounts.len() * 9);
        }
    }
}
