//! Forecasts a lane's usage from earlier ones.

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
    let counted: Vec<(&LaneEntry, Usage)> = entries
        .iter()
        .rev()
        .filter_map(|entry| Some((*entry, entry.spent()?)))
        .filter(|(_, spent)| *spent != Usage::default())
        .take(last)
        .collect();
    let money = counted.iter().filter_map(|(_, spent)| spent.micro_dollars).collect();
    let took = counted.iter().filter_map(|(entry, _)| entry.over.as_ref()?.took_ms).collect();
    Some(LaneForecast {
        lanes: counted.len(),
        tokens: Range::of(counted.iter().map(|(_, spent)| spent.tokens()).collect())?,
        micro_dollars: Range::of(money),
        took_ms: Range::of(took),
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
        #[test]
        fn ranks_are_amounts_that_occurred(amounts in prop::collection::vec(any::<u64>(), 1..30)) {
            let Range { median, p90 } = Range::of(amounts.clone()).unwrap();
            prop_assert!(amounts.contains(&median) && amounts.contains(&p90) && median <= p90);
            let below = amounts.iter().filter(|amount| **amount <= p90).count();
            prop_assert!(below * 10 >= amounts.len() * 9);
        }
    }
}
