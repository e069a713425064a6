//! The screen at the end of a design: the decisions, the disagreements, the cost, the next
//! commands.

use convoke_domain::design::progress::elapsed;
use convoke_domain::design::quote::line;
use convoke_domain::text::counted;
use convoke_service::design::{DesignReport, spent_in_words};
use convoke_service::next_command::NextCommand;
use convoke_service::run::SpendingReport;

use super::markdown;
use super::outcome::{Detail, decisions, findings};
use super::styled::{Ink, StyledLine};

/// How many findings are listed even where the terminal is low.
const FEWEST_FINDINGS: usize = 5;

/// How many warnings are listed.
const MOST_WARNINGS: usize = 5;

/// Renders it for a terminal of some columns and rows.
pub fn lines(report: &DesignReport, columns: usize, rows: usize) -> Vec<StyledLine> {
    let overview = &report.overview;
    let sections = [
        head(report, columns),
        decisions(&overview.results, columns, Detail::Brief),
        warnings(report, columns),
        left_to_people(report, columns),
        next(report),
    ];
    let shown = sections.iter().filter(|section| !section.is_empty());
    let taken: usize = shown.map(|section| section.len() + 1).sum();
    let most = rows.saturating_sub(taken + 3).max(FEWEST_FINDINGS);
    let [head, decisions, warnings, people, next] = sections;
    let found = findings(&overview.results, Some(&overview.panel), columns, most, Detail::Brief);
    let mut lines = Vec::new();
    for section in [head, decisions, found, warnings, people, next] {
        if !section.is_empty() {
            lines.push(StyledLine::default());
            lines.extend(section);
        }
    }
    lines
}

/// Renders how it ended, its duration and its feature.
fn head(report: &DesignReport, columns: usize) -> Vec<StyledLine> {
    let overview = &report.overview;
    let (ink, words) = match report.class {
        None if report.is_planned => (Ink::Good, "The plan is ready"),
        None => (Ink::Good, report.ending.as_str()),
        Some(_) => (Ink::Bad, report.ending.as_str()),
    };
    let title = StyledLine::default().with(ink, words);
    let mut lines = title.wrapped(columns, &StyledLine::default(), &StyledLine::default());
    let size =
        overview.results.plan.as_ref().map(|plan| {
            format!("{}, {}", counted(plan.tasks, "task"), counted(plan.words, "word"))
        });
    let facts = [
        size.filter(|_| report.is_planned),
        Some(format!("took {}", elapsed(overview.seconds))),
        overview.cost.as_ref().and_then(cost),
        Some(format!("run {}", report.run)),
    ];
    let facts: Vec<_> = facts.into_iter().flatten().collect();
    let indent = StyledLine::plain("  ");
    lines.extend(StyledLine::plain(&facts.join(" · ")).wrapped(columns, &indent, &indent));
    if let Some(independence) = &overview.independence {
        let words = StyledLine::new(Ink::Quiet, &line(independence));
        lines.extend(words.wrapped(columns, &indent, &indent));
    }
    lines
}

fn cost(cost: &SpendingReport) -> Option<String> {
    let lanes = cost.total.lanes;
    if lanes == 0 {
        return None;
    }
    let without_usage = match cost.total.without_usage {
        0 => String::new(),
        count => format!(", {count} of them not counted"),
    };
    let partial = match cost.total.partial_usage {
        0 => String::new(),
        count => format!(", {count} of them in part"),
    };
    let recorded = if cost.is_recorded { ", recorded, nothing paid" } else { "" };
    let spent = spent_in_words(&cost.total.sum.usage);
    Some(format!("{spent} in {lanes} lanes{without_usage}{partial}{recorded}"))
}

fn warnings(report: &DesignReport, columns: usize) -> Vec<StyledLine> {
    let warnings = &report.overview.warnings;
    let mut lines = Vec::new();
    if warnings.is_empty() {
        return lines;
    }
    lines.push(StyledLine::new(Ink::Heading, &format!("Warnings: {}", warnings.len())));
    for warning in warnings.iter().take(MOST_WARNINGS) {
        let text: Vec<_> =
            markdown::lines(warning, usize::MAX / 2).iter().map(StyledLine::text).collect();
        let text = text.join(" ");
        let text = StyledLine::plain(text.trim().trim_start_matches('⚠').trim_start());
        let first = StyledLine::plain("  ").with(Ink::Caution, "!").with(Ink::Plain, " ");
        let wrapped = text.wrapped(columns, &first, &StyledLine::plain("    "));
        lines.extend(wrapped);
    }
    if let Some(hidden) = warnings.len().checked_sub(MOST_WARNINGS).filter(|hidden| *hidden > 0) {
        let more = format!("  … and {hidden} more: convoke show {}", report.run);
        lines.push(StyledLine::new(Ink::Quiet, &more).fitted(columns));
    }
    lines
}

/// Renders the matters left to a person: withheld and undecided ones.
fn left_to_people(report: &DesignReport, columns: usize) -> Vec<StyledLine> {
    if !report.is_planned {
        return Vec::new();
    }
    let mut lines = Vec::new();
    let indent = StyledLine::plain("  ");
    let mut say = |head: &str, text: &str| {
        let words = StyledLine::new(Ink::Caution, head).with(Ink::Plain, text);
        lines.extend(words.wrapped(columns, &StyledLine::default(), &indent));
    };
    let undecided = &report.matters.undecided;
    if !undecided.is_empty() {
        let listed: Vec<_> = undecided
            .iter()
            .map(|matter| format!("{} ({}) {}", matter.id, matter.panel, line(&matter.title)))
            .collect();
        say("Undecided: ", &listed.join("; "));
    }
    let withheld = report.matters.withheld.len();
    if withheld > 0 {
        let place = match &report.withheld_file {
            Some(path) => format!("in {path}"),
            None => format!("listed by convoke show {}", report.run),
        };
        let plural = if withheld == 1 { "" } else { "s" };
        say(
            "Withheld from published files: ",
            &format!("{withheld} finding{plural} out of scope, possibly about security, {place}"),
        );
    }
    lines
}

/// Renders the plan's path, and the next commands. None of them is broken, however narrow the terminal is:
/// they are copied.
fn next(report: &DesignReport) -> Vec<StyledLine> {
    let mut lines = Vec::new();
    if let Some(path) = report.overview.plan_file.as_ref().filter(|_| report.is_planned) {
        lines.push(StyledLine::new(Ink::Strong, "Plan: ").with(Ink::Code, path));
    }
    for NextCommand { command, why } in &report.next {
        let line = StyledLine::new(Ink::Strong, "Next: ");
        lines.push(if command.is_empty() {
            line.with(Ink::Plain, why)
        } else {
            line.with(Ink::Code, command)
        });
        // Words beside a command would be copied with it.
        if !command.is_empty() && !why.is_empty() {
            lines.push(StyledLine::new(Ink::Quiet, &format!("      {why}")));
        }
    }
    if let Some(way_out) = report.way_out.as_ref().filter(|_| report.is_planned) {
        lines.push(StyledLine::new(Ink::Strong, "Next: ").with(Ink::Code, way_out));
    }
    lines
}

#[cfg(test)]
mod tests {
    use convoke_domain::design::seat::Panel;
    use convoke_domain::design::tally::FindingVerdict;
    use convoke_domain::lane::event::Usage;
    use convoke_domain::lane::ledger::Sum;
    use convoke_service::design::DesignOverview;
    use convoke_service::failure::ErrorClass;
    use convoke_service::run::{
        ContestedDecisionReport, FindingVoteReport, JudgeVotesReport, MattersReport,
        PanelFindingReport, PlanSizeReport, ResultsReport, SpendingRow, VoteTallyReport,
    };

    use super::*;

    const VOTERS: [&str; 3] = ["Claude", "Codex", "A-voter-with-a-long-name"];

    fn decision(number: usize, winner: Option<&'static str>) -> ContestedDecisionReport {
        let votes = winner.map(|winner| JudgeVotesReport { winner, thesis: 1, antithesis: 2 });
        let (chosen, alternative) =
            ("Merge line by line", "Keep both versions and ask their author");
        let taken = if winner == Some("antithesis") { alternative } else { chosen };
        ContestedDecisionReport {
            id: format!("DECISION_{number}"),
            title: "One note that is edited on both computers while they are offline".to_owned(),
            chosen: chosen.to_owned(),
            alternative: alternative.to_owned(),
            tension: String::new(),
            impact: "high",
            affected: String::new(),
            resolution: Some(taken.to_owned()),
            disposition: Some(if winner.is_some() { "voted" } else { "fallback-to-synthesis" }),
            thesis: None,
            antithesis: None,
            votes,
            why: None,
            person: None,
        }
    }

    fn finding(
        id: &str,
        verdict: FindingVerdict,
        votes: [Option<&'static str>; 3],
    ) -> PanelFindingReport {
        let vote = |(voter, vote): (&str, Option<&'static str>)| FindingVoteReport {
            voter: voter.to_owned(),
            vote,
            reason: None,
        };
        PanelFindingReport {
            id: id.to_owned(),
            title: "Half a file\u{1b}[2J stops every command that reads the folder".to_owned(),
            in_scope: id.starts_with("FINDING"),
            focus: None,
            proposers: vec!["Cursor-Arch".to_owned()],
            concern: String::new(),
            revision: None,
            withheld: false,
            votes: VOTERS.into_iter().zip(votes).map(vote).collect(),
            counts: None,
            verdict: Some(verdict),
            panel: Some(verdict),
            person: None,
            note: None,
        }
    }

    fn results() -> ResultsReport {
        let (yes, no, excused) = (Some("YES"), Some("NO"), Some("EXONERATE"));
        ResultsReport {
            decisions: vec![decision(1, Some("antithesis")), decision(2, None)],
            findings: vec![
                finding("FINDING_1", FindingVerdict::Rejected, [no, no, None]),
                finding("FINDING_2", FindingVerdict::Accepted, [yes, yes, no]),
                finding("FINDING_3", FindingVerdict::Tied, [yes, no, None]),
                finding("FINDING_4", FindingVerdict::Exonerated, [excused, excused, no]),
                finding("OOS_1", FindingVerdict::Accepted, [yes, yes, yes]),
            ],
            tally: Some(VoteTallyReport {
                voters: VOTERS.map(str::to_owned).to_vec(),
                eligible: 3,
                accepted: 1,
                scores: Vec::new(),
            }),
            plan: Some(PlanSizeReport { words: 1711, tasks: 5 }),
            diagram: Some("drawn"),
            voices: Vec::new(),
        }
    }

    fn row() -> SpendingRow {
        let usage = Usage {
            input: 289_900,
            output: 13_300,
            micro_dollars: Some(1_230_000),
            ..Usage::default()
        };
        SpendingRow {
            name: "total".to_owned(),
            lanes: 23,
            without_usage: 1,
            partial_usage: 0,
            input_tokens: 289_900,
            output_tokens: 13_300,
            micro_dollars: Some(1_230_000),
            sum: Sum { lanes: 23, without_usage: 1, usage, ..Sum::default() },
            step: None,
        }
    }

    fn report() -> DesignReport {
        let cost = SpendingReport {
            is_recorded: false,
            recorded_lanes: 0,
            steps: Vec::new(),
            seats: Vec::new(),
            total: row(),
            accepted_findings: 1,
            tokens_per_accepted_finding: None,
            micro_dollars_per_accepted_finding: None,
        };
        DesignReport {
            run: "20260304-050607-0a1b2".to_owned(),
            ending: "complete".to_owned(),
            degraded: Vec::new(),
            matters: MattersReport {
                undecided: Vec::new(),
                withheld: Vec::new(),
                decided: Vec::new(),
            },
            withheld_file: None,
            artifacts: std::collections::BTreeMap::new(),
            class: None,
            is_planned: true,
            way_out: None,
            next: vec![next_command("convoke show 20260304-050607-0a1b2 --artifact plan", "")],
            overview: DesignOverview {
                panel: Panel::default(),
                results: results(),
                warnings: vec![
                    "**⚠ Cursor installed but not responding. Using Claude replacement.**"
                        .to_owned(),
                ],
                independence: Some("vote: 3 answered, 2 of them different models".to_owned()),
                cost: Some(cost),
                seconds: 271,
                plan_file: Some("/home/user/project/specs/notes/plan.md".to_owned()),
            },
        }
    }

    fn next_command(command: &str, why: &str) -> NextCommand {
        NextCommand { command: command.to_owned(), why: why.to_owned() }
    }

    fn text(report: &DesignReport, columns: usize, rows: usize) -> String {
        lines(report, columns, rows).iter().map(|line| line.text() + "\n").collect()
    }

    #[test]
    fn one_screen_shows_the_decisions_and_the_next_commands() {
        for columns in [60, 80, 140] {
            insta::assert_snapshot!(format!("columns_{columns}"), text(&report(), columns, 50));
        }
    }

    #[test]
    fn the_screen_is_as_wide_and_as_high_as_the_terminal() {
        let mut many = report();
        let findings = &mut many.overview.results.findings;
        for _ in 0..40 {
            findings.push(finding("FINDING_7", FindingVerdict::Rejected, [None, None, None]));
        }
        for columns in [40, 60, 80, 140] {
            let shown = lines(&many, columns, 50);
            assert!(shown.len() <= 50, "{columns}: {}", shown.len());
            let is_copied = |line: &&StyledLine| {
                ["Plan: /", "Next: convoke "].iter().any(|begin| line.text().starts_with(begin))
            };
            assert_eq!(shown.iter().filter(is_copied).count(), 2, "on a line of its own each");
            assert!(
                shown.iter().all(|line| line.width() <= columns || is_copied(&line)),
                "{}",
                text(&many, columns, 50)
            );
        }
        assert!(text(&many, 80, 50).contains(" more\n"));
    }

    // The user came for what was accepted; `accepted` is the number that `show` counts costs by.
    #[test]
    fn every_accepted_finding_is_shown_before_others() {
        let mut many = report();
        let findings = &mut many.overview.results.findings;
        for number in 5..12 {
            findings.push(finding(
                &format!("FINDING_{number}"),
                FindingVerdict::Rejected,
                [None, None, None],
            ));
            let verdict =
                if number % 2 == 0 { FindingVerdict::Accepted } else { FindingVerdict::Exonerated };
            findings.push(finding(&format!("OOS_{number}"), verdict, [None, None, None]));
        }
        let shown = text(&many, 80, 24);
        let places: Vec<_> = shown.lines().filter(|line| line.starts_with("  ✓ ")).collect();
        assert_eq!(places.len(), 5, "{shown}");
        let last = shown.rfind("  ✓ ").unwrap();
        assert!(shown.find("  ✗ FINDING").is_none_or(|rejected| rejected > last), "{shown}");
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("Findings: 1 accepted, "), "{shown}");
        assert!(words.contains("out of scope: 4 accepted, "), "{shown}");
    }

    #[test]
    fn the_heading_of_findings_is_never_cut() {
        for columns in [60, 80, 140] {
            let shown = text(&report(), columns, 50);
            let words: Vec<_> = shown.split_whitespace().collect();
            let head =
                "Findings: 1 accepted, 1 tied, 1 exonerated, 1 rejected; out of scope: 1 accepted";
            assert!(words.join(" ").contains(head), "{columns}: {shown}");
        }
    }

    // A failed design shows why, and how to resume it; nothing is ready.
    #[test]
    fn a_failed_design_says_so_first() {
        let mut failed = report();
        failed.class = Some(ErrorClass::NoAnswer);
        failed.is_planned = false;
        failed.ending = "failed: no agent wrote a usable sketch".to_owned();
        failed.next = vec![
            next_command("convoke resume 20260304-050607-0a1b2", "asks again"),
            next_command("convoke doctor --probe", "shows which agents can answer"),
        ];
        let shown = text(&failed, 80, 50);
        assert!(shown.starts_with("\nfailed: no agent wrote a usable sketch\n"), "{shown}");
        assert!(!shown.contains("ready") && !shown.contains("Plan: "), "{shown}");
        let next = "Next: convoke resume 20260304-050607-0a1b2\n      asks again\n\
                    Next: convoke doctor --probe\n      shows which agents can answer\n";
        assert!(shown.ends_with(next), "{shown}");
    }
}
