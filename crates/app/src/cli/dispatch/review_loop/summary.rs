//! What came of a loop of reviews, for people and programs.

use std::collections::BTreeMap;

use convoke_domain::dispatch::review_loop::{FindingOutcome, LoopStop, ReviewAnswer, fates};
use convoke_domain::text::hanging;
use convoke_store::review_loop::LoopEntry;
use serde::Serialize;

use super::BY_HAND;
use super::entry::{Grounds, findings, issues};
use crate::app::{App, Format};
use crate::cli::dispatch::report::{COLUMNS, IssueWords, also_wrote_lines, issue_lines};
use crate::config::dispatch::ChangedBy;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;

#[derive(Serialize)]
pub(super) struct Summary {
    #[serde(skip)]
    reason: LoopStop,
    stop: &'static str,
    rounds: u32,
    answers: Vec<AnswerReport>,
    findings: Vec<FindingReport>,
    /// Findings that were there and are not any more.
    accepted: usize,
    cost: Cost,
    /// What committed files change of the roles, by role.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    role_changed_by: BTreeMap<String, ChangedBy>,
}

#[derive(Serialize)]
struct AnswerReport {
    round: u32,
    role: String,
    /// Nothing for whoever fixes.
    passed: Option<bool>,
    findings: usize,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    micro_dollars: Option<u64>,
    /// What the reviewer wrote beside its verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    also_wrote: Option<String>,
    /// Every issue of the answer, also those that weigh nothing against a pass.
    issues: Vec<IssueWords>,
    /// Those that are not among the findings, for people.
    #[serde(skip)]
    light: Vec<IssueWords>,
    /// Whether the answer does not count: it has no verdict, or no proof.
    is_void: bool,
    #[serde(skip)]
    is_by_hand: bool,
}

#[derive(Serialize)]
struct FindingReport {
    id: String,
    role: String,
    #[serde(flatten)]
    issue: IssueWords,
    fate: &'static str,
}

/// What all of it cost, as far as it was told.
#[derive(Serialize)]
struct Cost {
    tokens: u64,
    micro_dollars: u64,
    /// Whether every answer said what it cost.
    is_complete: bool,
    tokens_per_accepted: Option<u64>,
    micro_dollars_per_accepted: Option<u64>,
}

impl Summary {
    pub(super) fn new(
        stop: LoopStop,
        entries: &[LoopEntry],
        answers: &[ReviewAnswer],
        void: &[LoopEntry],
    ) -> Self {
        let fates = fates(answers);
        let all = || entries.iter().chain(void);
        let accepted = fates.values().filter(|it| **it == FindingOutcome::Gone).count();
        Self {
            reason: stop,
            stop: stop.name(),
            rounds: all().map(|entry| entry.iteration).max().unwrap_or_default(),
            answers: entries
                .iter()
                .map(answer_report)
                .chain(void.iter().map(void_report))
                .collect(),
            findings: finding_reports(entries, &fates),
            accepted,
            cost: cost(all(), accepted),
            role_changed_by: BTreeMap::new(),
        }
    }

    /// Adds what committed files change of the roles.
    pub(super) fn with_changes(self, role_changed_by: BTreeMap<String, ChangedBy>) -> Self {
        Self { role_changed_by, ..self }
    }

    pub(super) fn show(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match app.format {
            Format::Json => output.json(self)?,
            Format::Text => output.data(&self.lines())?,
        }
        Ok(match self.reason {
            LoopStop::Approved => Exit::Done,
            LoopStop::Capped
            | LoopStop::NoProgress
            | LoopStop::ByHand
            | LoopStop::Unproven
            | LoopStop::Outdated => Exit::No,
            LoopStop::LaneFailed | LoopStop::Ambiguous => Exit::LaneFailed,
            LoopStop::OverBudget => Exit::Budget,
            LoopStop::Cancelled => Exit::Interrupted,
        })
    }

    fn lines(&self) -> String {
        let mut lines = vec![format!("{:<6} {:<26} {:<6} {:>8}", "round", "role", "", "tokens")];
        for (at, it) in self.answers.iter().enumerate() {
            let verdict = match it.passed {
                Some(true) => "PASS",
                Some(false) => "FAIL",
                None if it.is_void => "none",
                // It was called again; nobody knows what was done meanwhile.
                None if it.is_by_hand => "again",
                None => "fixed",
            };
            let tokens = it.input_tokens.zip(it.output_tokens).map(|(read, wrote)| read + wrote);
            let unknown = if it.is_by_hand { "-" } else { "?" };
            let tokens = tokens.map_or(unknown.to_owned(), |it| it.to_string());
            lines.push(format!("{:<6} {:<26} {verdict:<6} {tokens:>8}", it.round, it.role));
            let is_last = !self.answers[at + 1..].iter().any(|later| later.role == it.role);
            if is_last {
                lines.extend(it.also_wrote.iter().flat_map(|words| also_wrote_lines(words)));
                lines.extend(it.light.iter().flat_map(issue_lines));
            }
        }
        for it in &self.findings {
            let FindingReport { id, fate, issue, .. } = it;
            let text = format!("{id} {fate:<8} ");
            let room = COLUMNS - text.len();
            lines.push(text.clone() + &hanging(&issue.text(), room, 2));
        }
        lines.push(self.cost_line());
        let s = if self.rounds == 1 { "" } else { "s" };
        lines.push(format!("{} after {} round{s}", self.stop, self.rounds));
        lines.join("\n") + "\n"
    }

    fn cost_line(&self) -> String {
        let Cost { tokens, micro_dollars, is_complete, .. } = &self.cost;
        let least = if *is_complete { "" } else { "at least " };
        let money = |micro: u64| format!("{}.{:04} $", micro / 1_000_000, micro % 1_000_000 / 100);
        let all = match micro_dollars {
            0 => format!("{least}{tokens} tokens"),
            micro => format!("{least}{tokens} tokens, {}", money(*micro)),
        };
        match self.cost.tokens_per_accepted {
            Some(each) => format!("{all}; {each} tokens for each of {} accepted", self.accepted),
            None => all,
        }
    }
}

fn answer_report(entry: &LoopEntry) -> AnswerReport {
    let issues = if entry.passed.is_some() { issues(entry) } else { Vec::new() };
    let light = issues.iter().filter(|issue| !issue.severity.counts());
    AnswerReport {
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
fn void_report(entry: &LoopEntry) -> AnswerReport {
    AnswerReport { is_void: true, is_by_hand: false, ..answer_report(entry) }
}

/// Tells whether it stands for a person, who spends no tokens.
pub(super) fn is_by_hand(entry: &LoopEntry) -> bool {
    entry.passed.is_none() && entry.role == BY_HAND && entry.text.is_empty()
}

/// Lists each finding once, in the words it was found in first.
fn finding_reports(
    entries: &[LoopEntry],
    fates: &BTreeMap<(String, String), FindingOutcome>,
) -> Vec<FindingReport> {
    let mut reports: Vec<FindingReport> = Vec::new();
    for entry in entries.iter().filter(|it| it.passed.is_some()) {
        for (id, issue) in findings(entry) {
            if reports.iter().any(|it| it.id == id) {
                continue;
            }
            let fate = fates.get(&(entry.role.clone(), id.clone())).copied();
            reports.push(FindingReport {
                id,
                role: entry.role.clone(),
                issue: (&issue).into(),
                fate: fate.map_or("open", FindingOutcome::name),
            });
        }
    }
    reports
}

fn cost<'e>(entries: impl Iterator<Item = &'e LoopEntry>, accepted: usize) -> Cost {
    let entries: Vec<_> = entries.collect();
    let told =
        |it: &LoopEntry| is_by_hand(it) || (it.spent.input.is_some() && it.spent.output.is_some());
    let of = |it: &LoopEntry| it.spent.input.unwrap_or(0) + it.spent.output.unwrap_or(0);
    let tokens: u64 = entries.iter().map(|entry| of(entry)).sum();
    let micro_dollars: u64 = entries.iter().filter_map(|it| it.spent.micro_dollars).sum();
    let each = |sum: u64| (accepted > 0 && sum > 0).then(|| sum / accepted as u64);
    Cost {
        tokens,
        micro_dollars,
        is_complete: entries.iter().all(|entry| told(entry)),
        tokens_per_accepted: each(tokens),
        micro_dollars_per_accepted: each(micro_dollars),
    }
}
