//! The report on a fan-out.

use convoke_domain::fan::record::FanRecord;
use convoke_domain::fan::stop::FanStop;
use convoke_domain::lane::ledger::Sum;
use convoke_domain::run::{RunId, RunState};
use convoke_domain::tree::{TreeStatus, TreeVerdict};
use convoke_store::lane::LaneQuery;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::FanCounts;
use super::error::FanError;
use crate::failure::{ErrorClass, Failure};
use crate::lane::{SpentReport, TreeReport, is_paid};
use crate::run::RunStateReport;
use crate::workspace::{Workspace, refused};

/// How the work of one process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FanEnding {
    /// Nothing is left to ask for.
    Settled,
    /// It stopped early.
    Stopped(FanStop),
}

impl FanEnding {
    /// Returns until when the run waits. The user sees what a reader changed before Convoke asks for more.
    pub(super) fn parked_until(&self, verdict: Option<&TreeVerdict>) -> Option<Timestamp> {
        let is_dirty = verdict.is_some_and(|verdict| verdict.status == TreeStatus::Dirty);
        match self {
            Self::Stopped(FanStop::Parked { until, .. }) if !is_dirty => Some(*until),
            Self::Stopped(_) | Self::Settled => None,
        }
    }
}

/// One result: a line of a fan-out's output.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FanResultLine {
    /// The item's place in the input, from 1.
    pub index: usize,
    /// The line, the JSON value, or the file's path.
    pub item: Value,
    /// `answered`, `unfit` for an answer that does not fit the schema, or why there is no answer.
    pub outcome: &'static str,
    /// The answer: its JSON value if it fits the schema, else its text.
    pub answer: Option<Value>,
    /// Why there is no answer, or why it does not fit.
    pub why: Option<String>,
    /// The lane's number in the ledger; identical items have the same.
    pub lane: Option<i64>,
    /// The model that answered.
    pub model: Option<String>,
    /// The usage of that lane, if known.
    pub spent: Option<SpentReport>,
}

/// The report on a fan-out.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FanReport {
    /// The run's id.
    pub run: String,
    /// `running`, `stopped` or `ended`.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub state: RunStateReport,
    /// The prompt, with places for an item.
    pub template: String,
    /// `lines`, `json_lines` or `files`.
    pub source: &'static str,
    /// The agent that answers.
    pub agent: String,
    /// The requested model.
    pub asked_model: Option<String>,
    /// The commit that the answers belong to.
    pub commit: Option<String>,
    /// How many items the list has.
    pub items: usize,
    /// How many of them differ.
    pub distinct: usize,
    /// Different items with an answer.
    pub answered: usize,
    /// Different items whose answers do not fit the schema.
    pub unfit: usize,
    /// Different items whose last lane gave no answer.
    pub failed: usize,
    /// Different items for which no lane has ended.
    pub missing: usize,
    /// How many items this call settled; 0 in the report of an earlier run.
    pub settled_now: usize,
    /// Why the last process stopped before all items were settled.
    pub stopped: Option<String>,
    /// How many lanes the run had, and what they used.
    pub lanes: u64,
    /// Lanes that reported no usage.
    pub without_usage: u64,
    /// What the lanes used, as far as agents report it.
    pub spent: SpentReport,
    /// The last process's budget, as the user wrote it.
    pub budget: Option<String>,
    /// Whether the working tree changed while this call's agents worked.
    pub tree: Option<TreeReport>,
    /// How the call failed, for programs.
    #[serde(skip)]
    pub class: Option<ErrorClass>,
}

impl FanReport {
    /// Reports what a journal says.
    pub(super) fn new(
        workspace: &Workspace,
        run: &RunId,
        record: &FanRecord,
        state: RunState,
    ) -> Result<Self, Failure> {
        let not_begun = || Failure::new(ErrorClass::Refused, FanError::NotBegun(run.clone()));
        let settings = record.settings().ok_or_else(not_begun)?;
        let query = LaneQuery { run: Some(run.as_str()), ..LaneQuery::default() };
        let lanes = workspace.store.lanes(query).map_err(refused)?;
        let sum = Sum::of_all(lanes.iter().filter(|lane| is_paid(lane)));
        let tally = record.tally();
        Ok(Self {
            run: run.to_string(),
            state: state.into(),
            template: settings.template.clone(),
            source: settings.source.name(),
            agent: settings.agent.clone(),
            asked_model: settings.model.clone(),
            commit: settings.commit.clone(),
            items: tally.items,
            distinct: tally.distinct,
            answered: tally.answered,
            unfit: tally.unfit,
            failed: tally.failed,
            missing: tally.missing,
            settled_now: 0,
            stopped: record.stopped().map(ToString::to_string),
            lanes: sum.lanes,
            without_usage: sum.without_usage,
            spent: SpentReport::from(sum.usage),
            budget: record.terms().and_then(|terms| Some(terms.budget.as_ref()?.text().to_owned())),
            tree: None,
            class: None,
        })
    }

    /// Adds how this call ended.
    pub(super) fn ended(
        self,
        ending: &FanEnding,
        counts: FanCounts,
        verdict: Option<&TreeVerdict>,
    ) -> Self {
        let is_dirty = verdict.is_some_and(|verdict| verdict.status == TreeStatus::Dirty);
        let class = match ending {
            FanEnding::Stopped(FanStop::Signal) => Some(ErrorClass::Interrupted),
            _ if is_dirty => Some(ErrorClass::TreeChanged),
            FanEnding::Stopped(FanStop::OverBudget(_)) => Some(ErrorClass::OverBudget),
            FanEnding::Settled if self.unfit == 0 => None,
            FanEnding::Settled | FanEnding::Stopped(_) => Some(ErrorClass::NoAnswer),
        };
        Self { settled_now: counts.done(), tree: verdict.map(TreeReport::new), class, ..self }
    }

    /// Summarizes the run in one line: `1000 items: 990 answered, 10 without an answer`.
    pub fn sentence(&self) -> String {
        let same = self.items - self.distinct;
        let parts = [
            (self.answered, "answered"),
            (self.unfit, "not fitting the schema"),
            (self.failed, "without an answer"),
            (self.missing, "not asked"),
            (same, "identical to others"),
        ];
        let parts: Vec<_> = parts
            .iter()
            .filter(|(count, words)| *count > 0 || *words == "answered")
            .map(|(count, words)| format!("{count} {words}"))
            .collect();
        let items = if self.items == 1 { "item" } else { "items" };
        format!("{} {items}: {}", self.items, parts.join(", "))
    }
}
