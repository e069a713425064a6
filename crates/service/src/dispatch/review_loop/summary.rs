//! The report on a loop of reviews.

use std::collections::{BTreeMap, BTreeSet};

use convoke_domain::dispatch::review_loop::{FindingOutcome, LoopStop, ReviewAnswer, fates};
use convoke_store::review_loop::LoopEntry;
use serde::Serialize;

use super::BY_HAND;
use super::entry::{Grounds, findings, issues};
use crate::dispatch::report::IssueWords;
use crate::failure::ErrorClass;
use crate::settings::dispatch::ChangedBy;

/// The state of a finding that a person dismissed.
const DISMISSED: &str = "dismissed";

/// What is recorded of a loop.
pub(super) struct ReadLoop<'l> {
    pub(super) entries: &'l [LoopEntry],
    pub(super) answers: &'l [ReviewAnswer],
    /// The findings that a person dismissed.
    pub(super) dismissed: &'l BTreeSet<String>,
}

/// The report on a loop of reviews.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReviewLoopReport {
    /// Why it ended.
    #[serde(skip)]
    pub reason: LoopStop,
    /// Why it ended, as a word.
    pub stop: &'static str,
    /// How many rounds there were.
    pub rounds: u32,
    /// All answers, in the order in which they came.
    pub answers: Vec<LoopAnswerReport>,
    /// Every finding once.
    pub findings: Vec<LoopFindingReport>,
    /// Findings that were there and are not any more.
    pub accepted: usize,
    /// The cost of the loop.
    pub cost: LoopCostReport,
    /// The keys that committed files change, by role.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub role_changed_by: BTreeMap<String, ChangedBy>,
}

/// One answer in a loop.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoopAnswerReport {
    /// The round's number, from one.
    pub round: u32,
    /// The role that answered.
    pub role: String,
    /// Nothing for the one that fixes.
    pub passed: Option<bool>,
    /// How many findings it has.
    pub findings: usize,
    /// Tokens that the model read, if known.
    pub input_tokens: Option<u64>,
    /// Tokens that the model wrote, if known.
    pub output_tokens: Option<u64>,
    /// The cost, if known.
    pub micro_dollars: Option<u64>,
    /// The reviewer's text beside its verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also_wrote: Option<String>,
    /// Every issue of the answer, also those that weigh nothing against a pass.
    pub issues: Vec<IssueWords>,
    /// Those that are not among the findings, for people.
    #[serde(skip)]
    pub light: Vec<IssueWords>,
    /// Whether the answer does not count: it has no verdict, or no proof.
    pub is_void: bool,
    /// Whether a person had to fix the findings.
    #[serde(skip)]
    pub is_by_hand: bool,
}

/// One finding in a loop.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoopFindingReport {
    /// Its id, the same in every round.
    pub id: String,
    /// The role that found it.
    pub role: String,
    /// The finding, in the words it was found in first.
    #[serde(flatten)]
    pub issue: IssueWords,
    /// The finding's state.
    pub fate: &'static str,
}

/// The cost of the loop, as far as clients reported it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoopCostReport {
    /// Tokens of prompts and answers of all rounds, cached ones too.
    pub tokens: u64,
    /// All money.
    pub micro_dollars: u64,
    /// Whether every answer's cost is known.
    pub is_complete: bool,
    /// The tokens for each accepted finding.
    pub tokens_per_accepted: Option<u64>,
    /// The money for each accepted finding.
    pub micro_dollars_per_accepted: Option<u64>,
}

impl ReviewLoopReport {
    pub(super) fn new(stop: LoopStop, read: &ReadLoop<'_>, void: &[LoopEntry]) -> Self {
        let ReadLoop { entries, answers, dismissed } = *read;
        let mut fates = fates(answers);
        fates.retain(|(_, id), _| !dismissed.contains(id));
        let all = || entries.iter().chain(void);
        let accepted = fates.values().filter(|fate| **fate == FindingOutcome::Gone).count();
        Self {
            reason: stop,
            stop: stop.name(),
            rounds: all().map(|entry| entry.iteration).max().unwrap_or_default(),
            answers: entries
                .iter()
                .map(answer_report)
                .chain(void.iter().map(void_report))
                .collect(),
            findings: finding_reports(read, &fates),
            accepted,
            cost: cost(all(), accepted),
            role_changed_by: BTreeMap::new(),
        }
    }

    /// Adds what committed files change of the roles.
    pub(super) fn with_changes(self, role_changed_by: BTreeMap<String, ChangedBy>) -> Self {
        Self { role_changed_by, ..self }
    }

    /// Returns why the loop ended without an approval; `None` if all approved.
    pub const fn class(&self) -> Option<ErrorClass> {
        match self.reason {
            LoopStop::Approved => None,
            LoopStop::Capped
            | LoopStop::NoProgress
            | LoopStop::Disputed
            | LoopStop::BelowFloor
            | LoopStop::ByHand
            | LoopStop::Unproven
            | LoopStop::Outdated => Some(ErrorClass::Refused),
            LoopStop::LaneFailed | LoopStop::Ambiguous => Some(ErrorClass::NoAnswer),
            LoopStop::OverBudget => Some(ErrorClass::OverBudget),
            LoopStop::Cancelled => Some(ErrorClass::Interrupted),
        }
    }
}

fn answer_report(entry: &LoopEntry) -> LoopAnswerReport {
    let issues = if entry.passed.is_some() { issues(entry) } else { Vec::new() };
    let light = issues.iter().filter(|issue| !issue.severity.counts());
    LoopAnswerReport {
        round: entry.iteration,
        role: entry.role.clone(),
        passed: entry.passed,
        findings: if entry.passed.is_some() { findings(entry).len() } else { 0 },
        input_tokens: entry.spent.input,
        output_tokens: entry.spent.output,
        micro_dollars: entry.spent.micro_dollars,
        also_wrote: entry.passed.and_then(|_| Grounds::of(entry).also_wrote),
        light: light.map(Into::into).collect(),
        issues: issues.iter().map(Into::into).collect(),
        is_void: false,
        is_by_hand: is_by_hand(entry),
    }
}

/// Reports an answer that does not count, for what it cost.
fn void_report(entry: &LoopEntry) -> LoopAnswerReport {
    LoopAnswerReport { is_void: true, is_by_hand: false, ..answer_report(entry) }
}

/// Tells whether it is the work of a person, who spends no tokens.
pub(super) fn is_by_hand(entry: &LoopEntry) -> bool {
    entry.passed.is_none() && entry.role == BY_HAND && entry.text.is_empty()
}

/// Lists each finding once, in the words it was found in first.
fn finding_reports(
    read: &ReadLoop<'_>,
    fates: &BTreeMap<(String, String), FindingOutcome>,
) -> Vec<LoopFindingReport> {
    let mut reports: Vec<LoopFindingReport> = Vec::new();
    for entry in read.entries.iter().filter(|entry| entry.passed.is_some()) {
        for (id, issue) in findings(entry) {
            if reports.iter().any(|report| report.id == id) {
                continue;
            }
            let fate = fates.get(&(entry.role.clone(), id.clone())).copied();
            let fate = match fate {
                _ if read.dismissed.contains(&id) => DISMISSED,
                Some(fate) => fate.name(),
                None => FindingOutcome::Open.name(),
            };
            let role = entry.role.clone();
            reports.push(LoopFindingReport { id, role, issue: (&issue).into(), fate });
        }
    }
    reports
}

fn cost<'e>(entries: impl Iterator<Item = &'e LoopEntry>, accepted: usize) -> LoopCostReport {
    let entries: Vec<_> = entries.collect();
    let told = |entry: &LoopEntry| {
        is_by_hand(entry) || entry.spent.input.and(entry.spent.output).is_some()
    };
    let of = |entry: &LoopEntry| entry.spent.input.unwrap_or(0) + entry.spent.output.unwrap_or(0);
    let tokens: u64 = entries.iter().map(|entry| of(entry)).sum();
    let micro_dollars: u64 = entries.iter().filter_map(|entry| entry.spent.micro_dollars).sum();
    let each = |sum: u64| (accepted > 0 && sum > 0).then(|| sum / accepted as u64);
    LoopCostReport {
        tokens,
        micro_dollars,
        is_complete: entries.iter().all(|entry| told(entry)),
        tokens_per_accepted: each(tokens),
        micro_dollars_per_accepted: each(micro_dollars),
    }
}
