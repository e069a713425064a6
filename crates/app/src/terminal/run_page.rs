//! The page of `convoke show`: the decisions of a run, its agents and its cost.

use std::fmt::Write;

use convoke_domain::design::progress::{Step, elapsed};
use convoke_domain::design::quote::line;
use convoke_domain::lane::budget::dollars;
use convoke_service::design::amount;
use convoke_service::run::{
    RunLaneReport, RunShowReport, SketchPositionReport, SpendingReport, SpendingRow,
};

use super::grid::{Grid, Overflow};
use super::markdown;
use super::outcome::{Detail, decisions, findings};
use super::progress::phase_name;
use super::styled::{Ink, StyledLine};

/// Renders it.
pub fn lines(report: &RunShowReport, columns: usize) -> Vec<StyledLine> {
    let sections = [
        head(report, columns),
        decisions(&report.results, columns, Detail::Full),
        findings(&report.results, report.panel.as_ref(), columns, usize::MAX, Detail::Full),
        scores(report, columns),
        agreed(report, columns),
        citations(report, columns),
        lanes(report, columns),
        warnings(report, columns),
        matters(report, columns),
        artifacts(report, columns),
    ];
    let mut lines = Vec::new();
    for section in sections.into_iter().filter(|section| !section.is_empty()) {
        if !lines.is_empty() {
            lines.push(StyledLine::default());
        }
        lines.extend(section);
    }
    lines
}

fn paragraph(line: &StyledLine, columns: usize, indent: usize) -> Vec<StyledLine> {
    line.wrapped(columns, &StyledLine::default(), &StyledLine::default().padded(indent))
}

fn head(report: &RunShowReport, columns: usize) -> Vec<StyledLine> {
    let recorded =
        if report.is_rehearsal { " (a rehearsal: every answer was recorded)" } else { "" };
    let title = StyledLine::new(Ink::Heading, &format!("run {}: ", report.run))
        .with(Ink::Plain, &format!("{}{recorded}", report.ending));
    let mut lines = paragraph(&title, columns, 2);
    lines.extend(paragraph(&StyledLine::plain(&line(&report.feature)), columns, 0));
    if let Some(words) = &report.independence {
        lines.push(StyledLine::default());
        let words = StyledLine::plain(&format!("independence: {}", line(words)));
        lines.extend(paragraph(&words, columns, 2));
    }
    lines
}

/// Renders each reviewer's score.
fn scores(report: &RunShowReport, columns: usize) -> Vec<StyledLine> {
    let Some(tally) = report.results.tally.as_ref().filter(|tally| !tally.scores.is_empty()) else {
        return Vec::new();
    };
    let name = |label: &str| {
        let panel = report.panel.as_ref();
        panel.map_or(label.to_owned(), |panel| {
            convoke_domain::design::seat_name::label_seat(label, panel)
        })
    };
    let header = ["reviewer", "findings", "accepted", "rejected", "out of scope", "score"];
    let mut grid = Grid::new(header, Overflow::Cut).right(&[1, 2, 3, 4, 5]);
    // Where only some columns fit, the points and what they are made of most.
    grid = grid.dispensable(&[4, 1, 3]);
    for score in &tally.scores {
        let cells = [
            name(&score.reviewer),
            score.findings.to_string(),
            score.accepted.to_string(),
            score.rejected.to_string(),
            score.out_of_scope.to_string(),
            score.points.to_string(),
        ];
        grid.push(cells.map(|cell| StyledLine::plain(&cell)));
    }
    grid.lines(columns)
}

/// Lists the decisions that no agent debated, with the position of each sketch.
fn agreed(report: &RunShowReport, columns: usize) -> Vec<StyledLine> {
    let agreed = report.evidence.positions.iter().filter(|decision| decision.agreed);
    let agreed: Vec<_> = agreed.collect();
    if agreed.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![StyledLine::new(Ink::Heading, "Agreed, so not debated")];
    for decision in agreed {
        let position = |known: &SketchPositionReport| {
            format!("{}: {}", line(&known.sketch), line(&known.position))
        };
        let sketches = decision.sketches.iter().map(position).collect::<Vec<_>>().join("; ");
        let (title, chosen) = (line(&decision.decision), line(&decision.chosen));
        let text = StyledLine::plain(&format!("  {title}: {chosen} "))
            .with(Ink::Quiet, &format!("({sketches})"));
        lines.extend(paragraph(&text, columns, 4));
    }
    lines
}

/// Counts the cited places that are as cited, and lists the others.
fn citations(report: &RunShowReport, columns: usize) -> Vec<StyledLine> {
    const MOST_PLACES: usize = 30;
    let all = &report.evidence.citations;
    if all.is_empty() {
        return Vec::new();
    }
    let mut listed: Vec<_> = all.iter().filter(|citation| citation.verdict != "holds").collect();
    let holding = all.len() - listed.len();
    let head = format!("Citations: {holding} of {} are as cited", all.len());
    let mut lines = vec![StyledLine::new(Ink::Heading, &head)];
    listed.sort_by_key(|citation| citation.verdict != "fails");
    for citation in listed.iter().take(MOST_PLACES) {
        let ink = if citation.verdict == "fails" { Ink::Bad } else { Ink::Caution };
        let about = [citation.matter.as_deref(), Some(citation.part), citation.seat.as_deref()];
        let about = about.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let text = StyledLine::plain(&format!("  {}: ", line(&about)))
            .with(Ink::Code, &line(&citation.place))
            .with(Ink::Plain, " ")
            .with(ink, &citation.found);
        lines.extend(paragraph(&text, columns, 4));
    }
    if let more @ 1.. = listed.len().saturating_sub(MOST_PLACES) {
        lines.push(StyledLine::new(Ink::Quiet, &format!("  … and {more} more")));
    }
    lines
}

/// One table of what each step and each seat did and cost.
fn lanes(report: &RunShowReport, columns: usize) -> Vec<StyledLine> {
    let header = ["seat", "model", "took", "in", "out", "cost", "status"];
    let mut grid = Grid::new(header, Overflow::Cut).right(&[2, 3, 4, 5]);
    // A row for each seat matters more than all columns, and who answered more than how long it took.
    grid = grid.dispensable(&[4, 2, 1]);
    let mut listed = 0;
    for row in &report.cost.steps {
        let step = row.step;
        let lanes: Vec<_> = report.lanes.iter().filter(|lane| Some(lane.step) == step).collect();
        grid.push(step_cells(row, step, lanes.len()));
        listed += lanes.len();
        for lane in lanes {
            grid.push(lane_cells(lane));
        }
    }
    // A lane that the ledger does not know is shown as well.
    if listed < report.lanes.len() {
        let known =
            |lane: &&RunLaneReport| report.cost.steps.iter().any(|row| row.step == Some(lane.step));
        for lane in report.lanes.iter().filter(|lane| !known(lane)) {
            grid.push(lane_cells(lane));
        }
    }
    let mut lines = if report.cost.steps.is_empty() && report.lanes.is_empty() {
        Vec::new()
    } else {
        grid.push(sum_cells("total", &report.cost.total));
        grid.lines(columns)
    };
    lines.extend(paragraph(&StyledLine::plain(&spent(&report.cost)), columns, 2));
    lines
}

fn step_cells(row: &SpendingRow, step: Option<Step>, shown: usize) -> [StyledLine; 7] {
    let name = step.map_or("other", phase_name);
    let lost = row.lanes.saturating_sub(shown as u64);
    let name = if lost > 0 { format!("{name} (and {lost} more)") } else { name.to_owned() };
    sum_cells(&name, row)
}

fn sum_cells(name: &str, row: &SpendingRow) -> [StyledLine; 7] {
    [
        name.to_owned(),
        String::new(),
        String::new(),
        row.input_tokens.to_string(),
        row.output_tokens.to_string(),
        row.micro_dollars.map_or("-".to_owned(), dollars),
        String::new(),
    ]
    .map(|cell| StyledLine::new(Ink::Strong, &cell))
}

fn lane_cells(lane: &RunLaneReport) -> [StyledLine; 7] {
    let count = |tokens: Option<u64>| tokens.map_or("-".to_owned(), |tokens| tokens.to_string());
    let is_ok = lane.status == "OK";
    let status = StyledLine::new(if is_ok { Ink::Plain } else { Ink::Bad }, lane.status);
    let cells = [
        format!("  {}", lane.seat),
        lane.model.clone().unwrap_or_else(|| "-".to_owned()),
        elapsed(lane.took_ms / 1000),
        count(lane.input_tokens),
        count(lane.output_tokens),
        lane.micro_dollars.map_or("-".to_owned(), dollars),
    ];
    let [seat, model, took, read, wrote, cost] = cells.map(|cell| StyledLine::plain(&cell));
    [seat, model, took, read, wrote, cost, status]
}

/// Renders the total.
fn spent(cost: &SpendingReport) -> String {
    let spent = if cost.is_recorded { "recorded" } else { "spent" };
    let mut text = format!("{spent} in all: {}", amount(&cost.total.sum.usage));
    if let Some(tokens) = cost.tokens_per_accepted_finding {
        let money = cost.micro_dollars_per_accepted_finding;
        let money = money.map_or_else(String::new, |money| format!(" ({})", dollars(money)));
        let findings = cost.accepted_findings;
        write!(text, "; {tokens} tokens{money} per accepted finding ({findings})").ok();
    }
    let lanes = |count: u64| format!("{count} lane{}", if count == 1 { "" } else { "s" });
    if cost.recorded_lanes > 0 && !cost.is_recorded {
        write!(text, "; {} recorded, at no cost", lanes(cost.recorded_lanes)).ok();
    }
    if cost.total.without_usage > 0 && !cost.is_recorded {
        write!(text, "; {} cannot tell what was spent", lanes(cost.total.without_usage)).ok();
    }
    if cost.total.partial_usage > 0 && !cost.is_recorded {
        write!(text, "; {} told a part of it", lanes(cost.total.partial_usage)).ok();
    }
    text
}

fn warnings(report: &RunShowReport, columns: usize) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    if report.degraded.is_empty() {
        return lines;
    }
    lines.push(StyledLine::new(Ink::Heading, &format!("Warnings: {}", report.degraded.len())));
    for warning in &report.degraded {
        lines.extend(markdown::lines(warning, columns));
    }
    lines
}

/// Matters left to people keep their own lines.
fn matters(report: &RunShowReport, columns: usize) -> Vec<StyledLine> {
    let text = report.matters.text();
    let wrap = |text: &str| {
        let indent = text.len() - text.trim_start_matches(' ').len();
        let first = StyledLine::default().padded(indent);
        StyledLine::plain(text.trim_start_matches(' ')).wrapped(columns, &first, &first)
    };
    text.lines().flat_map(wrap).collect()
}

fn artifacts(report: &RunShowReport, columns: usize) -> Vec<StyledLine> {
    let names: Vec<_> = report.artifacts.keys().map(String::as_str).collect();
    let line = StyledLine::plain(&format!("artifacts: {}", names.join(", ")));
    let mut lines = paragraph(&line, columns, 2);
    let hint = format!("convoke show {} --artifact plan", report.run);
    if !names.is_empty() {
        lines.push(StyledLine::plain("read one: ").with(Ink::Code, &hint).fitted(columns));
    }
    lines
}
