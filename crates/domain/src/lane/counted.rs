//! The scope of a client's counters, and the usage of one run of a session by them.

use super::agent_word::AgentWord;
use super::event::Usage;
use crate::client::Client;

/// The scope of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CounterScope {
    /// This run alone.
    Run,
    /// The whole session, with the runs before this one.
    Session,
}

/// The scope of a client's counters when a session is resumed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsageScope {
    /// The scope of the token counters.
    pub tokens: CounterScope,
    /// The scope of the price.
    pub money: CounterScope,
}

/// How much of its usage an agent reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageExtent {
    /// All of it, or nothing.
    Whole,
    /// That of its last step, a part of it.
    LastStep,
}

impl UsageExtent {
    /// Returns how much an agent reports, by the name that the ledger has.
    pub fn of(agent: &str) -> Self {
        let AgentWord::Acp(name) = AgentWord::parse(agent).here() else { return Self::Whole };
        if Client::LAST_STEP_ALONE.iter().any(|client| client.name() == name) {
            Self::LastStep
        } else {
            Self::Whole
        }
    }
}

impl UsageScope {
    /// Both count this run alone.
    pub const RUN: Self = Self { tokens: CounterScope::Run, money: CounterScope::Run };

    /// Returns what this run spent, from the client's counters now and those last recorded for the
    /// same session: none for a new session, and `None` if another program used the session in
    /// between, because a counter of the whole session then tells nothing about this run.
    #[must_use]
    pub fn of_run(self, said: Usage, before: Option<Usage>) -> Option<Usage> {
        let tokens = match (self.tokens, before) {
            (CounterScope::Run, _) => said,
            (CounterScope::Session, Some(before)) => said.since(before),
            (CounterScope::Session, None) => return None,
        };
        let then = before.map(|before| before.micro_dollars.unwrap_or_default());
        let micro_dollars = match (self.money, said.micro_dollars, then) {
            (CounterScope::Session, Some(_), None) => None,
            // A counter that runs backwards began anew.
            (CounterScope::Session, Some(now), Some(then)) if now >= then => Some(now - then),
            (_, now, _) => now,
        };
        Some(Usage { micro_dollars, ..tokens })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SESSION: UsageScope =
        UsageScope { tokens: CounterScope::Session, money: CounterScope::Session };

    fn usage() -> impl Strategy<Value = Usage> {
        let money = prop::option::of(0_u64..1000);
        (0_u64..1000, 0_u64..1000, 0_u64..1000, 0_u64..1000, money).prop_map(
            |(input, cached, output, reasoning, micro_dollars)| Usage {
                input,
                cached,
                output,
                reasoning,
                micro_dollars,
            },
        )
    }

    #[test]
    fn an_agent_that_reports_its_last_step_is_known_on_every_machine() {
        for (agent, expected) in [
            ("acp:opencode", UsageExtent::LastStep),
            ("fleet:acp:opencode", UsageExtent::LastStep),
            ("fleet:acp:opencode@app", UsageExtent::LastStep),
            ("opencode", UsageExtent::Whole),
            ("acp:codex", UsageExtent::Whole),
            ("http:opencode", UsageExtent::Whole),
        ] {
            assert_eq!(UsageExtent::of(agent), expected, "{agent}");
        }
    }

    #[test]
    fn a_session_used_elsewhere_tells_nothing_of_this_run() {
        let said = Usage { input: 10, output: 5, micro_dollars: Some(7), ..Usage::default() };
        assert_eq!(SESSION.of_run(said, None), None);
        let money = UsageScope { tokens: CounterScope::Run, ..SESSION };
        assert_eq!(money.of_run(said, None), Some(Usage { micro_dollars: None, ..said }));
        assert_eq!(UsageScope::RUN.of_run(said, None), Some(said));
    }

    proptest! {
        // The usages of a session's runs add up to its counter at the end.
        #[test]
        fn differences_add_up(runs in prop::collection::vec(usage(), 1..8)) {
            let zero = Usage { micro_dollars: Some(0), ..Usage::default() };
            let (mut counter, mut sum) = (zero, zero);
            for run in runs {
                let before = counter;
                counter = counter.plus(run);
                sum = sum.plus(SESSION.of_run(counter, Some(before)).unwrap());
            }
            prop_assert_eq!(sum, counter);
        }

        // For any counters, no run's usage is negative or greater than the counters.
        #[test]
        fn nothing_is_spent_twice_or_given_back(said in usage(), before in prop::option::of(usage())) {
            if let Some(of_run) = SESSION.of_run(said, before) {
                prop_assert!(of_run.input <= said.input && of_run.output <= said.output);
                prop_assert!(of_run.cached <= said.cached && of_run.reasoning <= said.reasoning);
                prop_assert!(of_run.micro_dollars <= said.micro_dollars);
                let began_anew = before.is_some_and(|earlier| said.input < earlier.input);
                prop_assert!(!began_anew || of_run.input == said.input);
            }
        }
    }
}
