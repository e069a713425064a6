//! Reports on judged answers, for people and programs.

use std::collections::BTreeMap;

use convoke_domain::design::citation::{CheckedCitation, CitationVerdict};
use convoke_domain::dispatch::also_wrote::excerpt;
use convoke_domain::dispatch::ambiguity::Ambiguity;
use convoke_domain::dispatch::confirmation::Confirmation;
use convoke_domain::dispatch::review::{Issue, Review};
use convoke_domain::receipt::quotation::Quotation;
use convoke_domain::text::{hanging, one_line, wrapped};
use serde::Serialize;

use crate::failure::ErrorClass;
use crate::lane::{LaneRun, LaneSummary};
use crate::receipt::{QuotationReport, ReceiptReport};
use crate::settings::dispatch::ChangedBy;

/// The judgement of an answer.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerCheckReport {
    /// The role's name.
    pub role: String,
    /// The feature's folder.
    pub feature: String,
    /// The round of the answer.
    pub iteration: u32,
    /// How the round began: `fresh`, `resume` or `fallback`.
    pub mode: &'static str,
    /// The answer's claims about reading, if the prompt required a confirmation.
    pub confirmation: Option<ConfirmationReport>,
    /// The record's evidence for each required file, if there is a record.
    pub receipts: Option<Vec<ReceiptReport>>,
    /// Files that are known not to have been read before the answer.
    pub unproven: Vec<String>,
    /// Files that no record shows to have been read whole; those in doubt, too.
    pub not_proven: Vec<String>,
    /// Whether the answer passes only if `not_proven` is empty.
    pub requires_proof: bool,
    /// Whether the role is a reviewer.
    pub is_review: bool,
    /// `PASS`, `FAIL`, `UNPROVEN` or `AMBIGUOUS`; nothing where no review is expected.
    pub verdict: Option<&'static str>,
    /// Whether the check passes: the verdict, and the proof where it is required.
    pub passes: bool,
    /// Whether the review approves.
    pub approved: Option<bool>,
    /// Everything that the reviewer wrote beside its verdict and its issues, without thinking and the
    /// confirmation: a refusal in words that Convoke does not know is in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub also_wrote: Option<String>,
    /// The review's issues.
    pub issues: Vec<ReviewIssueReport>,
    /// Why the answer is neither an approval nor a rejection.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ambiguity: Option<AmbiguityReport>,
    /// Why there was a second request, for the verdict alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_ambiguity: Option<AmbiguityReport>,
    /// Why a resumed session gave no usable answer.
    pub resume_error: Option<&'static str>,
    /// The keys of the role that committed files change.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub role_changed_by: ChangedBy,
    /// Remarks.
    pub diagnostics: Vec<String>,
    /// Why Convoke does not know which files the agent read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading_unknown: Option<String>,
}

/// A judgement with the lanes that it is about, as one document.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DispatchRoundReport {
    /// The lane that ran last.
    pub lane: LaneSummary,
    /// Lanes before it: a session that could not be resumed, an answer without a verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier_lanes: Vec<LaneSummary>,
    /// Nothing where there is no answer.
    #[serde(flatten)]
    pub judged: Option<AnswerCheckReport>,
}

impl DispatchRoundReport {
    pub(super) fn new(
        ran: &LaneRun,
        earlier: &[LaneRun],
        judged: Option<AnswerCheckReport>,
    ) -> Self {
        Self {
            lane: LaneSummary::new(ran),
            earlier_lanes: earlier.iter().map(LaneSummary::new).collect(),
            judged,
        }
    }
}

/// An answer's claims about reading.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConfirmationReport {
    /// Whether it confirms what the settings demand.
    pub confirmed: bool,
    /// Required files that it names.
    pub named: Vec<String>,
    /// Required files that it does not name.
    pub missing: Vec<String>,
    /// Files that it names and that were not required.
    pub unexpected: Vec<String>,
    /// The claimed numbers of lines.
    pub line_counts: Vec<(String, u64)>,
    /// Files about which the answer makes contradictory claims.
    pub disputed: Vec<String>,
    /// Names that fit several required files.
    pub unclear: Vec<String>,
}

impl From<Confirmation> for ConfirmationReport {
    fn from(found: Confirmation) -> Self {
        let Confirmation { confirmed, named, missing, unexpected, line_counts, disputed, unclear } =
            found;
        Self { confirmed, named, missing, unexpected, line_counts, disputed, unclear }
    }
}

/// An answer without a verdict.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AmbiguityReport {
    /// A word for programs.
    pub reason: &'static str,
    /// A sentence for people.
    pub message: String,
    /// The words that the reason is about.
    pub excerpt: String,
    /// The whole answer, so that a rejection in it is not lost.
    pub answer: String,
}

impl AmbiguityReport {
    pub(super) fn new(ambiguity: &Ambiguity, answer: &str) -> Self {
        Self {
            reason: ambiguity.doubt.name(),
            message: ambiguity.doubt.to_string(),
            excerpt: ambiguity.excerpt.clone(),
            answer: answer.to_owned(),
        }
    }
}

/// An issue in its reviewer's words.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IssueWords {
    /// The issue's weight.
    pub severity: String,
    /// The issue's kind.
    pub category: Option<String>,
    /// The defect, in the reviewer's words.
    pub description: String,
    /// The place in the artifact.
    pub location: Option<String>,
    /// The suggested change.
    pub suggestion: Option<String>,
}

impl From<&Issue> for IssueWords {
    fn from(issue: &Issue) -> Self {
        Self {
            severity: issue.severity.word().to_owned(),
            category: issue.category.clone(),
            description: issue.description.clone(),
            location: issue.location.clone(),
            suggestion: issue.suggestion.clone(),
        }
    }
}

impl IssueWords {
    /// Renders all of it for people, as one text to wrap.
    pub fn text(&self) -> String {
        let Self { severity, category, description, location, suggestion } = self;
        let kind = category.as_ref().map_or(String::new(), |kind| format!(", {kind}"));
        let place = location.as_ref().map_or(String::new(), |place| format!(" ({place})"));
        let better =
            suggestion.as_ref().map_or(String::new(), |text| format!(" Suggestion: {text}"));
        format!("[{severity}{kind}] {description}{place}{better}")
    }
}

/// An issue, with what it quotes.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReviewIssueReport {
    /// The issue, in the reviewer's words.
    #[serde(flatten)]
    pub issue: IssueWords,
    /// Whether what it quotes is there.
    pub quotations: Vec<QuotationReport>,
    /// Whether the place that it names is there; nothing if it names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceReport>,
}

impl ReviewIssueReport {
    /// Renders its place, unless that holds or names no file.
    fn place_line(&self) -> Option<String> {
        let place = self.place.as_ref().filter(|place| place.verdict != "holds")?;
        let found = place.found.as_ref()?;
        Some(format!("place {}: {}", place.verdict, one_line(found)))
    }
}

/// Whether the place of an issue is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceReport {
    /// `holds` if Convoke found every file and line that the location names, `fails` if one of them is
    /// not there, and otherwise `unknown`.
    pub verdict: &'static str,
    /// What Convoke found at each place; nothing if the location names no place in a file.
    pub found: Option<String>,
}

impl PlaceReport {
    /// Sums up what is at the places of one location.
    pub(super) fn new(checked: Option<&[CheckedCitation]>) -> Self {
        let Some(checked) = checked else {
            return Self { verdict: CitationVerdict::Unknown.word(), found: None };
        };
        let all = |verdict| checked.iter().all(|checked| checked.verdict() == verdict);
        let fails = checked.iter().any(|checked| checked.verdict() == CitationVerdict::Fails);
        let verdict = match (fails, all(CitationVerdict::Holds)) {
            (true, _) => CitationVerdict::Fails,
            (false, true) => CitationVerdict::Holds,
            (false, false) => CitationVerdict::Unknown,
        };
        let line =
            |checked: &CheckedCitation| format!("`{}` {}", checked.cited.shown(), checked.words());
        let found = checked.iter().map(line).collect::<Vec<_>>().join("; ");
        Self { verdict: verdict.word(), found: Some(found) }
    }
}

pub(super) fn issues(
    review: &Review,
    quoted: Vec<Vec<Quotation>>,
    places: Vec<Option<PlaceReport>>,
) -> Vec<ReviewIssueReport> {
    let report = |((issue, quoted), place): ((&Issue, Vec<Quotation>), Option<PlaceReport>)| {
        ReviewIssueReport {
            issue: issue.into(),
            quotations: quoted.into_iter().map(QuotationReport::new).collect(),
            place,
        }
    };
    review.issues.iter().zip(quoted).zip(places).map(report).collect()
}

/// The columns that a line of a report has where no front end says so.
pub(super) const COLUMNS: usize = 80;

/// How many columns the label of a line takes.
const LABEL: usize = 14;

/// Shows what a reviewer wrote beside its verdict in so many columns: the beginning and the end, and
/// how much more.
pub fn also_wrote_lines(words: &str, columns: usize) -> Vec<String> {
    let sentence = format!("the reviewer also wrote: {}", excerpt(words));
    let lines = wrapped(&one_line(&sentence), columns.saturating_sub(LABEL));
    lines.into_iter().map(|line| format!("{:LABEL$}{line}", "")).collect()
}

/// Shows an issue below the line of an answer, in so many columns.
pub fn issue_lines(issue: &IssueWords, columns: usize) -> Vec<String> {
    let text = hanging(&issue.text(), columns.saturating_sub(LABEL), 2);
    text.lines().map(|line| format!("{:LABEL$}{line}", "")).collect()
}

impl AnswerCheckReport {
    /// Returns why the answer does not pass; `None` if it does.
    pub const fn class(&self) -> Option<ErrorClass> {
        match (&self.ambiguity, self.passes) {
            (Some(_), _) => Some(ErrorClass::NoAnswer),
            (None, true) => None,
            (None, false) => Some(ErrorClass::Refused),
        }
    }

    /// Renders what the reviewer wrote beside its verdict, and every issue.
    pub(super) fn wrote_lines(&self) -> Vec<String> {
        let words = self.also_wrote.iter().flat_map(|words| also_wrote_lines(words, COLUMNS));
        let issues = self.issues.iter().flat_map(|report| {
            let place = report.place_line().map(|line| format!("{:LABEL$}  {line}", ""));
            issue_lines(&report.issue, COLUMNS).into_iter().chain(place)
        });
        words.chain(issues).collect()
    }

    /// Renders the report for people, line by line; texts of the reviewer are wrapped to so many
    /// columns.
    pub fn lines(&self, columns: usize) -> Vec<String> {
        let mut lines = self.reading_lines();
        lines.extend(self.verdict_lines(columns));
        if let Some(error) = self.resume_error {
            lines.push(format!(
                "resume        failed: {error}; run `dispatch next --resume-failed \"{error}\"`"
            ));
        }
        lines.extend(self.diagnostics.iter().map(|remark| format!("note          {remark}")));
        lines
    }

    fn reading_lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let is_confirmed = self.confirmation.as_ref().is_some_and(|found| found.confirmed);
        if let Some(found) = &self.confirmation {
            let missing = match found.missing.as_slice() {
                [] => String::new(),
                missing => format!("; not named: {}", missing.join(", ")),
            };
            let word = if found.confirmed { "confirmed" } else { "not confirmed" };
            lines.push(format!("confirmation  {word}{missing}"));
        }
        let receipts = self.receipts.iter().flatten();
        lines
            .extend(receipts.map(|receipt| format!("read          {}", one_line(&receipt.line()))));
        lines
            .extend(self.reading_unknown.iter().map(|why| format!("read          unknown: {why}")));
        let confirmed = if is_confirmed { "confirmed, but " } else { "" };
        if self.requires_proof && !self.not_proven.is_empty() {
            let files = self.not_proven.join(", ");
            // Without a record, the agent may well have read all files.
            let word = if self.receipts.is_some() { "not read" } else { "no transcript shows it" };
            lines.push(format!("proof         {confirmed}{word}: {files}"));
        } else if is_confirmed && !self.unproven.is_empty() {
            let files = self.unproven.join(", ");
            lines.push(format!("unproven      {confirmed}not read: {files}"));
        }
        lines
    }

    fn verdict_lines(&self, columns: usize) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(first) = &self.first_ambiguity {
            let why = &first.message;
            lines.push(format!("note          Convoke asked once more for the verdict: {why}"));
        }
        if let Some(AmbiguityReport { message, excerpt, answer, .. }) = &self.ambiguity {
            lines.push(format!("verdict       AMBIGUOUS: {message}"));
            if !excerpt.is_empty() {
                lines.push(format!("              at: {excerpt}"));
            }
            let is_empty = answer.trim().is_empty();
            let shown = if is_empty {
                "the answer is empty"
            } else {
                "the answer, which counts neither way:"
            };
            lines.push(format!("              {shown}"));
            lines.extend(answer.trim().lines().map(|line| format!("  | {line}")));
        } else if let Some(verdict) = self.verdict {
            let why = match verdict {
                "UNPROVEN" => ": approved, but without the required proof of reading",
                _ => "",
            };
            lines.push(format!("verdict       {verdict}{why}"));
            let also = self.also_wrote.iter().flat_map(|words| also_wrote_lines(words, columns));
            lines.extend(also);
        }
        for issue in &self.issues {
            lines.push(format!("  {}", hanging(&issue.issue.text(), columns.saturating_sub(2), 4)));
            lines.extend(
                issue.quotations.iter().map(|quoted| format!("      {}", one_line(&quoted.line()))),
            );
            lines.extend(issue.place_line().map(|line| format!("      {line}")));
        }
        lines
    }
}
