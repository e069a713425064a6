//! `convoke compare`: the same feature in a single pass by the chair, or another run, beside what the
//! panel made.

use std::time::Duration;

use convoke_domain::design::quote::line;
use convoke_domain::design::tally::FindingVerdict;
use convoke_domain::lane::budget::dollars;
use convoke_domain::run::RunId;
use convoke_service::run::{
    CompareOutcome, CompareRequest, CompareSideReport, ComparedFindingReport, ComparedRunReport,
    RunComparisonReport, SinglePassSource, compare, compare_runs,
};

use super::table::grid;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use convoke_service::failure::{ErrorClass, Failure};

/// Compare a run with one agent's plan, or with another run
///
/// The run's host writes a plan alone, from what the panel's chair got from outside. The table shows
/// for both plans what they contain, what they cost and how long they took, so that you can judge
/// whether the panel was worth it. Below the table, Convoke prints the single plan. It keeps that plan: `--kept` shows
/// both again, and so does `convoke serve`.
///
/// With `--with`, Convoke starts no agent: it shows two runs in figures, the findings that only one of
/// them has, and those of both. Two findings are the same if their titles have the same words.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The run's id, or the beginning of it
    #[arg(value_parser = RunId::parse)]
    run: RunId,

    /// Stop the lane after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "1800", value_parser = super::lane::seconds())]
    limit: Duration,

    /// Show the last single plan again, and start no agent
    #[arg(long, conflicts_with = "limit")]
    kept: bool,

    /// Compare with this run instead: its id, or the beginning of it
    #[arg(long, value_name = "RUN", value_parser = RunId::parse, conflicts_with_all = ["limit", "kept"])]
    with: Option<RunId>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot compare `{run}`: this machine keeps no single plan of it")]
struct NotKept {
    run: RunId,
}

impl Args {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if let Some(other) = &self.with {
            let report = compare_runs(&app.session, &self.run, other)?;
            match app.format {
                Format::Json => output.json(&report)?,
                Format::Text => two_runs(&report, output)?,
            }
            return Ok(Exit::Done);
        }
        let asked = SinglePassSource::Asked(self.limit);
        let source = if self.kept { SinglePassSource::Kept } else { asked };
        let request = CompareRequest { run: self.run.clone(), source };
        let report = match compare(&app.session, &request)? {
            CompareOutcome::Compared(report) => report,
            CompareOutcome::NoPlan(outcome) => return Ok(Exit::of_lane(outcome)),
            CompareOutcome::NotKept => {
                let failure = Failure::new(ErrorClass::Refused, NotKept { run: self.run.clone() });
                let hint = format!("`convoke compare {}` asks the run's host for one", self.run);
                return Err(failure.hint(hint));
            }
        };
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                let header =
                    ["way", "lanes", "words", "tasks", "missing", "in", "out", "cost", "seconds"];
                let rows = [&report.panel, &report.single].map(row);
                output.table(&grid(header, rows, &[1, 2, 3, 4, 5, 6, 7, 8]))?;
                output.data(&format!("\n{}\n", report.single_plan.trim_end()))?;
            }
        }
        Ok(Exit::Done)
    }
}

fn two_runs(report: &RunComparisonReport, output: &mut Output) -> Result<(), Failure> {
    let RunComparisonReport { first, second, shared } = report;
    let header = ["run", "ending", "words", "accepted", "warnings", "lanes", "in", "out", "cost"];
    let rows = [first, second].map(run_row);
    output.table(&grid(header, rows, &[2, 3, 4, 5, 6, 7, 8]))?;
    for run in [first, second] {
        let findings =
            run.only_here.iter().map(|finding| format!("{} {}", finding.id, told(finding)));
        output.data(&listed(&format!("only in {}", run.run), findings))?;
    }
    let pairs = shared.iter().map(|pair| {
        let verdict = word(pair.second.verdict);
        format!("{}, {} {}; {verdict}", pair.first.id, pair.second.id, told(&pair.first))
    });
    output.data(&listed("in both", pairs))
}

/// Returns a heading with the number of findings, and a line for each.
fn listed(heading: &str, findings: impl Iterator<Item = String>) -> String {
    let lines: Vec<_> = findings.map(|finding| format!("  {finding}\n")).collect();
    format!("\n{heading}: {}\n{}", lines.len(), lines.concat())
}

/// Returns a finding's title and verdict.
fn told(finding: &ComparedFindingReport) -> String {
    format!("{}: {}", line(&finding.title), word(finding.verdict))
}

fn word(verdict: Option<FindingVerdict>) -> &'static str {
    verdict.map_or("not voted on", FindingVerdict::word)
}

fn run_row(run: &ComparedRunReport) -> [String; 9] {
    let words = run.plan.as_ref().map(|plan| plan.split_whitespace().count().to_string());
    [
        run.run.clone(),
        run.ending.clone(),
        words.unwrap_or_else(|| "-".to_owned()),
        run.accepted_findings.to_string(),
        run.warnings.to_string(),
        run.cost.lanes.to_string(),
        run.cost.input_tokens.to_string(),
        run.cost.output_tokens.to_string(),
        run.cost.micro_dollars.map_or_else(|| "-".to_owned(), dollars),
    ]
}

fn row(side: &CompareSideReport) -> [String; 9] {
    [
        side.way.to_owned(),
        side.lanes.to_string(),
        side.words.to_string(),
        side.tasks.to_string(),
        side.missing.to_string(),
        side.input_tokens.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string()),
        side.output_tokens.map_or_else(|| "-".to_owned(), |tokens| tokens.to_string()),
        side.micro_dollars.map_or_else(|| "-".to_owned(), dollars),
        side.seconds.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_shown_beside_tokens_if_known() {
        let side = |micro_dollars| CompareSideReport {
            way: "single",
            lanes: 1,
            without_usage: 0,
            words: 0,
            tasks: 0,
            missing: 0,
            input_tokens: Some(3),
            output_tokens: None,
            micro_dollars,
            seconds: 0,
        };
        let costs = [Some(20_000), None].map(|money| row(&side(money))[7].clone());
        assert_eq!(costs, ["$0.02", "-"]);
        assert_eq!(row(&side(None))[5..7], ["3", "-"], "an unknown count is not zero");
    }
}
