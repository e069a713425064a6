//! What a run has cost: by step, by seat, in all, and for each finding that was accepted.
//!
//! The ledger knows all lanes, also those that were asked twice or did not come to an end. Nothing
//! was paid for a rehearsal; there the numbers are those that were recorded with the answers.

use std::collections::BTreeMap;
use std::fmt::Write;

use convoke_domain::design::event::{LaneEnd, LaneId};
use convoke_domain::design::forecast::COMPARED;
use convoke_domain::design::progress::Step;
use convoke_domain::lane::cap::dollars;
use convoke_domain::lane::ledger::{LaneEntry, Sum};
use convoke_engine::lane::agent_ref::AgentRef;
use serde::Serialize;

use super::render;
use crate::cli::design::cost::amount;

/// What a run has cost.
#[derive(Serialize)]
pub(super) struct Spending {
    /// Whether nothing was paid, because the answers were recorded.
    is_recorded: bool,
    /// How many lanes were recorded and cost nothing.
    recorded_lanes: u64,
    steps: Vec<Row>,
    seats: Vec<Row>,
    total: Row,
    accepted_findings: u64,
    tokens_per_accepted_finding: Option<u64>,
    micro_dollars_per_accepted_finding: Option<u64>,
}

#[derive(Serialize)]
struct Row {
    name: String,
    lanes: u64,
    /// How many could not tell what they spent.
    uncounted: u64,
    input_tokens: u64,
    output_tokens: u64,
    micro_dollars: Option<u64>,
    #[serde(skip)]
    sum: Sum,
}

/// A lane: its step, its seat, and what it cost.
type Lane = (Option<Step>, String, Sum);

impl Spending {
    /// Counts from the ledger.
    pub(super) fn paid(entries: &[LaneEntry], accepted: u64) -> Self {
        let mut recorded_lanes = 0;
        let lanes = entries.iter().filter_map(|entry| {
            let purpose = &entry.begun.purpose;
            let phase = purpose.phase.as_deref().filter(|phase| *phase != COMPARED)?;
            let seat = purpose.role.clone().unwrap_or_else(|| "-".to_owned());
            let mut sum = Sum::of(entry);
            if is_recorded(entry) {
                sum.uncounted = 0;
                recorded_lanes += 1;
            }
            Some((Step::parse(phase), seat, sum))
        });
        let lanes: Vec<_> = lanes.collect();
        Self { recorded_lanes, ..Self::of(&lanes, accepted, false) }
    }

    /// Counts from the journal what was recorded.
    pub(super) fn recorded(ends: &[(&LaneId, &LaneEnd)], accepted: u64) -> Self {
        let lanes = ends.iter().map(|(id, end)| {
            let usage = end.usage.unwrap_or_default();
            let uncounted = u64::from(end.usage.is_none());
            (Some(id.step()), id.to_string(), Sum { lanes: 1, uncounted, usage, ..Sum::default() })
        });
        Self::of(&lanes.collect::<Vec<_>>(), accepted, true)
    }

    fn of(lanes: &[Lane], accepted: u64, is_recorded: bool) -> Self {
        let mut steps: BTreeMap<Option<Step>, Sum> = BTreeMap::new();
        let mut seats: BTreeMap<&str, Sum> = BTreeMap::new();
        for (step, seat, sum) in lanes {
            for sums in [steps.entry(*step).or_default(), seats.entry(seat).or_default()] {
                *sums = sums.plus(*sum);
            }
        }
        let all = lanes.iter().map(|(.., sum)| *sum).fold(Sum::default(), Sum::plus);
        let name = |step: Option<Step>| {
            step.map_or("-".to_owned(), |step| format!("{}: {}", step.number(), step.name()))
        };
        Self {
            is_recorded,
            recorded_lanes: if is_recorded { all.lanes } else { 0 },
            steps: steps.into_iter().map(|(step, sum)| Row::new(name(step), sum)).collect(),
            seats: seats.into_iter().map(|(seat, sum)| Row::new(seat.to_owned(), sum)).collect(),
            total: Row::new("total".to_owned(), all),
            accepted_findings: accepted,
            tokens_per_accepted_finding: all.usage.tokens().checked_div(accepted),
            micro_dollars_per_accepted_finding: all
                .usage
                .micro_dollars
                .and_then(|money| money.checked_div(accepted)),
        }
    }

    /// Returns how many lanes there were, and what they spent.
    pub(super) const fn total(&self) -> Sum {
        self.total.sum
    }

    /// Shows the sums.
    pub(super) fn text(&self) -> String {
        let table = |head: &str, rows: &[Row]| {
            let rows = rows.iter().chain([&self.total]).map(Row::cells);
            render([head, "lanes", "in", "out", "cost"], rows, &[1, 2, 3, 4])
        };
        let Sum { uncounted, usage, .. } = self.total.sum;
        let spent = if self.is_recorded { "recorded" } else { "spent" };
        let mut text = format!(
            "\n{}\n{}\n{spent} in all: {}",
            table("step", &self.steps),
            table("seat", &self.seats),
            amount(&usage)
        );
        if let Some(tokens) = self.tokens_per_accepted_finding {
            let money = self.micro_dollars_per_accepted_finding;
            let money = money.map_or_else(String::new, |money| format!(" ({})", dollars(money)));
            let findings = self.accepted_findings;
            write!(text, "; {tokens} tokens{money} for each of {findings} accepted findings").ok();
        }
        let lanes = |count: u64| format!("{count} lane{}", if count == 1 { "" } else { "s" });
        if self.recorded_lanes > 0 && !self.is_recorded {
            write!(text, "; {} recorded, for nothing", lanes(self.recorded_lanes)).ok();
        }
        if uncounted > 0 && !self.is_recorded {
            write!(text, "; {} cannot tell what was spent", lanes(uncounted)).ok();
        }
        text
    }
}

/// Tells whether a lane was played from a recording.
fn is_recorded(entry: &LaneEntry) -> bool {
    matches!(AgentRef::parse(&entry.begun.agent), Some(AgentRef::Replay(_)))
}

impl Row {
    fn new(name: String, sum: Sum) -> Self {
        Self {
            name,
            lanes: sum.lanes,
            uncounted: sum.uncounted,
            input_tokens: sum.usage.input,
            output_tokens: sum.usage.output,
            micro_dollars: sum.usage.micro_dollars,
            sum,
        }
    }

    fn cells(&self) -> [String; 5] {
        [
            self.name.clone(),
            self.lanes.to_string(),
            self.input_tokens.to_string(),
            self.output_tokens.to_string(),
            self.micro_dollars.map_or("-".to_owned(), dollars),
        ]
    }
}
