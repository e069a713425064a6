//! What is known of runs, for programs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use convoke_domain::design::event::{Event, Kept, LaneEnd};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::render::Line;
use convoke_domain::design::rules::{RulesVersion, VerdictChange};
use convoke_domain::run::RunState;
use convoke_engine::design::codec::decode;
use convoke_store::journal::{Entry, JournalStore, Run};
use serde::Serialize;

use super::matters::MattersReport;
use super::results::ResultsReport;
use super::spending::Spending;
use crate::failure::Failure;
use crate::workspace::refused;

#[derive(Serialize)]
pub(super) struct RunReport {
    pub(super) run: String,
    pub(super) state: &'static str,
    /// Whether there were warnings; unknown before the end, and of runs of earlier versions.
    pub(super) degraded: Option<bool>,
    pub(super) warnings: Option<usize>,
    /// How many matters neither the panel nor a person decided.
    pub(super) undecided: Option<usize>,
    pub(super) started_at: String,
    pub(super) feature: String,
}

impl RunReport {
    /// Says how the run stands: `ended, DEGRADED, 2 undecided`.
    pub(super) fn standing(&self) -> String {
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
    /// Whether something came after the end that the run has still to act on.
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

#[derive(Serialize)]
pub(super) struct ShowReport<'a> {
    pub(super) run: &'a str,
    pub(super) state: &'static str,
    pub(super) feature: &'a str,
    pub(super) ending: String,
    #[serde(flatten)]
    pub(super) rules: RulesReport,
    /// The warnings of a run that came to its end.
    pub(super) degraded: &'a [String],
    /// How many different models decided, and who answered for whom.
    pub(super) independence: Option<&'a str>,
    #[serde(flatten)]
    pub(super) matters: MattersReport<'a>,
    #[serde(flatten)]
    pub(super) results: ResultsReport<'a>,
    pub(super) artifacts: BTreeMap<&'a str, &'a str>,
    pub(super) lanes: Vec<LaneReport<'a>>,
    pub(super) cost: Spending,
}

/// By which rules a run was counted.
#[derive(Serialize)]
pub(super) struct RulesReport {
    /// The version that this program counts by.
    rules: u32,
    /// The version that the run began under.
    written_under: u32,
}

impl RulesReport {
    pub(super) fn new(facts: &Facts) -> Self {
        Self { rules: RulesVersion::PRESENT.number(), written_under: facts.rules().number() }
    }
}

#[derive(Serialize)]
pub(super) struct LaneReport<'a> {
    pub(super) lane: &'a str,
    pub(super) agent: &'a str,
    pub(super) model: Option<&'a str>,
    pub(super) status: &'static str,
    pub(super) took_ms: u64,
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) micro_dollars: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct ArtifactReport<'a> {
    pub(super) run: &'a str,
    pub(super) artifact: &'a str,
    pub(super) text: &'a str,
}

#[derive(Serialize)]
pub(super) struct ReplayReport<'a> {
    pub(super) run: &'a str,
    #[serde(flatten)]
    pub(super) rules: RulesReport,
    pub(super) lines: Vec<LineReport<'a>>,
}

#[derive(Serialize)]
pub(super) struct LineReport<'a> {
    /// `text`, or `table` for how lanes stood.
    pub(super) kind: &'static str,
    pub(super) text: Cow<'a, str>,
}

impl<'a> LineReport<'a> {
    pub(super) fn new(line: &'a Line) -> Self {
        let kind = match line {
            Line::Text(_) => "text",
            Line::Table(_) => "table",
        };
        Self { kind, text: line.text() }
    }
}

#[derive(Serialize)]
pub(super) struct RecountReport {
    pub(super) run: String,
    pub(super) journal: String,
    #[serde(flatten)]
    pub(super) rules: RulesReport,
    /// Artifacts that are not as they were at the end of the run.
    pub(super) differing: Vec<String>,
    /// Verdicts of the panel that other rules count otherwise; nothing if the journal keeps none.
    pub(super) changed_verdicts: Option<Vec<VerdictReport>>,
    /// What people decided, a line each.
    pub(super) decided: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct VerdictReport {
    id: String,
    recorded: Option<String>,
    recounted: Option<String>,
}

impl From<&VerdictChange> for VerdictReport {
    fn from(change: &VerdictChange) -> Self {
        Self {
            id: change.matter.to_string(),
            recorded: change.recorded.clone(),
            recounted: change.recounted.clone(),
        }
    }
}

impl<'a> LaneReport<'a> {
    pub(super) fn new(lane: &'a str, end: &'a LaneEnd) -> Self {
        Self {
            lane,
            agent: &end.agent,
            model: end.model.as_deref(),
            status: end.status.name(),
            took_ms: end.took,
            input_tokens: end.usage.map(|usage| usage.input),
            output_tokens: end.usage.map(|usage| usage.output),
            micro_dollars: end.usage.and_then(|usage| usage.micro_dollars),
        }
    }
}
