//! Whether the remaining budget is probably large enough, by the usage of earlier lanes.

use std::fmt;

use super::budget::LaneBudget;
use super::event::Usage;
use super::forecast::LaneForecast;

/// A budget that is probably too small.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shortage {
    /// The remaining amount.
    pub left: LaneBudget,
    /// The usage of earlier lanes: at least this much, for that share of them.
    pub needed: LaneBudget,
    /// The share of those lanes.
    pub share: Share,
}

/// How many of the earlier lanes would not have been able to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// Half of them or more.
    Half,
    /// One of ten or more.
    Tenth,
}

/// Compares a forecast with the rest of a budget after this much was spent. `None` if the rest is
/// probably enough, or if the forecast has no amount of money to compare.
pub fn shortage(forecast: &LaneForecast, budget: LaneBudget, already: Usage) -> Option<Shortage> {
    let (most, spent, range, unit): (_, _, _, fn(u64) -> LaneBudget) = match budget {
        LaneBudget::Tokens(most) => {
            (most, already.tokens(), Some(forecast.tokens), LaneBudget::Tokens)
        }
        LaneBudget::MicroDollars(most) => {
            let spent = already.micro_dollars.unwrap_or_default();
            (most, spent, forecast.micro_dollars, LaneBudget::MicroDollars)
        }
    };
    let (range, left) = (range?, most.saturating_sub(spent));
    let (needed, share) = if range.median > left {
        (range.median, Share::Half)
    } else if range.p90 > left {
        (range.p90, Share::Tenth)
    } else {
        return None;
    };
    Some(Shortage { left: unit(left), needed: unit(needed), share })
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = match self.share {
            Share::Half => "half",
            Share::Tenth => "one in ten",
        };
        let Self { left, needed, .. } = self;
        write!(f, "{left} remaining, and {share} of earlier lanes needed {needed}")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::forecast::Range;
    use super::*;

    fn forecast(median: u64, p90: u64) -> LaneForecast {
        LaneForecast { lanes: 9, tokens: Range { median, p90 }, micro_dollars: None, took_ms: None }
    }

    #[test]
    fn a_budget_that_will_not_do_is_known_before() {
        let used = |input| Usage { input, ..Usage::default() };
        let words = |budget, already| {
            let found = shortage(&forecast(100, 300), budget, used(already));
            found.map(|shortage| shortage.to_string())
        };
        assert_eq!(words(LaneBudget::Tokens(1000), 700), None);
        assert_eq!(
            words(LaneBudget::Tokens(1000), 701).as_deref(),
            Some(
                "299 tokens remaining, and one in ten of earlier lanes needed 300 \
                 tokens"
            )
        );
        assert_eq!(
            words(LaneBudget::Tokens(1000), 950).as_deref(),
            Some("50 tokens remaining, and half of earlier lanes needed 100 tokens")
        );
        assert_eq!(words(LaneBudget::MicroDollars(1), 0), None, "no lane reported its cost");
        let range = Range { median: 2_000_000, p90: 2_000_000 };
        let priced = LaneForecast { micro_dollars: Some(range), ..forecast(1, 1) };
        let found =
            shortage(&priced, LaneBudget::MicroDollars(1_500_000), Usage::default()).unwrap();
        assert_eq!((found.left, found.share), (LaneBudget::MicroDollars(1_500_000), Share::Half));
    }

    proptest! {
        #[test]
        fn more_budget_is_never_shorter(
            median in 0_u64..1000, more in 0_u64..1000, budget in 0_u64..3000, spent in 0_u64..3000,
        ) {
            let forecast = forecast(median, median + more);
            let already = Usage { output: spent, ..Usage::default() };
            let is_short = |budget| shortage(&forecast, LaneBudget::Tokens(budget), already).is_some();
            prop_assert!(is_short(budget) || !is_short(budget + 1));
            prop_assert_eq!(is_short(budget), median + more > budget.saturating_sub(spent));
        }
    }
}
