//! The usage of lanes in groups, added up lane by lane.

use std::collections::BTreeMap;

use jiff::tz::Offset;

use super::forecast::{LaneForecast, RecentLanes};
use super::ledger::{LaneEntry, LaneGrouping, Sum};

/// Puts lanes together that have the same value of a key. Lanes go by in the order in which they began; of
/// each group only its sum and its recent lanes stay, so that a year of lanes takes little memory.
#[derive(Debug, Clone)]
pub struct LaneGroups {
    by: LaneGrouping,
    clock: Offset,
    last: usize,
    named: BTreeMap<String, LaneGroup>,
    unnamed: Option<LaneGroup>,
}

/// Lanes of one value together.
#[derive(Debug, Clone)]
pub struct LaneGroup {
    sum: Sum,
    recent: RecentLanes,
}

impl LaneGroups {
    /// Begins without lanes. Days are those of a clock; a forecast uses the last so many lanes of a group.
    pub const fn new(by: LaneGrouping, clock: Offset, last: usize) -> Self {
        Self { by, clock, last, named: BTreeMap::new(), unnamed: None }
    }

    /// Returns the key.
    pub const fn by(&self) -> LaneGrouping {
        self.by
    }

    /// Adds one lane.
    pub fn add(&mut self, entry: &LaneEntry) {
        let (by, clock, last) = (self.by, self.clock, self.last);
        let Some(name) = by.of(entry, clock) else {
            self.unnamed.get_or_insert_with(|| LaneGroup::new(last)).add(entry);
            return;
        };
        // Most lanes belong to a group that is there, and need no name of their own.
        if let Some(group) = self.named.get_mut(&*name) {
            group.add(entry);
        } else {
            let group = self.named.entry(name.into_owned());
            group.or_insert_with(|| LaneGroup::new(last)).add(entry);
        }
    }

    /// Returns the groups in the order of their values; that of lanes without one comes last.
    pub fn into_rows(self) -> impl Iterator<Item = (Option<String>, LaneGroup)> {
        let named = self.named.into_iter().map(|(name, group)| (Some(name), group));
        named.chain(self.unnamed.map(|group| (None, group)))
    }
}

impl LaneGroup {
    /// Begins without lanes. A forecast uses the last so many.
    pub fn new(last: usize) -> Self {
        Self { sum: Sum::default(), recent: RecentLanes::new(last) }
    }

    /// Adds one lane.
    pub fn add(&mut self, entry: &LaneEntry) {
        self.sum = self.sum.plus(Sum::of(entry));
        self.recent.add(entry);
    }

    /// Returns what all of them used.
    pub const fn sum(&self) -> Sum {
        self.sum
    }

    /// Forecasts the next lane of this kind; `None` without lanes that answered and reported their usage.
    pub fn forecast(&self) -> Option<LaneForecast> {
        self.recent.forecast()
    }
}

#[cfg(test)]
mod tests {
    use super::super::event::Usage;
    use super::super::ledger::tests::entry;
    use super::*;

    #[test]
    fn lanes_are_put_together_by_any_key() {
        let usage = Usage { input: 5, micro_dollars: Some(2), ..Usage::default() };
        let mut entries = [
            entry(1, "claude", Some(usage)),
            entry(90_000, "codex", None),
            entry(3, "claude", Some(Usage { micro_dollars: None, ..usage })),
        ];
        entries[1].begun.purpose.role = Some("judge".to_owned());
        let by = |key, clock| -> Vec<_> {
            let mut groups = LaneGroups::new(key, clock, 1);
            for entry in &entries {
                groups.add(entry);
            }
            let sum = |(value, group): (Option<String>, LaneGroup)| {
                (value.unwrap_or_else(|| "-".to_owned()), group.sum().lanes)
            };
            groups.into_rows().map(sum).collect()
        };
        let pairs = |rows: &[(&str, u64)]| -> Vec<_> {
            rows.iter().map(|(name, lanes)| ((*name).to_owned(), *lanes)).collect()
        };
        assert_eq!(by(LaneGrouping::Agent, Offset::UTC), pairs(&[("claude", 2), ("codex", 1)]));
        assert_eq!(by(LaneGrouping::Role, Offset::UTC), pairs(&[("judge", 1), ("-", 2)]));
        let days = pairs(&[("1970-01-01", 2), ("1970-01-02", 1)]);
        assert_eq!(by(LaneGrouping::Day, Offset::UTC), days);
        let west = Offset::from_hours(-2).unwrap();
        assert_eq!(by(LaneGrouping::Day, west), pairs(&[("1969-12-31", 2), ("1970-01-01", 1)]));
        let mut all = LaneGroup::new(1);
        for entry in &entries {
            all.add(entry);
        }
        let (sum, found) = (all.sum(), all.forecast().unwrap());
        assert_eq!((sum.lanes, sum.without_usage, sum.without_money), (3, 1, 1));
        assert_eq!((sum.usage.input, sum.usage.micro_dollars), (10, Some(2)));
        assert_eq!((found.lanes, found.micro_dollars), (1, None), "the last lane alone");
        for key in LaneGrouping::ALL {
            assert_eq!(LaneGrouping::parse(key.name()), Some(key));
        }
    }
}
