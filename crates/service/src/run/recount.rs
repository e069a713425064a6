//! Counting a run again from its recorded answers.

use convoke_domain::design::recount::{ArtifactChanges, artifact_changes};
use convoke_domain::design::rules::{VerdictChange, changes_line, verdict_changes};
use convoke_domain::run::RunId;
use convoke_engine::design::kept::hashes;
use convoke_store::journal::Integrity;
use serde::Serialize;

use super::matters::decisions;
use super::report::RulesReport;
use super::show::opened_run;
use super::state::JournalStateReport;
use crate::failure::Failure;
use crate::session::Session;

/// Whether a run's journal is whole and gives the same artifacts.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RecountReport {
    /// The run's id.
    pub run: String,
    /// `sound`, or the event at which the journal was changed.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub journal: JournalStateReport,
    /// The rules that it was counted by.
    #[serde(flatten)]
    pub rules: RulesReport,
    /// Artifacts that are not as they were at the end of the run.
    pub differing: Vec<String>,
    /// Prompts that this version of Convoke words otherwise, which is no sign of a change.
    pub reworded: Vec<String>,
    /// Verdicts of the panel that are counted otherwise now; nothing if the journal keeps none.
    pub changed_verdicts: Option<Vec<ChangedVerdictReport>>,
    /// People's decisions, a line each.
    pub decided: Vec<String>,
    /// The difference between the rules that it began under and the present ones.
    #[serde(skip)]
    pub rules_difference: Option<String>,
    /// How the verdicts differ, in words; nothing if the journal keeps none, or if the run's own
    /// rules give the same.
    #[serde(skip)]
    pub verdicts_line: Option<String>,
    /// How many artifacts it has.
    pub artifacts: usize,
    /// How many findings and decisions of the panel were counted again.
    pub verdicts: usize,
    /// Whether it completed, so that there is a record to compare with.
    #[serde(skip)]
    pub is_ended: bool,
    /// Whether the journal is sound, and nothing made a difference but rules that this program no
    /// longer has.
    #[serde(skip)]
    pub is_same: bool,
}

impl RecountReport {
    /// Tells whether every verdict and every artifact that rules decide is as it was.
    pub fn is_the_same(&self) -> bool {
        let changed = self.changed_verdicts.as_deref().unwrap_or_default();
        self.is_same && self.differing.is_empty() && changed.is_empty()
    }
}

/// A verdict that is counted otherwise now.
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
    let counted = hashes(&known.progress);
    // A run that has not ended keeps nothing to compare with.
    let changes_since = |kept| artifact_changes(kept, &counted);
    let ArtifactChanges { differing, reworded } =
        known.facts.kept().map(changes_since).unwrap_or_default();
    let recorded = known.facts.kept_verdicts();
    let verdicts = known.progress.results.verdicts();
    let changes = recorded.map(|recorded| verdict_changes(recorded, &verdicts));
    let rules = known.facts.rules();
    // Where the run's own rules are gone, others may come to other results. Where they are not, a
    // sound journal has only one result.
    let difference = rules.difference();
    let has_changes = changes.as_ref().is_some_and(|changes| !changes.is_empty());
    let is_explained = (differing.is_empty() && !has_changes) || difference.is_some();
    let is_told = has_changes || difference.is_some();
    let verdicts_line =
        changes.as_ref().filter(|_| is_told).map(|changes| changes_line(changes, rules));
    Ok(RecountReport {
        run: known.run.id.to_string(),
        journal: integrity.into(),
        rules: RulesReport::new(&known.facts),
        differing,
        reworded,
        changed_verdicts: changes
            .as_ref()
            .map(|changes| changes.iter().map(ChangedVerdictReport::from).collect()),
        verdicts_line,
        decided: decisions(&known.progress),
        rules_difference: difference,
        artifacts: counted.len(),
        verdicts: verdicts.len(),
        is_ended: known.facts.kept().is_some(),
        is_same: is_explained && integrity == Integrity::Sound,
    })
}
