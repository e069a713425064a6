//! What is known of runs, for programs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use convoke_domain::design::event::LaneEnd;
use convoke_domain::design::walk::Line;
use serde::Serialize;

use super::spending::Spending;

#[derive(Serialize)]
pub(super) struct RunReport {
    pub(super) run: String,
    pub(super) state: &'static str,
    pub(super) started_at: String,
    pub(super) feature: String,
}

#[derive(Serialize)]
pub(super) struct ShowReport<'a> {
    pub(super) run: &'a str,
    pub(super) state: &'static str,
    pub(super) feature: &'a str,
    pub(super) ending: String,
    /// How many different models decided, and who answered for whom.
    pub(super) independence: Option<&'a str>,
    pub(super) artifacts: BTreeMap<&'a str, &'a str>,
    pub(super) lanes: Vec<LaneReport<'a>>,
    pub(super) cost: Spending,
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
    pub(super) differing: Vec<String>,
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
