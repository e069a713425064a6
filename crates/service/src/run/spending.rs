//! The cost of a run: by step, by seat, in all, and for each accepted finding.
//!
//! The ledger holds all lanes, including second requests and those that did not end. A rehearsal
//! costs nothing; its numbers were recorded with the answers.

use std::collections::BTreeMap;

use convoke_domain::design::event::{LaneEnd, LaneId};
use convoke_domain::design::forecast::COMPARED;
use convoke_domain::design::progress::Step;
use convoke_domain::design::timeline::{BarEnd, Timeline};
use convoke_domain::lane::ledger::{LaneEntry, Sum};
use convoke_engine::lane::agent_ref::AgentRef;
use serde::Serialize;

use super::matters::RunKind;

/// The cost of a run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpendingReport {
    /// Whether nothing was paid, because the answers were recorded.
    pub is_recorded: bool,
    /// How many lanes were recorded and cost nothing.
    pub recorded_lanes: u64,
    /// The cost of each step.
    pub steps: Vec<SpendingRow>,
    /// The cost of each seat.
    pub seats: Vec<SpendingRow>,
    /// The cost of the run.
    pub total: SpendingRow,
    /// How many findings were accepted.
    pub accepted_findings: u64,
    /// Tokens for each of them.
    pub tokens_per_accepted_finding: Option<u64>,
    /// Millionths of a dollar for each of them.
    pub micro_dollars_per_accepted_finding: Option<u64>,
}

/// A sum of lanes.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SpendingRow {
    /// The step or the seat.
    pub name: String,
    /// How many lanes there were.
    pub lanes: u64,
    /// How many reported no usage.
    pub without_usage: u64,
    /// How many of the others reported a part of their usage.
    pub partial_usage: u64,
    /// Tokens that models read.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// The cost, in millionths of a dollar.
    pub micro_dollars: Option<u64>,
    /// The sum of all that the lanes reported.
    #[serde(skip)]
    pub sum: Sum,
    /// The step, if it is the sum of one.
    #[serde(skip)]
    pub step: Option<Step>,
}

/// A lane: its step, its seat, and what it cost.
type Lane = (Option<Step>, String, Sum);

impl SpendingReport {
    /// Counts from the ledger.
    pub(super) fn paid(entries: &[LaneEntry], accepted: u64) -> Self {
        let mut recorded_lanes = 0;
        let lanes = entries.iter().filter_map(|entry| {
            let purpose = &entry.begun.purpose;
            let phase = purpose.phase.as_deref().filter(|phase| *phase != COMPARED)?;
            let seat = purpose.role.clone().unwrap_or_else(|| "-".to_owned());
            let mut sum = Sum::of(entry);
            if is_recorded(entry) {
                sum.without_usage = 0;
                recorded_lanes += 1;
            }
            Some((Step::parse(phase), seat, sum))
        });
        let lanes: Vec<_> = lanes.collect();
        Self { recorded_lanes, ..Self::of(&lanes, accepted) }
    }

    /// Sums the usage that the journal recorded with the answers.
    pub(super) fn recorded(ends: &[(&LaneId, &LaneEnd)], accepted: u64) -> Self {
        let lanes = ends.iter().map(|(id, end)| {
            let usage = end.usage.unwrap_or_default();
            let without_usage = u64::from(end.usage.is_none());
            (
                Some(id.step()),
                id.to_string(),
                Sum { lanes: 1, without_usage, usage, ..Sum::default() },
            )
        });
        Self::of(&lanes.collect::<Vec<_>>(), accepted).all_recorded()
    }

    /// Sums what the journal keeps of every lane that ended. Lanes without an end used something that
    /// no one knows.
    pub(super) fn journaled(timeline: &Timeline<'_>, accepted: u64, kind: RunKind) -> Self {
        let lanes = timeline.bars.iter().map(|bar| {
            let usage = match bar.end {
                BarEnd::Ended(_, end) => end.usage,
                BarEnd::Open | BarEnd::CutOff(_) => None,
            };
            let without_usage = u64::from(usage.is_none());
            let usage = usage.unwrap_or_default();
            let sum = Sum { lanes: 1, without_usage, usage, ..Sum::default() };
            (Some(bar.id.step()), bar.id.to_string(), sum)
        });
        let spending = Self::of(&lanes.collect::<Vec<_>>(), accepted);
        match kind {
            RunKind::Rehearsal => spending.all_recorded(),
            RunKind::Real => spending,
        }
    }

    /// Says that all answers were recorded ones, which cost nothing.
    fn all_recorded(self) -> Self {
        Self { is_recorded: true, recorded_lanes: self.total.lanes, ..self }
    }

    fn of(lanes: &[Lane], accepted: u64) -> Self {
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
            is_recorded: false,
            recorded_lanes: 0,
            steps: steps
                .into_iter()
                .map(|(step, sum)| SpendingRow { step, ..SpendingRow::new(name(step), sum) })
                .collect(),
            seats: seats
                .into_iter()
                .map(|(seat, sum)| SpendingRow::new(seat.to_owned(), sum))
                .collect(),
            total: SpendingRow::new("total".to_owned(), all),
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
}

/// Tells whether a lane was played from a recording.
fn is_recorded(entry: &LaneEntry) -> bool {
    matches!(AgentRef::parse(&entry.begun.agent), Some(AgentRef::Replay(_)))
}

impl SpendingRow {
    fn new(name: String, sum: Sum) -> Self {
        Self {
            name,
            lanes: sum.lanes,
            without_usage: sum.without_usage,
            partial_usage: sum.partial_usage,
            input_tokens: sum.usage.input,
            output_tokens: sum.usage.output,
            micro_dollars: sum.usage.micro_dollars,
            sum,
            step: None,
        }
    }
}
