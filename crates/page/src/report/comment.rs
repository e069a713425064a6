//! A report as Markdown, for a pull request or an issue.
//!
//! Text of agents is on one line with every mark escaped, or in a fence that it cannot close. It
//! mentions no one, refers to no issue and links nowhere: Convoke puts a blank without width
//! where a program would find such a word.

mod quoted;

use convoke_domain::design::tally::FindingVerdict;
use convoke_service::run::{
    CitationReport, ContestedDecisionReport, PanelFindingReport, RunShowReport, SpendingRow,
};

use self::quoted::{fenced, inline};
use super::shortened::{Limits, cut, left_out};
use crate::components::{duration, money, number};
use crate::verdict_words::{findings_in_words, judges_in_words};

/// What is tried until the comment fits.
pub(super) const LIMITS: [Limits; 8] = [
    Limits { document: 40_000, text: 4000, rows: 100 },
    Limits { document: 25_000, text: 1500, rows: 60 },
    Limits { document: 15_000, text: 800, rows: 40 },
    Limits { document: 8000, text: 400, rows: 30 },
    Limits { document: 4000, text: 200, rows: 20 },
    Limits { document: 2000, text: 100, rows: 15 },
    Limits { document: 500, text: 40, rows: 10 },
    Limits { document: 0, text: 20, rows: 5 },
];

/// Renders the comment, after its header.
pub(super) fn comment(report: &RunShowReport, withheld: Option<&str>, limits: Limits) -> String {
    let withheld = withheld.map_or_else(String::new, |words| format!("{words}\n"));
    [
        summary(report, limits),
        withheld,
        decisions(&report.results.decisions, report, limits),
        findings(report, limits),
        undecided(report, limits),
        plan(report, limits),
        diagram(report, limits),
        cost(report, limits),
        independence(report, limits),
        warnings(report, limits),
        footer(report),
    ]
    .into_iter()
    .filter(|part| !part.is_empty())
    .collect::<Vec<_>>()
    .join("\n")
}

fn summary(report: &RunShowReport, limits: Limits) -> String {
    let mut lines = vec![
        format!("## Design: {}\n", inline(&cut(&report.feature, limits.text.max(60)))),
        format!(
            "**{}**{}\n",
            inline(&report.ending),
            if report.is_rehearsal { " (a rehearsal: every answer was recorded)" } else { "" }
        ),
    ];
    let took = report.journal.begun_ms.zip(report.journal.at_ms);
    let took = took.and_then(|(begun, at)| u64::try_from(at - begun).ok());
    lines.push(format!("| | |\n|---|---|\n| run | `{}` |", report.run));
    if let Some(took) = took {
        lines.push(format!("| took | {} |", duration(took)));
    }
    lines.push(format!("| contested decisions | {} |", report.results.decisions.len()));
    lines.push(format!("| findings | {} |", findings_in_words(&report.results.findings)));
    if let Some(size) = &report.results.plan {
        lines.push(format!("| plan | {} tasks, {} words |", size.tasks, number(size.words as u64)));
    }
    let total = &report.cost.total;
    let tokens = number(total.input_tokens + total.output_tokens);
    let paid = if report.cost.is_recorded {
        "recorded, nothing paid".to_owned()
    } else {
        money(total.micro_dollars)
    };
    lines.push(format!("| cost | {tokens} tokens, {paid}, lanes: {} |", total.lanes));
    lines.push(format!("| warnings | {} |", report.warnings.len()));
    lines.join("\n") + "\n"
}

fn decisions(
    decisions: &[ContestedDecisionReport],
    report: &RunShowReport,
    limits: Limits,
) -> String {
    if decisions.is_empty() {
        return String::new();
    }
    let mut text = "### Decisions\n\n| decision | decided | judges |\n|---|---|---|\n".to_owned();
    for decision in decisions.iter().take(limits.rows) {
        let judges = match &decision.votes {
            Some(votes) => judges_in_words(votes),
            None => decision.disposition.unwrap_or("not decided yet").to_owned(),
        };
        let taken = decision.resolution.as_deref().unwrap_or("–");
        text.extend([format!(
            "| {}: {} | {} | {judges} |\n",
            decision.id,
            inline(&decision.title),
            inline(taken)
        )]);
    }
    text += &note(left_out(decisions.len(), limits.rows, "decisions"));
    for decision in decisions.iter().take(limits.rows) {
        text.extend([format!("\n{}", decision_details(decision, report, limits))]);
    }
    text
}

fn decision_details(
    decision: &ContestedDecisionReport,
    report: &RunShowReport,
    limits: Limits,
) -> String {
    let mut lines = vec![
        format!("- Chosen by the synthesis: {}", inline(&decision.chosen)),
        format!("- Alternative: {}", inline(&decision.alternative)),
        format!("- Tension: {}", inline(&decision.tension)),
    ];
    if let Some(why) = &decision.why {
        lines.push(format!("- Why: {}", inline(why)));
    }
    let debate = report.evidence.debates.iter().find(|debate| debate.decision == decision.id);
    for defense in debate.iter().flat_map(|debate| &debate.defenses) {
        let claim = defense.parts.iter().find(|part| part.part == "claim");
        let claim = claim.map_or("no usable case", |part| part.text.as_str());
        let who = inline(&defense.written_by);
        lines.push(format!("- {}, by {who}: {}", defense.side, inline(claim)));
    }
    for judge in debate.iter().flat_map(|debate| &debate.judges) {
        let reason = judge.reason.as_deref().or(judge.without_vote).unwrap_or("no reason");
        let vote =
            judge.vote.map_or("cast no vote".to_owned(), |vote| format!("judged for {vote}"));
        let (name, first) = (inline(&judge.judge), judge.read_first);
        lines.push(format!("- {name}, who read the {first} first, {vote}: {}", inline(reason)));
    }
    let is_meant = |citation: &CitationReport| citation.matter.as_ref() == Some(&decision.id);
    lines.extend(cited_lines(report, limits, is_meant));
    if let Some(person) = &decision.person {
        lines.push(format!("- A person {}", inline(person)));
    }
    folded(&format!("{}: both sides and votes", decision.id), &lines.join("\n"))
}

/// Lists what texts cite and what Convoke found there; those that fail come first.
fn cited_lines(
    report: &RunShowReport,
    limits: Limits,
    is_meant: impl Fn(&CitationReport) -> bool,
) -> Vec<String> {
    let most = limits.rows.min(20);
    let mut listed: Vec<_> =
        report.evidence.citations.iter().filter(|citation| is_meant(citation)).collect();
    listed.sort_by_key(|citation| citation.verdict != "fails");
    let line = |citation: &&CitationReport| {
        let who = citation.seat.as_deref().map_or_else(String::new, |seat| format!(" of {seat}"));
        let part = inline(&format!("{}{who}", citation.part));
        format!("- Cited in {part}: {} {}", inline(&citation.place), citation.found)
    };
    let mut lines: Vec<_> = listed.iter().take(most).map(line).collect();
    if let more @ 1.. = listed.len().saturating_sub(most) {
        lines.push(format!("- {more} more citations"));
    }
    lines
}

fn findings(report: &RunShowReport, limits: Limits) -> String {
    let findings = &report.results.findings;
    if findings.is_empty() {
        return "### Findings\n\nNo reviewer raised a finding.\n".to_owned();
    }
    let first = findings.first().map_or(&[][..], |finding| finding.votes.as_slice());
    let voters: Vec<_> = first.iter().map(|vote| inline(&vote.voter)).collect();
    let mut text = "### Findings\n\n| finding |".to_owned();
    for voter in &voters {
        text.extend([format!(" {voter} |")]);
    }
    text.extend([format!(" verdict |\n|---|{}---|\n", "---|".repeat(voters.len()))]);
    for finding in findings.iter().take(limits.rows) {
        text.extend([format!("| {}: {} |", finding.id, inline(&finding.title))]);
        for vote in &finding.votes {
            text.extend([format!(" {} |", vote.vote.unwrap_or("–"))]);
        }
        text.extend([format!(
            " {} |\n",
            finding.verdict.map_or("not voted on yet", FindingVerdict::word)
        )]);
    }
    text += &note(left_out(findings.len(), limits.rows, "findings"));
    for finding in findings.iter().take(limits.rows) {
        text.extend([format!("\n{}", finding_details(finding, report, limits))]);
    }
    text
}

fn finding_details(finding: &PanelFindingReport, report: &RunShowReport, limits: Limits) -> String {
    let proposers: Vec<_> = finding.proposers.iter().map(|name| inline(name)).collect();
    let mut lines = vec![
        format!("- Concern: {}", inline(&finding.concern)),
        format!("- Raised by {}", proposers.join(", ")),
    ];
    if let Some(revision) = &finding.revision {
        lines.push(format!("- Proposed change: {}", inline(revision)));
    }
    for vote in &finding.votes {
        let reason = vote.reason.as_deref().filter(|reason| !reason.is_empty());
        let reason = reason.map_or("no reason".to_owned(), inline);
        lines.push(format!(
            "- {}, {}: {reason}",
            inline(&vote.voter),
            vote.vote.unwrap_or("no vote")
        ));
    }
    let is_meant = |citation: &CitationReport| citation.matter.as_ref() == Some(&finding.id);
    lines.extend(cited_lines(report, limits, is_meant));
    for (name, text) in
        [("What the revision did", &finding.note), ("A person's reason", &finding.person)]
    {
        if let Some(text) = text {
            lines.push(format!("- {name}: {}", inline(text)));
        }
    }
    folded(&format!("{}: concern and reasons", finding.id), &lines.join("\n"))
}

fn undecided(report: &RunShowReport, limits: Limits) -> String {
    let matters = &report.matters.undecided;
    if matters.is_empty() {
        return String::new();
    }
    let mut text = "### Left to a person\n\n".to_owned();
    for matter in matters.iter().take(limits.rows) {
        text.extend([format!("- {}: {} ({})\n", matter.id, inline(&matter.title), matter.panel)]);
    }
    text + &note(left_out(matters.len(), limits.rows, "matters"))
}

fn plan(report: &RunShowReport, limits: Limits) -> String {
    let Some(plan) = report.evidence.plans.last() else { return String::new() };
    let text = fenced("markdown", &cut(&plan.text, limits.document));
    let cited = cited_lines(report, limits, |citation| citation.part == "plan");
    let cited = if cited.is_empty() { String::new() } else { format!("\n{}\n", cited.join("\n")) };
    format!("### Plan\n\n{}{cited}", folded("The plan", &text))
}

fn diagram(report: &RunShowReport, limits: Limits) -> String {
    let Some(text) = &report.evidence.diagram_text else { return String::new() };
    let kept = cut(text, limits.document);
    // A diagram can hold links and settings, and half a diagram cannot be drawn.
    let lower = text.to_lowercase();
    let marks = ["click", "href", "://", "%%{", "javascript", "<", "---\n", "@"];
    let is_plain = kept == *text && !marks.iter().any(|mark| lower.contains(mark));
    let (language, why) = if is_plain {
        ("mermaid", "")
    } else {
        (
            "text",
            "The diagram is shown as text, because it is cut or holds a link, a tag or a setting.\n\n",
        )
    };
    format!("### Diagram\n\n{why}{}\n", fenced(language, &kept))
}

fn cost(report: &RunShowReport, limits: Limits) -> String {
    let row = |row: &SpendingRow| {
        let money = row.micro_dollars.map_or("–".to_owned(), |micro| money(Some(micro)));
        let (read, written) = (number(row.input_tokens), number(row.output_tokens));
        format!("| {} | {} | {read} | {written} | {money} |\n", inline(&row.name), row.lanes)
    };
    let head = "| step | lanes | read | written | cost |\n|---|---:|---:|---:|---:|\n";
    let rows: String = report.cost.steps.iter().take(limits.rows.max(13)).map(row).collect();
    let each = report.cost.tokens_per_accepted_finding;
    let each = each.map_or_else(String::new, |tokens| {
        format!("\n{} tokens for each accepted finding.\n", number(tokens))
    });
    folded("Cost by step", &format!("{head}{rows}{}{each}", row(&report.cost.total)))
}

fn independence(report: &RunShowReport, limits: Limits) -> String {
    let voices = &report.results.voices;
    if voices.is_empty() {
        return String::new();
    }
    let said = report.independence.as_deref().map(inline).unwrap_or_default();
    let head = "| part | seat | answered by | model requested | model that answered |\n|---|---|---|---|---|\n";
    let mut text = format!("{said}\n\n{head}");
    for voice in voices.iter().take(limits.rows) {
        let requested = inline(voice.requested_model.as_deref().unwrap_or("client's choice"));
        let model = inline(voice.model.as_deref().unwrap_or("unknown"));
        let (part, seat, by) = (voice.part, inline(&voice.seat), inline(&voice.answered_by));
        text.extend([format!("| {part} | {seat} | {by} | {requested} | {model} |\n")]);
    }
    text += &note(left_out(voices.len(), limits.rows, "answers"));
    folded("Independence", &text)
}

fn warnings(report: &RunShowReport, limits: Limits) -> String {
    let warnings = &report.warnings;
    if warnings.is_empty() {
        return String::new();
    }
    let lines = warnings.iter().take(limits.rows).map(|warning| format!("- {}\n", inline(warning)));
    let lines = lines.collect::<Vec<_>>().concat();
    let rest = note(left_out(warnings.len(), limits.rows, "warnings"));
    folded(&format!("Warnings: {}", warnings.len()), &format!("{lines}{rest}"))
}

fn footer(report: &RunShowReport) -> String {
    format!(
        "---\n\nMade by Convoke {} from the journal of run `{}`, event {}, hash `{}`. `convoke verify` checks it.\n",
        env!("CARGO_PKG_VERSION"),
        report.run,
        report.journal.at,
        report.journal.hash
    )
}

fn note(text: Option<String>) -> String {
    text.map_or_else(String::new, |text| format!("\n{text}\n"))
}

/// Folds a text under a title. Blank lines around it let Markdown apply inside.
fn folded(title: &str, text: &str) -> String {
    format!("<details><summary>{title}</summary>\n\n{}\n\n</details>\n", text.trim_end())
}
