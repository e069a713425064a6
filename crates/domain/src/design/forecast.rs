//! Forecasts the cost of a run from earlier ones.

use std::collections::{BTreeMap, BTreeSet};

use crate::lane::budget::LaneBudget;
use crate::lane::forecast::Range;
use crate::lane::ledger::{LaneEntry, Sum};

/// The part for work that was requested after a run had ended; forecasts leave it out.
pub const COMPARED: &str = "compare";

/// How many of the last runs count.
pub const LAST: usize = 10;

/// The cost of earlier runs, each as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// How many runs it is taken from.
    pub runs: usize,
    /// Tokens of prompts and answers.
    pub tokens: Range,
    /// Money in millionths of a dollar, where clients reported it.
    pub micro_dollars: Option<Range>,
    /// Whether some of their lanes could not tell what they spent.
    pub is_partial: bool,
}

/// Whether a budget is probably large enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Prospect {
    /// Nine of ten earlier runs needed no more.
    Enough,
    /// Half of them did.
    Tight,
    /// Most of them needed more.
    TooLittle,
    /// No earlier run reported its usage.
    Unknown,
}

/// Forecasts from the last completed runs that reported their usage; `None` without any. Entries
/// are the oldest first.
pub fn forecast(entries: &[LaneEntry], ended: &BTreeSet<&str>) -> Option<Forecast> {
    let mut runs: BTreeMap<&str, Sum> = BTreeMap::new();
    for entry in
        entries.iter().filter(|entry| entry.begun.purpose.phase.as_deref() != Some(COMPARED))
    {
        let run = entry.begun.purpose.run.as_deref().filter(|run| ended.contains(run));
        if let Some(run) = run {
            let sum = runs.entry(run).or_default();
            *sum = sum.plus(Sum::of(entry));
        }
    }
    // Ids sort by time.
    let counted = runs.into_values().rev().filter(|sum| sum.without_usage < sum.lanes);
    let last: Vec<_> = counted.take(LAST).collect();
    let money = last.iter().filter_map(|sum| sum.usage.micro_dollars).collect();
    Some(Forecast {
        runs: last.len(),
        tokens: Range::of(last.iter().map(|sum| sum.usage.tokens()).collect())?,
        micro_dollars: Range::of(money),
        is_partial: last.iter().any(|sum| sum.without_usage + sum.partial_usage > 0),
    })
}

impl Forecast {
    /// Compares it with what may be spent.
    pub fn under(&self, budget: LaneBudget) -> Prospect {
        let (range, most) = match budget {
            LaneBudget::Tokens(most) => (Some(self.tokens), most),
            LaneBudget::MicroDollars(most) => (self.micro_dollars, most),
        };
        match range {
            None => Prospect::Unknown,
            Some(range) if range.p90 <= most => Prospect::Enough,
            Some(range) if range.median <= most => Prospect::Tight,
            Some(_) => Prospect::TooLittle,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::event::Usage;
    use crate::lane::ledger::Purpose;
    use crate::lane::ledger::tests::entry;

    fn lane(run: &str, phase: &str, tokens: Option<u64>) -> LaneEntry {
        let spent = tokens.map(|input| Usage {
            input,
            micro_dollars: Some(input * 10).filter(|_| run != "c"),
            ..Usage::default()
        });
        let mut entry = entry(1, "codex", spent);
        entry.begun.purpose =
            Purpose { run: Some(run.to_owned()), role: None, phase: Some(phase.to_owned()) };
        entry
    }

    #[test]
    fn a_forecast_is_what_whole_runs_needed() {
        let entries = [
            lane("a", "2a", Some(100)),
            lane("a", "3", Some(50)),
            lane("a", COMPARED, Some(9999)),
            lane("b", "2a", Some(300)),
            lane("b", "3", None),
            lane("c", "2a", Some(200)),
            lane("stopped", "2a", Some(1)),
            lane("played", "2a", None),
        ];
        let ended = BTreeSet::from(["a", "b", "c", "played"]);
        let found = forecast(&entries, &ended).unwrap();
        assert_eq!((found.runs, found.tokens), (3, Range { median: 200, p90: 300 }));
        assert_eq!(found.micro_dollars, Some(Range { median: 1500, p90: 3000 }));
        assert!(found.is_partial);
        assert_eq!(forecast(&entries, &BTreeSet::new()), None);
        for (budget, prospect) in [
            (LaneBudget::Tokens(300), Prospect::Enough),
            (LaneBudget::Tokens(299), Prospect::Tight),
            (LaneBudget::Tokens(199), Prospect::TooLittle),
            (LaneBudget::MicroDollars(1500), Prospect::Tight),
        ] {
            assert_eq!(found.under(budget), prospect, "{budget}");
        }
        let unpriced = forecast(&entries, &BTreeSet::from(["c"])).unwrap();
        assert_eq!(unpriced.under(LaneBudget::MicroDollars(1)), Prospect::Unknown);
    }

    #[test]
    fn only_the_last_runs_count() {
        let lanes: Vec<_> = (0..20)
            .map(|run| lane(&format!("run-{run:02}"), "2a", Some(if run < 10 { 1 } else { 500 })))
            .collect();
        let names: Vec<_> = (0..20).map(|run| format!("run-{run:02}")).collect();
        let ended = names.iter().map(String::as_str).collect();
        let found = forecast(&lanes, &ended).unwrap();
        assert_eq!((found.runs, found.tokens), (LAST, Range { median: 500, p90: 500 }));
    }
}
