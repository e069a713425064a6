//! Estimates a design before it begins, from what earlier designs of the project came to.
//!
//! An estimate needs several designs of the same kind. With fewer it is unknown: one run says little
//! about the next.

use crate::design::event::Settings;
use crate::design::outcome;
use crate::design::outline::{PhaseResults, VotedReview};
use crate::design::reading_order::JudgeOrders;
use crate::design::resolution::DecisionEnding;
use crate::design::seat::Side;
use crate::design::settled::PollRule;
use crate::lane::forecast::Range;

/// The fewest runs that an estimate is made from.
pub const FEWEST_RUNS: usize = 3;

/// The most runs that count, the last ones.
pub const MOST_RUNS: usize = 20;

/// What makes one design cost more than another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DesignKind {
    /// Whether it has two sketches.
    pub quick: bool,
    /// How many voters and judges it asks.
    pub poll_rule: PollRule,
    /// In how many orders its judges read.
    pub judge_orders: JudgeOrders,
}

impl DesignKind {
    /// Returns the kind of a run.
    pub const fn of(settings: &Settings) -> Self {
        let Settings { quick, poll_rule, judge_orders, .. } = settings;
        Self { quick: *quick, poll_rule: *poll_rule, judge_orders: *judge_orders }
    }

    /// Returns the words that users read.
    pub fn words(self) -> String {
        let size = if self.quick { "quick" } else { "regular" };
        let adaptive = (self.poll_rule == PollRule::UntilSettled).then_some("adaptive");
        let orders = (self.judge_orders == JudgeOrders::Both).then_some("both orders");
        let words = [Some(size), adaptive, orders];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// What one earlier run or single pass needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WayUsage {
    /// Tokens; nothing unless all of its lanes reported theirs.
    pub tokens: Option<u64>,
    /// Millionths of a dollar; nothing unless all of its lanes reported theirs.
    pub micro_dollars: Option<u64>,
    /// How long it worked, without waits for people, in milliseconds.
    pub took_ms: Option<u64>,
}

/// An earlier design that came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EarlierDesign {
    /// What decides which later designs it is compared with.
    pub kind: DesignKind,
    /// What it needed.
    pub needed: WayUsage,
    /// Whether the panel changed what one agent had written.
    pub effect: PanelEffect,
}

/// Whether a panel changed what its chair had written alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PanelEffect {
    /// It accepted a finding about the plan, or chose another option than the synthesis.
    Changed,
    /// It did neither.
    Confirmed,
}

impl PanelEffect {
    /// Reads it from what a run came to. A person's later decisions do not count.
    pub fn of(results: &PhaseResults) -> Self {
        let accepted =
            |review: &VotedReview| outcome::to_revise(&review.findings, &review.voted).len();
        let has_finding = results.voted().is_some_and(|review| accepted(review) > 0);
        let endings = results.resolutions.iter().flatten().map(|entry| &entry.ending);
        let is_turned = |ending: &DecisionEnding| {
            matches!(ending, DecisionEnding::Voted { winner: Side::Antithesis, .. })
        };
        if has_finding || endings.into_iter().any(is_turned) {
            Self::Changed
        } else {
            Self::Confirmed
        }
    }
}

/// What one way to a plan probably needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WayEstimate {
    /// How many earlier runs of this way there are.
    pub runs: usize,
    /// Tokens of all lanes; nothing if no run reported them.
    pub tokens: Option<Range>,
    /// Millionths of a dollar.
    pub micro_dollars: Option<Range>,
    /// Milliseconds.
    pub took_ms: Option<Range>,
}

impl WayEstimate {
    fn of(needed: &[WayUsage]) -> Self {
        let range = |amounts: Vec<u64>| {
            Some(amounts).filter(|amounts| amounts.len() >= FEWEST_RUNS).and_then(Range::of)
        };
        Self {
            runs: needed.len(),
            tokens: range(needed.iter().filter_map(|needed| needed.tokens).collect()),
            micro_dollars: range(needed.iter().filter_map(|needed| needed.micro_dollars).collect()),
            took_ms: range(needed.iter().filter_map(|needed| needed.took_ms).collect()),
        }
    }
}

/// Which way earlier designs suggest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaySuggestion {
    /// A panel: it changed the plan in most runs.
    Panel,
    /// A single pass: the panel changed the plan in few runs.
    SinglePass,
    /// There are too few runs, or they say neither.
    Unknown,
}

impl WaySuggestion {
    /// Returns the word that users and programs read.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Panel => "panel",
            Self::SinglePass => "single-pass",
            Self::Unknown => "unknown",
        }
    }
}

/// An estimate of a design.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DesignEstimate {
    /// What such a panel probably needs.
    pub panel: WayEstimate,
    /// What a single pass probably needs.
    pub single: WayEstimate,
    /// How many earlier panels count for the suggestion, of any kind.
    pub panels: usize,
    /// In how many of them the panel changed the plan.
    pub changed: usize,
    /// What they suggest.
    pub suggestion: WaySuggestion,
}

/// Estimates a design from earlier designs and single passes of the project, the last ones first.
pub fn estimate(
    kind: DesignKind,
    designs: &[EarlierDesign],
    passes: &[WayUsage],
) -> DesignEstimate {
    let same = designs.iter().filter(|design| design.kind == kind).take(MOST_RUNS);
    let same: Vec<_> = same.map(|design| design.needed).collect();
    let passes: Vec<_> = passes.iter().take(MOST_RUNS).copied().collect();
    let counted = designs.iter().take(MOST_RUNS);
    let panels = counted.len();
    let changed = counted.filter(|design| design.effect == PanelEffect::Changed).count();
    // Two thirds on either side; what lies between says neither.
    let suggestion = if panels < FEWEST_RUNS {
        WaySuggestion::Unknown
    } else if changed * 3 >= panels * 2 {
        WaySuggestion::Panel
    } else if changed * 3 <= panels {
        WaySuggestion::SinglePass
    } else {
        WaySuggestion::Unknown
    };
    let (panel, single) = (WayEstimate::of(&same), WayEstimate::of(&passes));
    DesignEstimate { panel, single, panels, changed, suggestion }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REGULAR: DesignKind =
        DesignKind { quick: false, poll_rule: PollRule::All, judge_orders: JudgeOrders::One };
    const QUICK: DesignKind = DesignKind { quick: true, ..REGULAR };

    fn design(kind: DesignKind, tokens: Option<u64>, effect: PanelEffect) -> EarlierDesign {
        let needed = WayUsage { tokens, micro_dollars: None, took_ms: tokens };
        EarlierDesign { kind, needed, effect }
    }

    fn panels(changed: usize, confirmed: usize) -> WaySuggestion {
        let designs = [(changed, PanelEffect::Changed), (confirmed, PanelEffect::Confirmed)];
        let designs: Vec<_> = designs
            .into_iter()
            .flat_map(|(count, effect)| vec![design(REGULAR, Some(1), effect); count])
            .collect();
        let found = estimate(REGULAR, &designs, &[]);
        assert_eq!((found.panels, found.changed), (changed + confirmed, changed));
        found.suggestion
    }

    // P-390
    #[test]
    fn a_suggestion_needs_runs_that_agree() {
        assert_eq!(panels(0, 0), WaySuggestion::Unknown);
        assert_eq!(panels(2, 0), WaySuggestion::Unknown, "too few");
        assert_eq!(panels(0, 2), WaySuggestion::Unknown, "too few");
        assert_eq!(panels(3, 0), WaySuggestion::Panel);
        assert_eq!(panels(2, 1), WaySuggestion::Panel);
        assert_eq!(panels(1, 2), WaySuggestion::SinglePass);
        assert_eq!(panels(2, 2), WaySuggestion::Unknown, "half of them say neither");
        assert_eq!(panels(3, 2), WaySuggestion::Unknown);
    }

    // P-390
    #[test]
    fn only_runs_of_the_same_kind_that_report_everything_are_measured() {
        let changed = PanelEffect::Changed;
        let mut designs = vec![
            design(REGULAR, Some(300), changed),
            design(QUICK, Some(1), changed),
            design(REGULAR, Some(100), changed),
            design(REGULAR, None, changed),
        ];
        let found = estimate(REGULAR, &designs, &[]);
        assert_eq!((found.panel.runs, found.panel.tokens), (3, None), "one does not say");
        assert_eq!(found.suggestion, WaySuggestion::Panel);
        designs.push(design(REGULAR, Some(200), changed));
        let found = estimate(REGULAR, &designs, &[]);
        assert_eq!(found.panel.tokens, Some(Range { median: 200, p90: 300 }));
        assert_eq!(found.panel.micro_dollars, None);
        assert_eq!(found.single.runs, 0);
        assert_eq!(estimate(QUICK, &designs, &[]).panel.tokens, None);
    }

    #[test]
    fn a_kind_has_words() {
        assert_eq!(REGULAR.words(), "regular");
        let all = DesignKind {
            quick: true,
            poll_rule: PollRule::UntilSettled,
            judge_orders: JudgeOrders::Both,
        };
        assert_eq!(all.words(), "quick, adaptive, both orders");
    }
}
