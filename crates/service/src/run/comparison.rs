//! Two runs side by side: their plans, their findings and their cost.

use convoke_domain::design::quote::line;
use convoke_domain::design::tally::FindingVerdict;
use convoke_domain::run::RunId;
use serde::Serialize;

use super::report::RunShowReport;
use super::results::PanelFindingReport;
use super::show::show_run;
use super::spending::SpendingRow;
use super::state::verdict_word;
use crate::failure::Failure;
use crate::session::Session;

/// Two runs side by side.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunComparisonReport {
    /// The first run.
    pub first: ComparedRunReport,
    /// The second run.
    pub second: ComparedRunReport,
    /// The findings that both have, by the words of their titles.
    pub shared: Vec<SharedFindingReport>,
}

/// One of two compared runs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRunReport {
    /// The run's id.
    pub run: String,
    /// The first line of the requested feature.
    pub feature: String,
    /// How it ended.
    pub ending: String,
    /// The plan; nothing without one.
    pub plan: Option<String>,
    /// The findings that only this run has.
    pub only_here: Vec<ComparedFindingReport>,
    /// What all lanes of the run used.
    pub cost: SpendingRow,
    /// How many findings were accepted.
    pub accepted_findings: u64,
    /// How many warnings there were.
    pub warnings: usize,
}

/// A finding of one run.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedFindingReport {
    /// Its id in its run.
    pub id: String,
    /// The finding in one line.
    pub title: String,
    /// Its verdict; nothing before the vote.
    #[serde(serialize_with = "verdict_word")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub verdict: Option<FindingVerdict>,
}

/// A finding of both runs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharedFindingReport {
    /// In the first run.
    pub first: ComparedFindingReport,
    /// In the second run.
    pub second: ComparedFindingReport,
}

/// Compares two runs of the project. Findings are the same if their titles have the same words: no
/// model judges whether two mean the same.
pub fn compare_runs(
    session: &Session,
    first: &RunId,
    second: &RunId,
) -> Result<RunComparisonReport, Failure> {
    Ok(RunComparisonReport::new(
        &show_run(session, Some(first))?,
        &show_run(session, Some(second))?,
    ))
}

impl RunComparisonReport {
    /// Compares the reports of two runs.
    pub fn new(first: &RunShowReport, second: &RunShowReport) -> Self {
        let mut left: Vec<_> = first.results.findings.iter().collect();
        let mut right: Vec<_> = second.results.findings.iter().collect();
        let mut shared = Vec::new();
        left.retain(|finding| {
            let words = words(finding);
            let same = right.iter().position(|other| self::words(other) == words);
            let Some(same) = same else { return true };
            shared.push(SharedFindingReport {
                first: ComparedFindingReport::new(finding),
                second: ComparedFindingReport::new(right.remove(same)),
            });
            false
        });
        Self {
            first: ComparedRunReport::new(first, &left),
            second: ComparedRunReport::new(second, &right),
            shared,
        }
    }
}

/// Returns a title's words, in small letters and without marks.
fn words(finding: &PanelFindingReport) -> Vec<String> {
    let title = line(&finding.title).to_lowercase();
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

impl ComparedRunReport {
    fn new(report: &RunShowReport, only: &[&PanelFindingReport]) -> Self {
        Self {
            run: report.run.clone(),
            feature: report.feature.clone(),
            ending: report.ending.clone(),
            plan: report.evidence.plans.last().map(|plan| plan.text.clone()),
            only_here: only.iter().map(|finding| ComparedFindingReport::new(finding)).collect(),
            cost: report.cost.total.clone(),
            accepted_findings: report.cost.accepted_findings,
            warnings: report.warnings.len(),
        }
    }
}

impl ComparedFindingReport {
    pub(super) fn new(finding: &PanelFindingReport) -> Self {
        Self { id: finding.id.clone(), title: finding.title.clone(), verdict: finding.verdict }
    }
}
