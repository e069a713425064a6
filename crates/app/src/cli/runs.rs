//! `convoke runs`, `show`, `resume`, `replay` and `recount`: the record of a design, and resuming
//! it.

mod shared_report;

use std::path::{Path, PathBuf};

use convoke_domain::design::quote::line;
use convoke_domain::run::RunId;
use convoke_domain::text::{fitting, width};
use convoke_engine::manifest::record::RECORD_FILE;
use convoke_service::design::resume_run;
use convoke_service::fan::resolve_fan;
use convoke_service::run::{
    ArtifactReport, RunSummaryReport, last_stopped_run, list_runs, record_text, recount_run,
    replay_run, show_artifact, show_run,
};

use super::design::{CourseArgs, Screen, tell};
use super::fan;
use super::table::grid;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::{Output, Paging};
use crate::terminal::styled::StyledLine;
use crate::terminal::{markdown, run_page};
use convoke_service::failure::{ErrorClass, Failure};

/// List this project's designs and fan-outs, newest first
#[derive(Debug, clap::Args)]
pub struct RunsArgs {}

/// Show a design's results, participants and cost, or a fan-out's
///
/// With `--html` or `--markdown`, makes a report for others: a page that opens without a network, or
/// a comment for a pull request. Both hold only what follows from the run's journal, leave out
/// findings that may concern security, and can be checked with `convoke verify`.
#[derive(Debug, clap::Args)]
pub struct ShowArgs {
    /// The run's id, or the beginning of it [default: the newest run]
    #[arg(value_parser = run_of_report)]
    run: Option<RunId>,

    /// Print one artifact: `plan`, `tally`, `diagram`, `manifest`, or a file's name; of a fan-out,
    /// `results`
    #[arg(long, value_name = "NAME")]
    artifact: Option<String>,

    /// Write the run to this file as one page that opens without a network (under 3 MB)
    #[arg(long, value_name = "FILE", conflicts_with = "artifact")]
    html: Option<PathBuf>,

    /// Print the run as Markdown for a pull request or an issue (at most 65,536 characters), or
    /// write it to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
        default_missing_value = "-", conflicts_with_all = ["artifact", "html"])]
    markdown: Option<PathBuf>,

    /// Replace a file that exists
    #[arg(long)]
    force: bool,

    /// Print a long text at a terminal instead of opening it in `PAGER`
    #[arg(long)]
    no_pager: bool,
}

/// Resume a stopped design or fan-out
///
/// Convoke reuses every recorded answer and asks only for the missing ones. A fan-out takes `--budget`,
/// `--limit`, `--no-pins`, `--park` and `--park-limit`.
#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    /// The run's id, or the beginning of it [default: the last one that was stopped]
    #[arg(value_parser = RunId::parse)]
    run: Option<RunId>,

    #[command(flatten)]
    course: CourseArgs,
}

/// Print a design's output again from its journal; runs no agent
#[derive(Debug, clap::Args)]
pub struct ReplayArgs {
    /// The run's id, or the beginning of it [default: the newest run]
    #[arg(value_parser = RunId::parse)]
    run: Option<RunId>,
}

/// Count a design's recorded votes again and compare the results
///
/// Exits 0 if the journal is complete and yields the same artifacts, and 1 if not. Convoke counts a
/// run that began under other rules by the present ones; the line `rules:` says so, and artifacts
/// that differ only for that reason do not fail the check.
#[derive(Debug, clap::Args)]
pub struct RecountArgs {
    /// The run's id, or the beginning of it [default: the newest run]
    #[arg(value_parser = RunId::parse)]
    run: Option<RunId>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot make a page or a comment of {run}: it is a fan-out")]
struct NoSharedReport {
    run: RunId,
}

/// How many columns a feature gets at least in a list.
const LEAST_FEATURE: usize = 20;

impl RunsArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let reports = list_runs(&app.session)?;
        match app.format {
            Format::Json => output.json(&reports)?,
            Format::Text if reports.is_empty() => {
                output.data("No runs yet.\n")?;
                output.flush()?;
                output.say("hint: `convoke design --rehearse` shows one without any account");
            }
            Format::Text => {
                let columns = output.page_size().0;
                let widest = |column: fn(&RunSummaryReport) -> String| {
                    reports.iter().map(|run| width(&column(run))).max().unwrap_or_default()
                };
                let taken = widest(|run| run.run.clone()) + widest(RunSummaryReport::standing) + 4;
                let room = columns.saturating_sub(taken).max(LEAST_FEATURE);
                let rows = reports.iter().map(|run| {
                    [run.run.clone(), run.standing(), fitting(&line(&run.feature), room)]
                });
                output.table(&grid(["run", "state", "feature"], rows, &[]))?;
            }
        }
        Ok(Exit::Done)
    }
}

impl ShowArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let run = self.run.as_ref();
        if let Some(fan_out) = resolve_fan(&app.session, run)? {
            return self.show_fan(app, &fan_out, output);
        }
        if self.html.is_some() || self.markdown.is_some() {
            return self.share(app, output);
        }
        match self.artifact.as_deref() {
            // The record is JSON already.
            Some("manifest" | RECORD_FILE) => output.data(&record_text(&app.session, run)?)?,
            Some(name) => {
                let artifact = show_artifact(&app.session, run, name)?;
                match app.format {
                    Format::Json => output.json(&artifact)?,
                    Format::Text if output.is_shown() => self.read(&artifact, output)?,
                    Format::Text => output.data(&artifact.text)?,
                }
            }
            None => {
                let report = show_run(&app.session, run)?;
                match app.format {
                    Format::Json => output.json(&report)?,
                    Format::Text => {
                        let lines = run_page::lines(&report, output.page_size().0);
                        output.long(&lines, self.paging())?;
                    }
                }
            }
        }
        Ok(Exit::Done)
    }

    fn show_fan(&self, app: &App, run: &RunId, output: &mut Output) -> Result<Exit, Failure> {
        if self.html.is_some() || self.markdown.is_some() {
            let failure = Failure::new(ErrorClass::Refused, NoSharedReport { run: run.clone() });
            return Err(failure.hint(format!("convoke show {run} --json")));
        }
        fan::show(app, run, self.artifact.as_deref(), output)
    }

    /// Shows an artifact at a terminal.
    fn read(&self, artifact: &ArtifactReport, output: &mut Output) -> Result<(), Failure> {
        let columns = output.page_size().0;
        let lines = if is_markdown(&artifact.artifact) {
            markdown::lines(&artifact.text, columns)
        } else {
            let none = StyledLine::default();
            let cut = |line: &str| StyledLine::plain(line).cut_to_pieces(columns, &none, &none);
            artifact.text.lines().flat_map(cut).collect()
        };
        output.long(&lines, self.paging())
    }

    const fn paging(&self) -> Paging {
        if self.no_pager { Paging::Refused } else { Paging::Allowed }
    }
}

/// Parses a run's id. For `--markdown FILE`, the error names the form that works.
fn run_of_report(given: &str) -> Result<RunId, String> {
    let is_file = Path::new(given).extension().is_some_and(|kind| kind == "md");
    let form =
        if is_file { format!("; `--markdown={given}` writes to a file") } else { String::new() };
    RunId::parse(given).map_err(|error| format!("{error}{form}"))
}

/// Tells whether an artifact is Markdown. Others are shown as they are: their lines count.
fn is_markdown(name: &str) -> bool {
    let is_named = Path::new(name).extension().is_some_and(|kind| kind == "md");
    is_named || ["plan.txt", "approach-synthesis.txt"].contains(&name)
}

impl ResumeArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let (app, course) = (&self.course.context(app), self.course.request());
        let run = match &self.run {
            Some(run) => run.clone(),
            None => last_stopped_run(&app.session)?,
        };
        if let Some(fan_out) = resolve_fan(&app.session, Some(&run))? {
            return fan::resume(app, &fan_out, self.course.terms(), self.course.park(), output);
        }
        let mut screen = Screen::new(app, output);
        let ended = resume_run(&app.session, Some(&run), &course, &mut screen);
        screen.close()?;
        tell(app, &ended?.report, output)
    }
}

impl ReplayArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = replay_run(&app.session, self.run.as_ref())?;
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
        let report = recount_run(&app.session, self.run.as_ref())?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                output.data(&format!("journal: {}\n", report.journal))?;
                if let Some(difference) = &report.rules_difference {
                    output.data(&format!("rules: {difference}\n"))?;
                }
                if let Some(changes) = &report.verdicts_line {
                    output.data(&format!("verdicts: {changes}\n"))?;
                }
                for name in &report.differing {
                    output.data(&format!("differs: {name}\n"))?;
                }
                for name in &report.reworded {
                    output.data(&format!("worded anew: {name}\n"))?;
                }
                for decision in &report.decided {
                    output.data(&format!("decided: {decision}\n"))?;
                }
                if !report.is_ended {
                    output.say("note: the run has not ended, so there is nothing to compare with");
                } else if report.is_the_same() {
                    let (verdicts, all) = (report.verdicts, report.artifacts);
                    let artifacts = all.saturating_sub(report.reworded.len());
                    output.data(&format!("{verdicts} verdicts, counted again: the same\n"))?;
                    output.data(&format!("{artifacts} artifacts: the same\n"))?;
                }
            }
        }
        Ok(if report.is_same { Exit::Done } else { Exit::No })
    }
}
