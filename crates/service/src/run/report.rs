//! Reports on runs, for programs.

use std::collections::BTreeMap;

use convoke_domain::design::event::{Event, Kept, LaneEnd, LaneId, Settings};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::progress::Step;
use convoke_domain::design::render::Line;
use convoke_domain::design::seat::{Holder, Panel};
use convoke_domain::design::seat_name::{lane_holder, lane_seat};
use convoke_domain::run::RunState;
use convoke_engine::design::codec::decode;
use convoke_store::journal::{Entry, JournalStore, Run};
use serde::Serialize;

use super::evidence::RunEvidenceReport;
use super::matters::MattersReport;
use super::results::ResultsReport;
use super::spending::SpendingReport;
use super::state::{JournalStateReport, RunStateReport};
use super::timeline::RunTimelineReport;
use crate::failure::Failure;
use crate::workspace::refused;

/// A run in the list of a project's runs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunSummaryReport {
    /// The run's id.
    pub run: String,
    /// `design`, or `fan` for a fan-out.
    pub kind: &'static str,
    /// `running`, `stopped` or `ended`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub state: RunStateReport,
    /// Whether there were warnings; unknown before the end, and of runs of earlier versions.
    pub degraded: Option<bool>,
    /// How many warnings there were.
    pub warnings: Option<usize>,
    /// How many matters neither the panel nor a person decided.
    pub undecided: Option<usize>,
    /// When it began.
    pub started_at: String,
    /// The first line of the requested feature, or of a fan-out's prompt.
    pub feature: String,
}

impl RunSummaryReport {
    /// Tells whether it is a fan-out.
    pub(crate) fn is_fan(&self) -> bool {
        self.kind == "fan"
    }

    /// Tells whether it is a design that completed.
    pub(crate) fn is_ended_design(&self) -> bool {
        self.kind == "design" && self.state == RunStateReport::Ended
    }

    /// Returns the state of the run: `ended, DEGRADED, 2 undecided`.
    pub fn standing(&self) -> String {
        let degraded = if self.degraded == Some(true) { ", DEGRADED" } else { "" };
        let undecided = self.undecided.filter(|count| *count > 0);
        let undecided = undecided.map(|count| format!(", {count} undecided")).unwrap_or_default();
        format!("{}{degraded}{undecided}", self.state)
    }
}

/// How a run ended, by the last event of its journal alone: journals are long.
#[derive(Default)]
pub(super) struct Conclusion {
    pub(super) warnings: Option<usize>,
    pub(super) undecided: Option<usize>,
    /// Whether the run has still to act on an event after its end.
    pub(super) is_open: bool,
}

impl Conclusion {
    pub(super) fn of(store: &dyn JournalStore, run: &Run) -> Result<Self, Failure> {
        let mut conclusion = Self::default();
        if run.state != RunState::Ended {
            return Ok(conclusion);
        }
        let mut hear = |entry: Entry| match decode(&entry.kind, &entry.body) {
            Ok(Event::Kept(Kept { warnings, undecided, .. })) => {
                conclusion = Self { warnings, undecided, is_open: false };
            }
            Ok(_) => conclusion.is_open = true,
            Err(_) => {}
        };
        store.replay(&run.id, run.last_seq, &mut hear).map_err(refused)?;
        Ok(conclusion)
    }
}

/// The report on a run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunShowReport {
    /// The run's id.
    pub run: String,
    /// `running`, `stopped` or `ended`; `unfinished` in a report of a journal's beginning.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub state: RunStateReport,
    /// The first line of the requested feature.
    pub feature: String,
    /// The request, in its author's words; `None` if the journal does not have it.
    pub request: Option<String>,
    /// The journal that all of this follows from.
    pub journal: RunJournalReport,
    /// How it ended, in words.
    pub ending: String,
    /// The rules that it was counted by.
    #[serde(flatten)]
    pub rules: RulesReport,
    /// The warnings of a completed run.
    pub degraded: Vec<String>,
    /// All warnings so far.
    pub warnings: Vec<String>,
    /// How many different models decided, and which agents answered for others.
    pub independence: Option<String>,
    /// Matters left to people, and their decisions.
    #[serde(flatten)]
    pub matters: MattersReport,
    /// The results of the phases, as facts.
    #[serde(flatten)]
    pub results: ResultsReport,
    /// Why it came to these results.
    #[serde(flatten)]
    pub evidence: RunEvidenceReport,
    /// The artifacts' texts, by file name.
    pub artifacts: BTreeMap<String, String>,
    /// The run's ended lanes.
    pub lanes: Vec<RunLaneReport>,
    /// The course of the run.
    pub timeline: RunTimelineReport,
    /// The run's cost.
    pub cost: SpendingReport,
    /// The cost as far as the journal has it: of every lane that ended.
    pub journal_cost: SpendingReport,
    /// Whether every answer was recorded.
    #[serde(skip)]
    pub is_rehearsal: bool,
    /// The participants; `None` if the journal does not name them.
    #[serde(skip)]
    pub panel: Option<Panel>,
}

/// A run's journal, as far as a report follows from it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunJournalReport {
    /// How many events it has.
    pub events: u64,
    /// The last event that the report follows from.
    pub at: u64,
    /// The value of the hash chain at that event.
    pub hash: String,
    /// `sound`, or the event at which the journal was changed.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub state: JournalStateReport,
    /// When its first event happened, in milliseconds since 1970.
    pub begun_ms: Option<i64>,
    /// When the last event of the report happened.
    pub at_ms: Option<i64>,
}

/// The rules that a run was counted by.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RulesReport {
    /// The version that the run was counted by.
    pub rules: u32,
    /// The version that the run began under.
    pub written_under: u32,
}

impl RulesReport {
    /// Describes the rules of a run by its facts.
    pub fn new(facts: &Facts) -> Self {
        let rules = facts.rules();
        Self { rules: rules.counted_by().number(), written_under: rules.number() }
    }
}

/// A lane of a run that ended.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunLaneReport {
    /// The lane's name, such as `sketch/Codex-Generic`.
    pub lane: String,
    /// The agent that answered.
    pub agent: String,
    /// The model, as far as the client says.
    pub model: Option<String>,
    /// How it ended.
    pub status: &'static str,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Tokens that the model read.
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote.
    pub output_tokens: Option<u64>,
    /// The cost, in millionths of a dollar.
    pub micro_dollars: Option<u64>,
    /// The step that needed it.
    #[serde(skip)]
    pub step: Step,
    /// The seat and its agent, for people: `Claude · Architecture`.
    #[serde(skip)]
    pub seat: String,
}

/// One artifact of a run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArtifactReport {
    /// The run's id.
    pub run: String,
    /// The artifact's file name.
    pub artifact: String,
    /// The artifact's text.
    pub text: String,
}

/// The shown lines of a run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReplayReport {
    /// The run's id.
    pub run: String,
    /// The rules that it was counted by.
    #[serde(flatten)]
    pub rules: RulesReport,
    /// Everything that was shown, in order.
    pub lines: Vec<RunLineReport>,
}

/// A line that a run showed.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunLineReport {
    /// `text`, or `table` for the states of lanes.
    pub kind: &'static str,
    /// The line's text.
    pub text: String,
}

impl RunLineReport {
    pub(super) fn new(line: &Line) -> Self {
        let kind = match line {
            Line::Text(_) => "text",
            Line::Table(_) => "table",
        };
        Self { kind, text: line.text().into_owned() }
    }
}

/// Returns the agent that answered: the one in the lane's name, unless another replaced it.
pub(super) fn answering_holder(lane: &LaneId, end: &LaneEnd, settings: &Settings) -> Holder {
    let named = lane_holder(lane, &settings.panel);
    let answered = |holder: &Holder| settings.chosen(*holder).agent == end.agent;
    let others = [Holder::First, Holder::Second, Holder::Host];
    named.into_iter().chain(others).find(answered).or(named).unwrap_or(Holder::Host)
}

impl RunLaneReport {
    pub(super) fn new(lane: &LaneId, end: &LaneEnd, settings: Option<&Settings>) -> Self {
        let seat = settings
            .map(|settings| (settings, answering_holder(lane, end, settings)))
            .map(|(settings, holder)| lane_seat(lane, settings.panel.named(holder)));
        Self {
            lane: lane.to_string(),
            step: lane.step(),
            seat: seat.unwrap_or_else(|| lane.to_string()),
            agent: end.agent.clone(),
            model: end.model.clone(),
            status: end.status.name(),
            took_ms: end.took,
            input_tokens: end.usage.map(|usage| usage.input),
            output_tokens: end.usage.map(|usage| usage.output),
            micro_dollars: end.usage.and_then(|usage| usage.micro_dollars),
        }
    }
}
