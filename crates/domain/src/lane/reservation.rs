//! The part of a budget that running lanes will probably use before they end.

use super::budget::{LaneBudget, SpentBudget};
use super::budget_stop::BudgetStop;
use super::forecast::usage_of_last;
use super::ledger::{LaneEntry, Sum};

/// How many earlier lanes a reservation is made of.
const LAST: usize = 20;

/// A budget of which nothing is left for another lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenBudget {
    /// The budget, and the spent part of it.
    pub spent: SpentBudget,
    /// How many running lanes take the rest; 0 if there is no rest.
    pub running: usize,
}

impl TakenBudget {
    /// Returns why no other lane may begin under a budget; `None` if one may.
    ///
    /// A running lane takes what nine of ten earlier lanes of its agent and role needed, else of its
    /// agent. One of an agent that answered before and reported no amount takes nothing: its end adds
    /// nothing either. One of an agent without earlier lanes takes half of what the others leave, so that
    /// a few can run in parallel, but no number of them without end.
    pub fn find(
        budget: LaneBudget,
        sum: Sum,
        running: &[&LaneEntry],
        earlier: &[LaneEntry],
    ) -> Option<Self> {
        if let Err(spent) = budget.allows(sum) {
            return Some(Self { spent, running: 0 });
        }
        let expected: Vec<_> =
            running.iter().map(|lane| expected_usage(budget, lane, earlier)).collect();
        let rest = rest_beside(budget, sum, &expected);
        let spent = SpentBudget { budget, sum, given_away: 0 };
        (rest == 0).then_some(Self { spent, running: running.len() })
    }
}

/// Returns what is left of a budget beside running lanes. One that reports its usage takes as much of it,
/// and any other what [`TakenBudget::find`] says.
pub fn left_beside(
    budget: LaneBudget,
    sum: Sum,
    running: &[(&LaneEntry, Option<u64>)],
    earlier: &[LaneEntry],
) -> u64 {
    let taken = |(lane, reported): &(&LaneEntry, Option<u64>)| {
        reported.or_else(|| expected_usage(budget, lane, earlier))
    };
    rest_beside(budget, sum, &running.iter().map(taken).collect::<Vec<_>>())
}

fn rest_beside(budget: LaneBudget, sum: Sum, running: &[Option<u64>]) -> u64 {
    let mut rest = budget.most().saturating_sub(budget.spent(sum.usage));
    for amount in running.iter().flatten() {
        rest = rest.saturating_sub(*amount);
    }
    for _ in running.iter().filter(|amount| amount.is_none()) {
        rest /= 2;
    }
    rest
}

/// Returns what a running lane will probably use, in what the budget counts; `None` if unknown.
fn expected_usage(budget: LaneBudget, lane: &LaneEntry, earlier: &[LaneEntry]) -> Option<u64> {
    let begun = &lane.begun;
    let of_agent: Vec<_> =
        earlier.iter().filter(|other| other.begun.agent == begun.agent).collect();
    let has_role = |other: &&LaneEntry| other.begun.purpose.role == begun.purpose.role;
    let of_role: Vec<_> = of_agent.iter().copied().filter(has_role).collect();
    let usual = |lanes: &[&LaneEntry]| {
        // What failed lanes cost counts too: a budget must hold for them as well.
        let found = usage_of_last(lanes, LAST)?;
        match budget {
            LaneBudget::Tokens(_) => Some(found.tokens.p90),
            LaneBudget::MicroDollars(_) => found.micro_dollars.map(|range| range.p90),
        }
    };
    let reports_nothing = || of_agent.iter().any(|other| other.has_answered()).then_some(0);
    usual(&of_role).or_else(|| usual(&of_agent)).or_else(reports_nothing)
}

impl From<&TakenBudget> for BudgetStop {
    fn from(taken: &TakenBudget) -> Self {
        Self::Day { spent: taken.spent.amount(), running: taken.running }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::event::Usage;
    use super::super::ledger::tests::entry;
    use super::*;

    fn running(agent: &str, role: Option<&str>) -> LaneEntry {
        let mut lane = entry(1, agent, None);
        lane.begun.purpose.role = role.map(str::to_owned);
        lane.over = None;
        lane
    }

    fn ended(agent: &str, role: Option<&str>, tokens: u64, money: Option<u64>) -> LaneEntry {
        let usage = Usage { input: tokens, micro_dollars: money, ..Usage::default() };
        let mut lane = entry(1, agent, Some(usage));
        lane.begun.purpose.role = role.map(str::to_owned);
        lane
    }

    /// Returns how many lanes of one kind begin, one after the other, before one is refused.
    fn admitted(budget: LaneBudget, lane: &LaneEntry, earlier: &[LaneEntry]) -> usize {
        let mut running = Vec::new();
        while running.len() < 100
            && TakenBudget::find(budget, Sum::default(), &running, earlier).is_none()
        {
            running.push(lane);
        }
        running.len()
    }

    #[test]
    fn a_running_lane_takes_what_earlier_ones_needed() {
        let judge = running("a", Some("judge"));
        let tokens = LaneBudget::Tokens(100);
        let money = LaneBudget::MicroDollars(100);
        let same_role = [ended("a", Some("judge"), 50, Some(20)), ended("a", None, 1, Some(1))];
        assert_eq!(admitted(tokens, &judge, &same_role), 2);
        assert_eq!(admitted(money, &judge, &same_role), 5);
        let other_role = [ended("a", None, 25, None), ended("b", Some("judge"), 1, Some(1))];
        assert_eq!(admitted(tokens, &judge, &other_role), 4, "by the agent's other lanes");
        assert_eq!(admitted(money, &judge, &other_role), 100, "it never reports money");
    }

    #[test]
    fn lanes_of_an_unknown_agent_share_a_budget_and_have_an_end() {
        let lane = running("a", None);
        assert_eq!(admitted(LaneBudget::Tokens(1), &lane, &[]), 1, "the last token");
        assert_eq!(admitted(LaneBudget::MicroDollars(10_000_000), &lane, &[]), 24);
        let mut lost = entry(1, "a", None);
        lost.over.as_mut().unwrap().outcome = None;
        assert_eq!(
            admitted(LaneBudget::Tokens(1), &lane, &[lost]),
            1,
            "it may have used any amount"
        );
    }

    #[test]
    fn what_a_running_lane_reports_is_not_left() {
        let (lane, budget) = (running("a", None), LaneBudget::Tokens(100));
        let left = |reported, earlier: &[LaneEntry]| {
            left_beside(budget, Sum::default(), &[(&lane, reported)], earlier)
        };
        assert_eq!(left(Some(90), &[]), 10);
        assert_eq!(left(Some(190), &[]), 0);
        assert_eq!(left(None, &[ended("a", None, 70, None)]), 30, "what lanes like it needed");
        assert_eq!(left(None, &[]), 50, "of an agent that Convoke knows nothing of");
        assert_eq!(left_beside(budget, Sum::default(), &[], &[]), 100);
    }

    #[test]
    fn a_refusal_says_who_takes_the_budget() {
        let lane = running("a", None);
        let tokens = LaneBudget::Tokens(2);
        let find = |used, running: &[&LaneEntry]| {
            let usage = Usage { input: used, ..Usage::default() };
            let sum = Sum { usage, ..Sum::default() };
            TakenBudget::find(tokens, sum, running, &[])
                .map(|taken| BudgetStop::from(&taken).to_string())
        };
        assert_eq!(find(1, &[]), None, "the rest may be used");
        assert_eq!(find(2, &[&lane]).unwrap(), "the day's budget is spent: used 2 of 2 tokens");
        let rest = "may need the rest of the day's budget: used 1 of 2 tokens";
        assert_eq!(find(1, &[&lane]).unwrap(), format!("a running lane {rest}"));
        assert_eq!(find(1, &[&lane; 2]).unwrap(), format!("2 running lanes {rest}"));
    }

    proptest! {
        // Without a running lane, a budget allows what it always allowed.
        #[test]
        fn alone_a_lane_may_use_the_rest(most in any::<u64>(), used in any::<u64>()) {
            let budget = LaneBudget::Tokens(most);
            let usage = Usage { input: used, ..Usage::default() };
            let sum = Sum { usage, ..Sum::default() };
            let taken = TakenBudget::find(budget, sum, &[], &[]);
            prop_assert_eq!(taken.is_none(), budget.allows(sum).is_ok());
        }
    }
}
