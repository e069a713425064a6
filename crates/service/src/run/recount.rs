//! Counting a run again from its recorded answers.

use std::collections::{BTreeMap, BTreeSet};

use convoke_domain::design::rules::{VerdictChange, changes_line, verdict_changes};
use convoke_domain::run::RunId;
use convoke_engine::design::kept::hashes;
use convoke_store::journal::Integrity;
use serde::Serialize;

use super::integrity::journal_state;
use super::matters::decisions;
use super::report::RulesReport;
use super::show::opened_run;
use crate::failure::Failure;
use crate::session::Session;

/// Whether a run's journal is whole and gives the same artifacts.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecountReport {
    /// The run's id.
    pub run: String,
    /// `sound`, or the event at which the journal was changed.
    pub journal: String,
    /// The rules that it was counted by.
    #[serde(flatten)]
    pub rules: RulesReport,
    /// Artifacts that are not as they were at the end of the run.
    pub differing: Vec<String>,
    /// Verdicts of the panel that other rules count otherwise; nothing if the journal keeps none.
    pub changed_verdicts: Option<Vec<ChangedVerdictReport>>,
    /// People's decisions, a line each.
    pub decided: Vec<String>,
    /// The difference between the rules that it began under and the present ones.
    #[serde(skip)]
    pub rules_difference: Option<String>,
    /// How the verdicts differ under other rules, in words; nothing if the journal keeps none.
    #[serde(skip)]
    pub verdicts_line: Option<String>,
    /// How many artifacts it has.
    pub artifacts: usize,
    /// How many findings and decisions of the panel were counted again.
    pub verdicts: usize,
    /// Whether it completed, so that there is a record to compare with.
    #[serde(skip)]
    pub is_ended: bool,
    /// Whether the journal is sound, and nothing but other rules made a difference.
    #[serde(skip)]
    pub is_same: bool,
}

/// A verdict that other rules count otherwise.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedVerdictReport {
    /// The finding or decision that the verdict is about.
    pub id: String,
    /// The verdict at the end of the run.
    pub recorded: Option<String>,
    /// The verdict now.
    pub recounted: Option<String>,
}

impl From<&VerdictChange> for ChangedVerdictReport {
    fn from(change: &VerdictChange) -> Self {
        Self {
            id: change.matter.to_string(),
            recorded: change.recorded.as_ref().map(ToString::to_string),
            recounted: change.recounted.as_ref().map(ToString::to_string),
        }
    }
}

/// Counts a run again, the newest one if none is named, and compares.
pub fn recount_run(session: &Session, run: Option<&RunId>) -> Result<RecountReport, Failure> {
    let known = opened_run(session, run)?;
    let integrity = known.integrity;
    let journal = journal_state(integrity);
    let counted: BTreeMap<_, _> = hashes(&known.progress).into_iter().collect();
    let differing = differing(&counted, known.facts.kept());
    let recorded = known.facts.kept_verdicts();
    let verdicts = known.progress.results.verdicts();
    let changes = recorded.map(|recorded| verdict_changes(recorded, &verdicts));
    // In a sound journal only the rules can have changed the result.
    let difference = known.facts.rules().difference();
    let is_explained = differing.is_empty() || difference.is_some();
    Ok(RecountReport {
        run: known.run.id.to_string(),
        journal,
        rules: RulesReport::new(&known.facts),
        differing,
        changed_verdicts: changes
            .as_ref()
            .map(|changes| changes.iter().map(ChangedVerdictReport::from).collect()),
        verdicts_line: changes.as_ref().map(|changes| changes_line(changes)),
        decided: decisions(&known.progress),
        rules_difference: difference,
        artifacts: counted.len(),
        verdicts: verdicts.len(),
        is_ended: known.facts.kept().is_some(),
        is_same: is_explained && integrity == Integrity::Sound,
    })
}

/// Names the artifacts that are not as the journal keeps them; none if it keeps none.
fn differing(counted: &BTreeMap<String, String>, kept: Option<&[(String, String)]>) -> Vec<String> {
    let Some(kept) = kept else { return Vec::new() };
    let kept: BTreeMap<_, _> = kept.iter().cloned().collect();
    let names: BTreeSet<_> = counted.keys().chain(kept.keys()).collect();
    let differs = |name: &&String| counted.get(*name) != kept.get(*name);
    names.into_iter().filter(differs).cloned().collect()
}
