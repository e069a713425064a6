//! The lane that a process runs in: an agent that starts another agent spends its own budget.

use super::budget::LaneBudget;

/// How many lanes may run inside one another.
pub const MOST_NESTED: u32 = 3;

/// The lane that a process runs in, as a variable of its environment says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SurroundingLane {
    /// How many lanes are around the process: 1 in a lane that a person started.
    pub hops: u32,
    /// The budget of the innermost one.
    pub budget: Option<LaneBudget>,
    /// The run whose lanes share that budget.
    pub run: Option<String>,
}

/// Why a lane may start no other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NestingRefusal {
    /// There are too many around it.
    #[error("a lane inside {0} others may start no further agent")]
    TooDeep(u32),
    /// One budget counts tokens and the other money.
    #[error("the budget of {asked} cannot be compared with that of the lane around it: {around}")]
    OtherUnit {
        /// The budget that the call names.
        asked: LaneBudget,
        /// The budget around it.
        around: LaneBudget,
    },
}

impl SurroundingLane {
    /// Reads the variable's value: `PID HOPS BUDGET RUN`. A value without hops is of one lane.
    pub fn parse(mark: &str) -> Self {
        let mut words = mark.splitn(4, ' ').skip(1);
        let hops = words.next().and_then(|word| word.parse().ok()).unwrap_or(1).max(1);
        let budget = words.next().and_then(budget);
        let run = words.next().filter(|run| !run.is_empty()).map(str::to_owned);
        Self { hops, budget, run }
    }

    /// Returns what a process finds behind the number of the supervising one: `HOPS BUDGET RUN`.
    pub fn words(&self) -> String {
        let budget = match self.budget {
            None => "-".to_owned(),
            Some(LaneBudget::Tokens(most)) => format!("tokens={most}"),
            Some(LaneBudget::MicroDollars(most)) => format!("microdollars={most}"),
        };
        let run = self.run.as_deref().unwrap_or_default();
        let run: String = run.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        format!("{} {budget} {run}", self.hops)
    }

    /// Returns the budget of a lane that is started in this one: the smaller of both.
    pub fn inherit(&self, asked: Option<LaneBudget>) -> Result<Option<LaneBudget>, NestingRefusal> {
        if self.hops >= MOST_NESTED {
            return Err(NestingRefusal::TooDeep(self.hops));
        }
        match (asked, self.budget) {
            (Some(LaneBudget::Tokens(asked)), Some(LaneBudget::Tokens(around))) => {
                Ok(Some(LaneBudget::Tokens(asked.min(around))))
            }
            (Some(LaneBudget::MicroDollars(asked)), Some(LaneBudget::MicroDollars(around))) => {
                Ok(Some(LaneBudget::MicroDollars(asked.min(around))))
            }
            (Some(asked), Some(around)) => Err(NestingRefusal::OtherUnit { asked, around }),
            (one, None) | (None, one) => Ok(one),
        }
    }
}

fn budget(word: &str) -> Option<LaneBudget> {
    let (unit, most) = word.split_once('=')?;
    let most = most.parse().ok()?;
    match unit {
        "tokens" => Some(LaneBudget::Tokens(most)),
        "microdollars" => Some(LaneBudget::MicroDollars(most)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_reads_its_lanes_mark() {
        for (budget, run) in [
            (None, None),
            (Some(LaneBudget::Tokens(200_000)), Some("lane 2026-01-01 77")),
            (Some(LaneBudget::MicroDollars(5)), Some("20260101-000000-abcde")),
        ] {
            let lane = SurroundingLane { hops: 2, budget, run: run.map(str::to_owned) };
            assert_eq!(SurroundingLane::parse(&format!("4711 {}", lane.words())), lane);
        }
        // Every other value is still a lane's.
        for mark in ["1", "", "4711 x y z", "4711 0 tokens=-1 ", "4711 1 gold=3 "] {
            let read = SurroundingLane::parse(mark);
            assert_eq!((read.hops, read.budget), (1, None), "{mark}");
        }
    }

    #[test]
    fn an_agent_spends_no_more_through_another_agent() {
        let around = |hops, budget| SurroundingLane { hops, budget, run: None };
        let (small, large) = (LaneBudget::Tokens(10), LaneBudget::Tokens(20));
        let within = around(1, Some(small));
        assert_eq!(within.inherit(Some(large)), Ok(Some(small)));
        assert_eq!(within.inherit(None), Ok(Some(small)));
        assert_eq!(around(1, Some(large)).inherit(Some(small)), Ok(Some(small)));
        assert_eq!(around(1, None).inherit(Some(large)), Ok(Some(large)));
        let asked = LaneBudget::MicroDollars(1);
        let refused = NestingRefusal::OtherUnit { asked, around: small };
        assert_eq!(within.inherit(Some(asked)), Err(refused));
        assert!(around(MOST_NESTED - 1, None).inherit(None).is_ok());
        assert!(around(MOST_NESTED, None).inherit(None).is_err());
    }
}
