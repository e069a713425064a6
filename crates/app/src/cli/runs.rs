//! `convoke runs`, `show`, `resume`, `replay` and `recount`: what is left of a design, and going on.

mod cost_tables;

use convoke_domain::design::quote::line;
use convoke_domain::run::RunId;
use convoke_domain::text::{fitting, hanging, width};
use convoke_engine::manifest::record::RECORD_FILE;
use convoke_service::design::resume_run;
pub(super) use convoke_service::run::KnownRun as Known;
use convoke_service::run::{
    RunLaneReport, RunShowReport, RunSummaryReport, last_stopped_run, list_runs, record_text,
    recount_run, replay_run, show_artifact, show_run,
};

use super::design::{CourseArgs, Screen, tell};
use super::table::render;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use convoke_service::failure::Failure;

/// List the designs of this project, the last one first
#[derive(Debug, clap::Args)]
pub struct RunsArgs {}

/// Show what a design came to: its artifacts, who answered, and what it cost
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// The run, or the beginning of its name [default: the last one]
    #[arg(value_parser = RunId::parse)]
    run: Option<RunId>,

    /// Print one artifact: `plan`, `tally`, `diagram`, `manifest`, or a file's name
    #[arg(long, value_name = "NAME")]
    artifact: Option<String>,
}

/// Go on with a design that was stopped or killed
///
/// Whatever was answered is not asked again.
#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    /// The run, or the beginning of its name [default: the last one that was stopped]
    #[arg(value_parser = RunId::parse)]
    run: Option<RunId>,

    #[command(flatten)]
    course: CourseArgs,
}

/// Print what a design printed, from its journal, with no agent
#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// The run, or the beginning of its name
    #[arg(value_parser = RunId::parse)]
    run: RunId,
}

/// Count a design again from the recorded answers, and compare
///
/// Exit 0 means that the journal is whole and gives the same artifacts, 1 that it does not. A run that
/// began under other rules is counted by the present ones; `rules:` says so, and artifacts that differ
/// only for that reason do not fail the check.
#[derive(Debug, clap::Args)]
pub struct RecountArgs {
    /// The run, or the beginning of its name
    #[arg(value_parser = RunId::parse)]
    run: RunId,
}

/// How many columns a line has, and how many of them a feature gets at least in a list.
const COLUMNS: usize = 80;
const LEAST_FEATURE: usize = 20;

impl RunsArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let reports = list_runs(app)?;
        match app.format {
            Format::Json => output.json(&reports)?,
            Format::Text => {
                let widest = |column: fn(&RunSummaryReport) -> String| {
                    reports.iter().map(|run| width(&column(run))).max().unwrap_or_default()
                };
                let taken = widest(|run| run.run.clone()) + widest(RunSummaryReport::standing) + 4;
                let room = COLUMNS.saturating_sub(taken).max(LEAST_FEATURE);
                let rows = reports.iter().map(|run| {
                    [run.run.clone(), run.standing(), fitting(&line(&run.feature), room)]
                });
                output.data(&render(["run", "state", "feature"], rows, &[]))?;
            }
        }
        Ok(Exit::Done)
    }
}

impl ShowArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let run = self.run.as_ref();
        match self.artifact.as_deref() {
            // The record is JSON already.
            Some("manifest" | RECORD_FILE) => output.data(&record_text(app, run)?)?,
            Some(name) => {
                let artifact = show_artifact(app, run, name)?;
                match app.format {
                    Format::Text => output.data(&artifact.text)?,
                    Format::Json => output.json(&artifact)?,
                }
            }
            None => {
                let report = show_run(app, run)?;
                match app.format {
                    Format::Json => output.json(&report)?,
                    Format::Text => output.data(&shown(&report))?,
                }
            }
        }
        Ok(Exit::Done)
    }
}

fn shown(report: &RunShowReport) -> String {
    let recorded =
        if report.is_rehearsal { " (a rehearsal: every answer was recorded)" } else { "" };
    let independence = report.independence.as_ref().map_or(String::new(), |words| {
        hanging(&format!("independence: {words}"), COLUMNS, 2) + "\n\n"
    });
    let RunShowReport { run, ending, .. } = report;
    let feature = hanging(&line(&report.feature), COLUMNS, 0);
    let mut text = format!("run {run}: {ending}{recorded}\n{feature}\n\n{independence}");
    let row = |lane: &RunLaneReport| {
        [
            lane.lane.clone(),
            lane.model.clone().unwrap_or_else(|| "-".to_owned()),
            lane.status.to_owned(),
            format!("{} s", lane.took_ms / 1000),
            lane.input_tokens.unwrap_or_default().to_string(),
            lane.output_tokens.unwrap_or_default().to_string(),
        ]
    };
    let head = ["lane", "model", "status", "took", "in", "out"];
    text += &render(head, report.lanes.iter().map(row), &[3, 4, 5]);
    text += &cost_tables::text(&report.cost);
    let matters = report.matters.text();
    let matters = if matters.is_empty() { matters } else { format!("\n\n{}", matters.trim_end()) };
    text += &matters;
    let names: Vec<_> = report.artifacts.keys().map(String::as_str).collect();
    let artifacts = hanging(&format!("artifacts: {}", names.join(", ")), COLUMNS, 2);
    text + &format!("\n\n{artifacts}\n")
}

impl ResumeArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let course = self.course.request();
        let run = match &self.run {
            Some(run) => run.clone(),
            None => last_stopped_run(app)?,
        };
        let ended = resume_run(app, &run, &course, &mut Screen::new(app, output))?;
        tell(app, &ended.report, output)
    }
}

impl ReplayArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = replay_run(app, &self.run)?;
        match app.format {
            Format::Text => {
                for line in &report.lines {
                    output.data(&format!("{}\n", line.text))?;
                }
            }
            Format::Json => output.json(&report)?,
        }
        Ok(Exit::Done)
    }
}

impl RecountArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = recount_run(app, &self.run)?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                output.data(&format!("journal: {}\n", report.journal))?;
                if let Some(difference) = &report.rules_difference {
                    output.data(&format!("rules: {difference}\n"))?;
                    if let Some(changes) = &report.verdicts_line {
                        output.data(&format!("verdicts: {changes}\n"))?;
                    }
                }
                for name in &report.differing {
                    output.data(&format!("differs: {name}\n"))?;
                }
                for decision in &report.decided {
                    output.data(&format!("decided: {decision}\n"))?;
                }
                if !report.is_ended {
                    output.say("note: the run is not at its end; there is nothing to compare with");
                } else if report.is_same && report.differing.is_empty() {
                    output.data(&format!("{} artifacts: the same\n", report.artifacts))?;
                }
            }
        }
        Ok(if report.is_same { Exit::Done } else { Exit::No })
    }
}
