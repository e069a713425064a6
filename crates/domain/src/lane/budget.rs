//! Budgets: how much lanes may spend, and whether another may start.

use std::fmt;

use super::counted::{UsageExtent, UsageScope};
use super::event::{LaneEvent, Usage};
use super::ledger::Sum;

/// The most that a lane or run may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneBudget {
    /// Tokens: all of the prompts and the answers, also those that came from a cache.
    Tokens(u64),
    /// Money, in millionths of a dollar. A client without a reported cost counts as zero.
    MicroDollars(u64),
}

/// A budget in the words of the person who set it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenBudget {
    text: String,
    budget: LaneBudget,
}

impl WrittenBudget {
    /// Parses a budget, and keeps the words.
    pub fn parse(text: &str) -> Result<Self, InvalidBudget> {
        Ok(Self { text: text.to_owned(), budget: LaneBudget::parse(text)? })
    }

    /// Returns the words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the amount that the words name.
    pub const fn budget(&self) -> LaneBudget {
        self.budget
    }
}

/// A text that does not name a budget.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it must be tokens such as 200k or 1.5M, or money such as $2.50")]
pub struct InvalidBudget;

/// A budget that is spent: no further lane may start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpentBudget {
    /// The most that may be spent.
    pub budget: LaneBudget,
    /// What was spent.
    pub sum: Sum,
    /// The budgets of runs that it started, in what the budget counts.
    pub given_away: u64,
}

/// How much of a budget was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpentAmount {
    /// The most that may be spent.
    pub budget: LaneBudget,
    /// What was spent, in what the budget counts.
    pub spent: u64,
    /// Whether that is only a part of it, because an agent reports no more.
    pub is_partial: bool,
    /// The budgets of runs that were started under it, which they may spend.
    pub given_away: u64,
}

impl SpentBudget {
    /// Returns the spent amount in what the budget counts.
    pub fn amount(&self) -> SpentAmount {
        let Self { budget, sum, given_away } = self;
        SpentAmount {
            budget: *budget,
            spent: budget.spent(sum.usage),
            is_partial: sum.partial_usage > 0,
            given_away: *given_away,
        }
    }
}

/// The lanes that share a budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetOwner {
    /// A lane's own, or its run's.
    Own,
    /// The budget of the day, for all lanes.
    Day,
}

impl BudgetOwner {
    /// Returns the word that programs read.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Day => "day",
        }
    }
}

/// A budget that lanes exceeded: the tokens in flight when it was reached had to be paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExceededBudget {
    /// The lanes that share it.
    pub whose: BudgetOwner,
    /// The most that may be spent.
    pub budget: LaneBudget,
    /// What was spent, in what the budget counts.
    pub spent: u64,
    /// Whether that is only a part of it, because an agent reports no more.
    pub is_partial: bool,
}

/// Watches a budget while a lane runs. A client that goes on after reporting that it exceeded the
/// budget is stopped; one that has ended its turn has already paid for its answer.
#[derive(Debug, Clone, Copy)]
pub struct BudgetMeter {
    /// The most that this lane and the others may spend together.
    pub budget: LaneBudget,
    /// The usage of other lanes under it.
    pub already: Sum,
    /// The budgets of runs that these lanes started, in what the budget counts. It grows while the lane
    /// runs.
    pub given_away: u64,
    /// The scope of the client's counters.
    pub counts: UsageScope,
    /// How much of its usage the agent reports.
    pub extent: UsageExtent,
    /// The counters' earlier values for the same session, if known.
    pub before: Option<Usage>,
    /// The lane's usage.
    pub spent: Usage,
    /// Whether the lane had to stop.
    pub stopped: bool,
}

impl BudgetMeter {
    /// Takes in an event, and tells whether the lane must stop now.
    pub fn stops_at(&mut self, event: &LaneEvent) -> bool {
        if let LaneEvent::Usage(said) = event {
            self.spent = self.counts.of_run(*said, self.before).unwrap_or_default();
        }
        let goes_on = !matches!(event, LaneEvent::Usage(_) | LaneEvent::Ended(_));
        self.stopped |= goes_on && self.budget.allows_beside(self.sum(), self.given_away).is_err();
        self.stopped
    }

    /// Returns the budget that was reached, if the lane was stopped for it.
    pub fn reached(&self) -> Option<SpentBudget> {
        let (budget, given_away) = (self.budget, self.given_away);
        self.stopped.then(|| SpentBudget { budget, sum: self.sum(), given_away })
    }

    fn sum(&self) -> Sum {
        let partial_usage = u64::from(self.extent == UsageExtent::LastStep);
        let own = Sum { lanes: 1, usage: self.spent, partial_usage, ..Sum::default() };
        self.already.plus(own)
    }
}

impl LaneBudget {
    /// Reads `200000`, `200k`, `1.5M tokens` or `$2.50`.
    pub fn parse(text: &str) -> Result<Self, InvalidBudget> {
        let text = text.trim();
        if let Some(dollars) = text.strip_prefix('$') {
            return scaled(dollars.trim_start(), 6).map(Self::MicroDollars).ok_or(InvalidBudget);
        }
        let number = ["tokens", "token"].iter().find_map(|unit| text.strip_suffix(unit));
        Self::tokens(number.map_or(text, str::trim_end)).ok_or(InvalidBudget)
    }

    fn tokens(number: &str) -> Option<Self> {
        let (number, digits) = match number.strip_suffix(['k', 'K', 'm', 'M']) {
            None => (number, 0),
            Some(rest) if number.ends_with(['k', 'K']) => (rest, 3),
            Some(rest) => (rest, 6),
        };
        scaled(number, digits).map(Self::Tokens)
    }

    /// Tells whether as much was spent as may be.
    pub fn is_reached(self, usage: Usage) -> bool {
        self.spent(usage) >= self.most()
    }

    /// Returns by how much more was spent than may be, if it was.
    pub fn excess(self, whose: BudgetOwner, sum: Sum) -> Option<ExceededBudget> {
        let (spent, is_partial) = (self.spent(sum.usage), sum.partial_usage > 0);
        (spent > self.most()).then_some(ExceededBudget { whose, budget: self, spent, is_partial })
    }

    /// Returns the spent amount in the limit's unit.
    pub fn spent(self, usage: Usage) -> u64 {
        match self {
            Self::Tokens(_) => usage.tokens(),
            Self::MicroDollars(_) => usage.micro_dollars.unwrap_or_default(),
        }
    }

    /// Returns the most that may be spent, in what it counts.
    pub const fn most(self) -> u64 {
        match self {
            Self::Tokens(most) | Self::MicroDollars(most) => most,
        }
    }

    /// Shows an amount of what it counts, without saying what that is.
    fn shown(self, amount: u64) -> String {
        match self {
            Self::Tokens(_) => amount.to_string(),
            Self::MicroDollars(_) => dollars(amount),
        }
    }

    /// Returns how many lanes ended without saying what they spent, in what the budget counts.
    pub const fn lanes_without_usage(self, sum: Sum) -> u64 {
        let unknown = sum.without_usage.saturating_sub(sum.running);
        match self {
            Self::Tokens(_) => unknown,
            Self::MicroDollars(_) => unknown.saturating_add(sum.without_money),
        }
    }

    /// Tells whether another lane may start after this usage.
    pub fn allows(self, sum: Sum) -> Result<(), SpentBudget> {
        self.allows_beside(sum, 0)
    }

    /// Tells whether another lane may start after this usage, if runs may spend so much more.
    pub fn allows_beside(self, sum: Sum, given_away: u64) -> Result<(), SpentBudget> {
        let taken = self.spent(sum.usage).saturating_add(given_away);
        let reached = SpentBudget { budget: self, sum, given_away };
        if taken >= self.most() { Err(reached) } else { Ok(()) }
    }
}

/// Reads a decimal number with at most so many digits behind its point, which it has then.
fn scaled(number: &str, digits: usize) -> Option<u64> {
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |text: &str| text.chars().all(|c| c.is_ascii_digit());
    let fits = is_number(whole) && is_number(part) && part.len() <= digits;
    if !fits || (whole.is_empty() && part.is_empty()) || (part.is_empty() && number.contains('.')) {
        return None;
    }
    format!("{whole}{part:0<digits$}").parse().ok()
}

impl fmt::Display for LaneBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tokens(1) => f.write_str("1 token"),
            Self::Tokens(tokens) => write!(f, "{tokens} tokens"),
            Self::MicroDollars(amount) => f.write_str(&dollars(*amount)),
        }
    }
}

impl fmt::Display for SpentBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.amount().fmt(f)
    }
}

impl fmt::Display for SpentAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spent = self.budget.shown(self.spent);
        let least = if self.is_partial { "at least " } else { "" };
        write!(f, "used {least}{spent} of {}", self.budget)?;
        match self.given_away {
            0 => Ok(()),
            given => write!(f, ", and gave {} to runs that it started", self.budget.shown(given)),
        }
    }
}

impl fmt::Display for ExceededBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whose = match self.whose {
            BudgetOwner::Own => "its",
            BudgetOwner::Day => "the day's",
        };
        let least = if self.is_partial { "at least " } else { "" };
        let spent = self.budget.shown(self.spent);
        write!(f, "over {whose} budget: {least}{spent} of {}", self.budget)
    }
}

/// Shows millionths of a dollar: in cents, and amounts below a dollar with all their digits.
pub fn dollars(micro: u64) -> String {
    if micro >= 1_000_000 {
        let cents = micro.saturating_add(5000) / 10_000;
        return format!("${}.{:02}", cents / 100, cents % 100);
    }
    let digits = format!("{micro:06}");
    format!("$0.{:0<2}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::counted::CounterScope;
    use super::*;

    #[test]
    fn caps_are_tokens_or_money() {
        for (text, expected) in [
            ("200", LaneBudget::Tokens(200)),
            ("200k", LaneBudget::Tokens(200_000)),
            (" 200K ", LaneBudget::Tokens(200_000)),
            ("1.5M tokens", LaneBudget::Tokens(1_500_000)),
            ("1 token", LaneBudget::Tokens(1)),
            (".5k", LaneBudget::Tokens(500)),
            ("0", LaneBudget::Tokens(0)),
            ("$2.50", LaneBudget::MicroDollars(2_500_000)),
            ("$ 1", LaneBudget::MicroDollars(1_000_000)),
            ("$0.000001", LaneBudget::MicroDollars(1)),
        ] {
            assert_eq!(LaneBudget::parse(text), Ok(expected), "{text}");
        }
        let nonsense = [
            "",
            "k",
            "-1",
            "+1",
            "1.5",
            "1.",
            "1.2.3k",
            "$",
            "$-1",
            "$0.0000001",
            "1,000",
            "2k k",
            "1e9",
            "99999999999999999999",
            "$99999999999999999",
            "2 dollars",
            "tokens",
            "१",
        ];
        for text in nonsense {
            assert_eq!(LaneBudget::parse(text), Err(InvalidBudget), "{text}");
        }
    }

    // A budget that is reached starts nothing more.
    #[test]
    fn a_cap_that_is_reached_allows_nothing_more() {
        let usage = |input, output, micro_dollars| Usage {
            input,
            cached: input,
            output,
            micro_dollars,
            ..Usage::default()
        };
        let sum = |usage| Sum { lanes: 1, usage, ..Sum::default() };
        for (budget, usage, allowed) in [
            ("100", usage(60, 39, None), true),
            ("100", usage(60, 40, None), false),
            ("0", usage(0, 0, None), false),
            ("$1", usage(60, 40, None), true),
            ("$1", usage(60, 40, Some(999_999)), true),
            ("$1", usage(60, 40, Some(1_000_000)), false),
        ] {
            let budget = LaneBudget::parse(budget).unwrap();
            assert_eq!(budget.allows(sum(usage)).is_ok(), allowed, "{budget} {usage:?}");
        }
        let reached = LaneBudget::Tokens(100).allows(sum(usage(60, 41, None))).unwrap_err();
        assert_eq!(reached.to_string(), "used 101 of 100 tokens");
        let reached = LaneBudget::MicroDollars(5000).allows(sum(usage(1, 1, Some(3_456_789))));
        assert_eq!(reached.unwrap_err().to_string(), "used $3.46 of $0.005");
    }

    // A running lane can still report its usage.
    #[test]
    fn a_cap_knows_what_it_cannot_see() {
        let sum =
            Sum { lanes: 9, without_usage: 3, running: 1, without_money: 4, ..Sum::default() };
        assert_eq!(
            [LaneBudget::Tokens(1), LaneBudget::MicroDollars(1)]
                .map(|budget| budget.lanes_without_usage(sum)),
            [2, 6]
        );
    }

    #[test]
    fn usage_beyond_a_budget_is_reported() {
        let usage =
            Usage { input: 60, output: 41, micro_dollars: Some(370_000), ..Usage::default() };
        let told = |budget: &str, whose| {
            let sum = Sum { lanes: 1, usage, ..Sum::default() };
            Some(LaneBudget::parse(budget).unwrap().excess(whose, sum)?.to_string())
        };
        let own = |budget| told(budget, BudgetOwner::Own);
        assert_eq!(own("100").as_deref(), Some("over its budget: 101 of 100 tokens"));
        assert_eq!(own("$0.25").as_deref(), Some("over its budget: $0.37 of $0.25"));
        assert_eq!(told("$0", BudgetOwner::Day).unwrap(), "over the day's budget: $0.37 of $0.00");
        assert_eq!((own("101"), own("$0.37")), (None, None), "all of it may be spent");
    }

    // A lane that reports a part of its usage used more than the budget can count.
    #[test]
    fn a_figure_that_is_not_all_is_called_the_least() {
        let usage = Usage { input: 60, output: 41, ..Usage::default() };
        let sum = Sum { lanes: 2, partial_usage: 1, usage, ..Sum::default() };
        let budget = LaneBudget::Tokens(100);
        let reached = budget.allows(sum).unwrap_err();
        assert_eq!(reached.to_string(), "used at least 101 of 100 tokens");
        let over = budget.excess(BudgetOwner::Own, sum).unwrap();
        assert_eq!(over.to_string(), "over its budget: at least 101 of 100 tokens");
    }

    #[test]
    fn a_client_that_goes_on_over_its_budget_is_stopped() {
        use super::super::event::TurnEnd;
        let used = |input| LaneEvent::Usage(Usage { input, ..Usage::default() });
        let (text, end) = (
            LaneEvent::Text("on".to_owned()),
            LaneEvent::Ended(TurnEnd { answer: None, failure: None }),
        );
        let session = UsageScope { tokens: CounterScope::Session, money: CounterScope::Session };
        let meter = BudgetMeter {
            budget: LaneBudget::Tokens(100),
            already: Sum { usage: Usage { input: 50, ..Usage::default() }, ..Sum::default() },
            counts: session,
            given_away: 0,
            extent: UsageExtent::Whole,
            before: Some(Usage { input: 1000, ..Usage::default() }),
            spent: Usage::default(),
            stopped: false,
        };
        let play = |mut meter: BudgetMeter, events: &[&LaneEvent]| {
            let at = events.iter().position(|event| meter.stops_at(event));
            (at, meter.reached().map(|reached| reached.sum.usage.input))
        };
        assert_eq!(play(meter, &[&text, &used(1049), &text]), (None, None));
        assert_eq!(play(meter, &[&used(1051), &text, &text]), (Some(1), Some(101)));
        assert_eq!(play(meter, &[&used(1051), &end]), (None, None), "it has paid for its answer");
        let unknown = BudgetMeter { before: None, ..meter };
        assert_eq!(play(unknown, &[&used(1051), &text]), (None, None));
        // What it gave to other runs is theirs to spend.
        let giver = BudgetMeter { given_away: 20, ..meter };
        assert_eq!(play(giver, &[&used(1029), &text, &end]), (None, None));
        assert_eq!(play(giver, &[&used(1030), &text, &end]), (Some(1), Some(80)));
        let mut stopped = giver;
        assert!([&used(1030), &text].map(|event| stopped.stops_at(event))[1]);
        let words = "used 80 of 100 tokens, and gave 20 to runs that it started";
        assert_eq!(stopped.reached().unwrap().to_string(), words);
    }

    proptest! {
        #[test]
        fn any_text_is_a_cap_or_none(text in "\\PC*") {
            drop(LaneBudget::parse(&text));
        }

        #[test]
        fn numbers_are_read_as_they_stand(number in any::<u64>()) {
            prop_assert_eq!(LaneBudget::parse(&number.to_string()), Ok(LaneBudget::Tokens(number)));
        }

        #[test]
        fn money_is_shown_as_it_is_read(micro in 0_u64..1_000_000) {
            prop_assert_eq!(LaneBudget::parse(&dollars(micro)), Ok(LaneBudget::MicroDollars(micro)));
        }
    }
}
