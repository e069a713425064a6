//! A panel's decisions at a glance: decisions with the rejected side, findings with every vote.

use convoke_domain::design::quote::line;
use convoke_domain::design::seat::Panel;
use convoke_domain::design::seat_name::label_seat;
use convoke_domain::design::tally::FindingVerdict;
use convoke_service::run::{ContestedDecisionReport, PanelFindingReport, ResultsReport};

use super::styled::{Ink, StyledLine};

/// How much to show of each decision and finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// One line for each finding and each side of a decision.
    Brief,
    /// Whole titles, and who raised a finding.
    Full,
}

/// How wide the name of a voter gets at most.
const VOTER_WIDTH: usize = 9;

/// How many columns the signs and blanks take before a finding's title.
const BEFORE_TITLE: usize = 6;

/// Lists the contested decisions: the chosen approach, the rejected one, and the judges' votes.
pub fn decisions(results: &ResultsReport, columns: usize, detail: Detail) -> Vec<StyledLine> {
    if results.decisions.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![StyledLine::new(Ink::Heading, "Decisions")];
    let title = |(number, decision): (usize, &ContestedDecisionReport)| {
        StyledLine::plain(&format!("  {number}  ")).with(Ink::Strong, &line(&decision.title))
    };
    let titles: Vec<_> = (1..).zip(&results.decisions).map(title).collect();
    let outcomes: Vec<_> = results.decisions.iter().map(decision_outcome).collect();
    let widest =
        |lines: &[StyledLine]| lines.iter().map(StyledLine::width).max().unwrap_or_default();
    let left = widest(&titles).min(columns.saturating_sub(widest(&outcomes) + 2));
    for ((title, outcome), decision) in titles.into_iter().zip(outcomes).zip(&results.decisions) {
        let mut row = title.fitted(left).padded(left + 2);
        row.extend(&outcome);
        lines.push(row);
        let (taken, rejected) = sides(decision);
        lines.extend(
            taken.map(|text| side(Ink::Good, "✓", text, columns, detail)).into_iter().flatten(),
        );
        lines.extend(
            rejected.map(|text| side(Ink::Bad, "✗", text, columns, detail)).into_iter().flatten(),
        );
    }
    lines
}

/// Returns the chosen approach, and the rejected one. Both are `None` before the debates are over.
fn sides(decision: &ContestedDecisionReport) -> (Option<&str>, Option<&str>) {
    let Some(resolution) = decision.resolution.as_deref() else { return (None, None) };
    let other = match decision.votes.as_ref().map(|votes| votes.winner) {
        // A person may have decided otherwise since.
        _ if resolution == decision.chosen => Some(decision.alternative.as_str()),
        _ if resolution == decision.alternative => Some(decision.chosen.as_str()),
        Some("thesis") if decision.person.is_none() => Some(decision.alternative.as_str()),
        Some("antithesis") if decision.person.is_none() => Some(decision.chosen.as_str()),
        _ => None,
    };
    (Some(resolution), other)
}

fn decision_outcome(decision: &ContestedDecisionReport) -> StyledLine {
    let words = match (&decision.person, &decision.votes, decision.disposition) {
        (Some(_), ..) => "a person decided".to_owned(),
        (None, Some(votes), _) => {
            let (most, least) =
                (votes.thesis.max(votes.antithesis), votes.thesis.min(votes.antithesis));
            format!("judges {most} : {least}")
        }
        (None, None, Some("fallback-to-synthesis")) => "undecided, synthesis kept".to_owned(),
        (None, None, Some(_)) => "not debated, synthesis kept".to_owned(),
        (None, None, None) => "open".to_owned(),
    };
    let is_split =
        decision.votes.as_ref().is_some_and(|votes| votes.thesis.min(votes.antithesis) > 0);
    let ink = if is_split || decision.votes.is_none() { Ink::Caution } else { Ink::Quiet };
    StyledLine::new(ink, &words)
}

fn side(ink: Ink, sign: &str, text: &str, columns: usize, detail: Detail) -> Vec<StyledLine> {
    let first = StyledLine::plain("     ").with(ink, sign).with(Ink::Plain, " ");
    let text = StyledLine::plain(&line(text));
    match detail {
        Detail::Brief => {
            let mut row = first;
            row.extend(&text);
            vec![row.fitted(columns)]
        }
        Detail::Full => text.wrapped(columns, &first, &StyledLine::plain("       ")),
    }
}

/// Lists the findings with every vote: all accepted ones first, then others up to a limit; a line
/// counts the rest.
pub fn findings(
    results: &ResultsReport,
    panel: Option<&Panel>,
    columns: usize,
    most: usize,
    detail: Detail,
) -> Vec<StyledLine> {
    if results.findings.is_empty() {
        return Vec::new();
    }
    let voters: Vec<_> = results.tally.iter().flat_map(|tally| &tally.voters).collect();
    let mut listed: Vec<_> = results.findings.iter().collect();
    listed.sort_by_key(|finding| rank(finding));
    let id = listed.iter().map(|finding| finding.id.len()).max().unwrap_or_default();
    let head = StyledLine::new(Ink::Heading, &findings_head(results));
    let titles = listed.iter().map(|finding| StyledLine::plain(&line(&finding.title)).width());
    let widest = titles.max().unwrap_or_default() + id + BEFORE_TITLE;
    let matrix = Matrix::new(&voters, columns, widest.max(head.width()));
    let mut lines = matrix.header(&head, columns);
    let accepted = listed.iter().filter(|finding| is_accepted(finding)).count();
    let legend = legend(&listed, voters.len(), columns);
    // A heading of several lines leaves less room, and so does the legend.
    let shown = most.saturating_sub(lines.len() - 1 + legend.len()).max(accepted);
    for finding in listed.iter().take(shown) {
        lines.extend(matrix.finding(finding, id, detail, panel));
    }
    let hidden = listed.len().saturating_sub(shown);
    if hidden > 0 {
        lines.push(StyledLine::new(Ink::Quiet, &format!("  … and {hidden} more")));
    }
    lines.extend(legend);
    lines
}

/// Explains the signs of votes.
fn legend(listed: &[&PanelFindingReport], voters: usize, columns: usize) -> Vec<StyledLine> {
    if voters == 0 {
        return Vec::new();
    }
    let vote = |finding: &&PanelFindingReport, at: usize| {
        vote_sign(finding.votes.get(at).and_then(|vote| vote.vote)).1
    };
    let is_shown =
        |sign: &str| listed.iter().any(|finding| (0..voters).any(|at| vote(finding, at) == sign));
    let words = VOTE_SIGNS.iter().filter(|(sign, _)| is_shown(sign));
    let words: Vec<_> = words.map(|(sign, meaning)| format!("{sign} {meaning}")).collect();
    StyledLine::new(Ink::Quiet, &format!("  {}", words.join("   "))).folded(columns, 2)
}

/// Counts the findings by verdict. Those out of scope are counted apart: no plan acts on them, and
/// `accepted` means the same number everywhere.
fn findings_head(results: &ResultsReport) -> String {
    let (inside, outside): (Vec<_>, Vec<_>) =
        results.findings.iter().partition(|finding| finding.in_scope);
    match (inside.is_empty(), outside.is_empty()) {
        (true, _) => format!("Findings out of scope: {}", verdict_counts(outside)),
        (false, true) => format!("Findings: {}", verdict_counts(inside)),
        (false, false) => {
            let (inside, outside) = (verdict_counts(inside), verdict_counts(outside));
            format!("Findings: {inside}; out of scope: {outside}")
        }
    }
}

fn verdict_counts(mut findings: Vec<&PanelFindingReport>) -> String {
    findings.sort_by_key(|finding| rank(finding));
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for finding in findings {
        let word = finding.verdict.map_or("not voted on", FindingVerdict::word);
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let counts: Vec<_> = counts.iter().map(|(word, count)| format!("{count} {word}")).collect();
    counts.join(", ")
}

fn is_accepted(finding: &PanelFindingReport) -> bool {
    finding.verdict == Some(FindingVerdict::Accepted)
}

/// Accepted ones come first, then those that need a person, then the others; of each, those about
/// the planned change before the rest.
fn rank(finding: &PanelFindingReport) -> (u8, bool) {
    let verdict = match finding.verdict {
        Some(FindingVerdict::Accepted) => 0,
        Some(FindingVerdict::Undecided | FindingVerdict::Tied) | None => 1,
        Some(FindingVerdict::Neutral) => 2,
        Some(FindingVerdict::Exonerated) => 3,
        Some(FindingVerdict::Rejected) => 4,
    };
    (verdict, !finding.in_scope)
}

/// The votes: a column for each voter at the right.
struct Matrix {
    /// How many columns are left of the votes.
    room: usize,
    voters: Vec<String>,
    /// How wide the name of a voter is.
    width: usize,
}

impl Matrix {
    fn new(voters: &[&String], columns: usize, widest: usize) -> Self {
        // Two fifths of a narrow terminal are enough for votes, and leave room for a client's name.
        let most = (columns * 2 / 5).checked_div(voters.len()).unwrap_or_default();
        let most = most.saturating_sub(2).clamp(1, VOTER_WIDTH);
        let voters: Vec<_> =
            voters.iter().map(|voter| StyledLine::plain(voter).fitted(most).text()).collect();
        let width = voters.iter().map(|voter| StyledLine::plain(voter).width()).max();
        let width = width.unwrap_or_default();
        let room = columns.saturating_sub(voters.len() * (width + 2)).min(widest);
        Self { room, voters, width }
    }

    /// Renders the heading and the voters' names, on one line where both fit.
    fn header(&self, head: &StyledLine, columns: usize) -> Vec<StyledLine> {
        let is_wide = head.width() > self.room;
        let mut lines = Vec::new();
        let mut line = if is_wide {
            lines = head.wrapped(columns, &StyledLine::default(), &StyledLine::plain("  "));
            StyledLine::default()
        } else {
            head.clone()
        };
        line = line.padded(self.room);
        for voter in &self.voters {
            line.push(Ink::Quiet, &format!("  {voter:>width$}", width = self.width));
        }
        if !is_wide || !self.voters.is_empty() {
            lines.push(line);
        }
        lines
    }

    fn finding(
        &self,
        finding: &PanelFindingReport,
        id: usize,
        detail: Detail,
        panel: Option<&Panel>,
    ) -> Vec<StyledLine> {
        let (ink, sign) = verdict_sign(finding);
        let first = StyledLine::plain("  ")
            .with(ink, sign)
            .with(Ink::Quiet, &format!(" {:id$}  ", finding.id));
        let rest = StyledLine::default().padded(first.width());
        let title = StyledLine::plain(&line(&finding.title));
        let mut lines = match detail {
            Detail::Brief => {
                let mut row = first;
                row.extend(&title);
                vec![row.fitted(self.room)]
            }
            Detail::Full => title.wrapped(self.room, &first, &rest),
        };
        if let Some(first) = lines.first_mut() {
            let mut row = std::mem::take(first).padded(self.room);
            for at in 0..self.voters.len() {
                let vote = finding.votes.get(at).and_then(|vote| vote.vote);
                let (ink, sign) = vote_sign(vote);
                row.push(Ink::Plain, &" ".repeat(self.width + 1));
                row.push(ink, sign);
            }
            *first = row;
        }
        if detail == Detail::Full {
            let raised = StyledLine::new(Ink::Quiet, &provenance(finding, panel));
            lines.extend(raised.wrapped(self.room, &rest, &rest));
        }
        lines
    }
}

/// Renders the verdict on a finding, and the reviewers that raised it.
fn provenance(finding: &PanelFindingReport, panel: Option<&Panel>) -> String {
    let name = |label: &String| panel.map_or(label.clone(), |panel| label_seat(label, panel));
    let proposers: Vec<_> = finding.proposers.iter().map(name).collect();
    let verdict = finding.verdict.map_or("not voted on", FindingVerdict::word);
    let person = if finding.person.is_some() { " by a person" } else { "" };
    let scope = if finding.in_scope { "" } else { ", out of scope" };
    let withheld = if finding.withheld { ", withheld from published files" } else { "" };
    format!("{verdict}{person}{scope}{withheld}; raised by {}", proposers.join(", "))
}

fn verdict_sign(finding: &PanelFindingReport) -> (Ink, &'static str) {
    match finding.verdict {
        Some(FindingVerdict::Accepted) => (Ink::Good, "✓"),
        Some(FindingVerdict::Rejected) => (Ink::Bad, "✗"),
        Some(FindingVerdict::Neutral | FindingVerdict::Exonerated) => (Ink::Quiet, "–"),
        Some(FindingVerdict::Undecided | FindingVerdict::Tied) | None => (Ink::Caution, "?"),
    }
}

/// The signs of votes, with their meaning.
const VOTE_SIGNS: [(&str, &str); 4] =
    [("+", "yes"), ("-", "no"), ("~", "exonerate (valid, not now)"), (".", "no vote")];

fn vote_sign(vote: Option<&str>) -> (Ink, &'static str) {
    match vote {
        Some("YES") => (Ink::Good, "+"),
        Some("NO") => (Ink::Bad, "-"),
        Some(_) => (Ink::Quiet, "~"),
        None => (Ink::Quiet, "."),
    }
}
