//! `convoke runs`, `show`, `resume`, `replay` and `recount`: what is left of a design, and going on.

mod artifact;
mod integrity;
pub(super) mod matters;
mod recount;
mod report;
mod results;
mod spending;

use std::collections::HashSet;

use convoke_domain::design::facts::Facts;
use convoke_domain::design::outline::Outline;
use convoke_domain::design::quote::line;
use convoke_domain::design::walk::{DesignWalk, Ending, Next};
use convoke_domain::lane::ledger::Sum;
use convoke_domain::run::{RunId, RunState};
use convoke_domain::text::{fitting, hanging, width};
use convoke_engine::design::run_folder::RunFolders;
use convoke_engine::manifest::record::RECORD_FILE;
use convoke_store::journal::{Integrity, Run};
use convoke_store::lane::LaneQuery;

use self::artifact::artifact;
pub(super) use self::integrity::{integrity, must_be_sound};
use self::matters::MattersReport;
pub use self::recount::RecountArgs;
use self::report::{
    Conclusion, LaneReport, LineReport, ReplayReport, RulesReport, RunReport, ShowReport,
};
use self::results::ResultsReport;
use self::spending::Spending;
use super::design::{CourseArgs, hold, opened, texts, warnings};
use super::manifest;
use super::table::render;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused};

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
    /// The run, or the beginning of its name
    #[arg(value_parser = RunId::parse)]
    run: RunId,

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

#[derive(Debug, thiserror::Error)]
#[error("cannot find `{name}` among the artifacts of the run")]
struct NoArtifact {
    name: String,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot go on with `{run}`: it is a rehearsal, and its copy of the project is gone")]
struct NotAgain {
    run: RunId,
}

/// Refuses a rehearsal: its agents are gone with its copy of the project.
pub(super) fn must_be_real(run: &RunId, facts: &Facts) -> Result<(), Failure> {
    if !facts.settings().is_some_and(|(_, settings)| settings.is_rehearsal) {
        return Ok(());
    }
    let failure = Failure::new(ErrorClass::Refused, NotAgain { run: run.clone() });
    Err(failure.hint("begin another: `convoke design --rehearse`"))
}

/// A run with all that is known of it.
pub(super) struct Known {
    pub(super) workspace: Workspace,
    pub(super) run: Run,
    integrity: Integrity,
    pub(super) facts: Facts,
    pub(super) progress: Outline,
}

impl Known {
    pub(super) fn open(app: &App, id: &RunId) -> Result<Self, Failure> {
        let workspace = Workspace::open(app, None)?;
        let run = workspace.store.run(&workspace.scope.project, id).map_err(refused)?;
        let integrity = integrity(&workspace, &run.id)?;
        // What cannot be read because it was changed is not told of as something unknown.
        let (_, events) = opened(&workspace, &run.id)
            .or_else(|failure| must_be_sound(&run.id, integrity).and(Err(failure)))?;
        let mut design = DesignWalk::fold(events);
        let progress = design.outline();
        let facts = design.into_facts();
        Ok(Self { workspace, run, integrity, facts, progress })
    }

    /// Tells whether every answer of the run was recorded.
    pub(super) fn is_rehearsal(&self) -> bool {
        self.facts.settings().is_some_and(|(_, settings)| settings.is_rehearsal)
    }

    /// Adds up what it has cost.
    fn spending(&self) -> Result<Spending, Failure> {
        let accepted = self.progress.results.accepted_findings() as u64;
        if self.is_rehearsal() {
            return Ok(Spending::recorded(&self.facts.ended(), accepted));
        }
        let query = LaneQuery { run: Some(self.run.id.as_str()), ..LaneQuery::default() };
        let entries = self.workspace.store.lanes(query).map_err(refused)?;
        Ok(Spending::paid(&entries, accepted))
    }

    /// Returns how many lanes it had and what they spent, as `show` says it.
    pub(super) fn sum(&self) -> Result<Sum, Failure> {
        self.spending().map(|spending| spending.total())
    }

    /// Returns the warnings of a run that came to its end.
    fn degraded(&self) -> &[String] {
        match &self.progress.next {
            Next::End(Ending::Complete { degraded }) => degraded,
            Next::End(_) | Next::Need(_) => &[],
        }
    }

    fn ending(&self, state: RunState) -> String {
        match &self.progress.next {
            Next::Need(_) => format!("{}, not at its end", state.name()),
            Next::End(Ending::Complete { degraded }) if degraded.is_empty() => {
                "complete".to_owned()
            }
            Next::End(Ending::Complete { degraded }) => {
                format!("complete, DEGRADED ({})", warnings(degraded.len()))
            }
            Next::End(Ending::Refused(_)) => "refused".to_owned(),
            Next::End(Ending::DirtyTree) => "ended because of a changed working tree".to_owned(),
            Next::End(Ending::Failed(failed)) => format!("failed: {}", failed.why),
            Next::End(Ending::OverBudget(why)) => format!("over budget: {why}"),
            Next::End(Ending::HeavyFailed(why)) => format!("stopped, its worker failed: {why}"),
            Next::End(Ending::NotExported(why)) => format!("complete, but not exported: {why}"),
        }
    }
}

impl RunsArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let Workspace { store, scope } = &Workspace::open(app, None)?;
        let runs = store.runs(&scope.project).map_err(refused)?;
        let worked_on = worked_on(app);
        let reports: Vec<_> = runs
            .iter()
            .map(|run| {
                let end = Conclusion::of(&**store, run)?;
                let state = if end.is_open { RunState::Stopped } else { run.state };
                Ok(RunReport {
                    run: run.id.to_string(),
                    state: state.seen(&run.id, &worked_on).name(),
                    degraded: end.warnings.map(|count| count > 0),
                    warnings: end.warnings,
                    undecided: end.undecided,
                    started_at: run.started_at.to_string(),
                    feature: run.feature.clone(),
                })
            })
            .collect::<Result<_, Failure>>()?;
        match app.format {
            Format::Json => output.json(&reports)?,
            Format::Text => {
                let widest = |column: fn(&RunReport) -> String| {
                    reports.iter().map(|run| width(&column(run))).max().unwrap_or_default()
                };
                let taken = widest(|run| run.run.clone()) + widest(RunReport::standing) + 4;
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

/// How many columns a line has, and how many of them a feature gets at least in a list.
const COLUMNS: usize = 80;
const LEAST_FEATURE: usize = 20;

/// Returns the runs that somebody works on now.
pub(super) fn worked_on(app: &App) -> HashSet<RunId> {
    let folders = app.environment.runs().map(RunFolders::new);
    folders.map(|folders| folders.worked_on()).unwrap_or_default()
}

#[derive(Debug, thiserror::Error)]
#[error("cannot show a run: there is none yet")]
struct NoRun;

pub(super) fn last(app: &App) -> Result<RunId, Failure> {
    let Workspace { store, scope } = &Workspace::open(app, None)?;
    let runs = store.runs(&scope.project).map_err(refused)?;
    let last = runs.into_iter().next().map(|run| run.id);
    last.ok_or_else(|| Failure::new(ErrorClass::Refused, NoRun).hint("convoke design --rehearse"))
}

impl ShowArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let known = match &self.run {
            Some(run) => Known::open(app, run)?,
            None => Known::open(app, &last(app)?)?,
        };
        known.warn_if_changed(output);
        if let Some(name) = &self.artifact {
            if ["manifest", RECORD_FILE].contains(&name.as_str()) {
                return manifest::show(&known, output);
            }
            return artifact(&known, name, app.format, output);
        }
        let lanes = known.facts.ended();
        let state = known.run.state.seen(&known.run.id, &worked_on(app));
        match app.format {
            Format::Json => output.json(&ShowReport {
                run: known.run.id.as_str(),
                state: state.name(),
                feature: &known.run.feature,
                ending: known.ending(state),
                rules: RulesReport::new(&known.facts),
                degraded: known.degraded(),
                independence: known.progress.independence.as_deref(),
                matters: MattersReport::new(&known.progress),
                results: ResultsReport::new(
                    &known.progress.results,
                    known.facts.settings().map(|(_, settings)| settings),
                ),
                artifacts: texts(&known.progress.files),
                lanes: lanes.iter().map(|(id, end)| LaneReport::new(id.as_str(), end)).collect(),
                cost: known.spending()?,
            })?,
            Format::Text => output.data(&shown(&known, state, &known.spending()?))?,
        }
        Ok(Exit::Done)
    }
}

fn shown(known: &Known, state: RunState, spending: &Spending) -> String {
    let recorded =
        if known.is_rehearsal() { " (a rehearsal: every answer was recorded)" } else { "" };
    let head = (&known.run.id, known.ending(state), line(&known.run.feature));
    let independence = known.progress.independence.as_ref();
    let independence = independence.map_or(String::new(), |words| {
        hanging(&format!("independence: {words}"), COLUMNS, 2) + "\n\n"
    });
    let feature = hanging(&head.2, COLUMNS, 0);
    let mut text = format!("run {}: {}{recorded}\n{feature}\n\n{independence}", head.0, head.1);
    let lanes = known.facts.ended();
    let rows = lanes.iter().map(|(id, end)| {
        let usage = end.usage.unwrap_or_default();
        [
            id.to_string(),
            end.model.clone().unwrap_or_else(|| "-".to_owned()),
            end.status.name().to_owned(),
            format!("{} s", end.took / 1000),
            usage.input.to_string(),
            usage.output.to_string(),
        ]
    });
    text += &render(["lane", "model", "status", "took", "in", "out"], rows, &[3, 4, 5]);
    text += &spending.text();
    let matters = matters::text(&known.progress);
    let matters = if matters.is_empty() { matters } else { format!("\n\n{}", matters.trim_end()) };
    text += &matters;
    let names: Vec<_> = known.progress.files.keys().map(String::as_str).collect();
    let artifacts = hanging(&format!("artifacts: {}", names.join(", ")), COLUMNS, 2);
    text + &format!("\n\n{artifacts}\n")
}

impl ResumeArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::open(app, None)?;
        let run = workspace.store.run(&workspace.scope.project, &self.run).map_err(refused)?;
        must_be_sound(&run.id, integrity(&workspace, &run.id)?)?;
        let (_, events) = opened(&workspace, &run.id)?;
        let facts = Facts::fold(events);
        must_be_real(&run.id, &facts)?;
        let lock = hold(app, &run.id)?;
        self.course.go(app, &workspace, &run.id, lock, output)
    }
}

impl ReplayArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let known = Known::open(app, &self.run)?;
        known.warn_if_changed(output);
        let lines = &known.progress.lines;
        match app.format {
            Format::Text => {
                for line in lines {
                    output.data(&format!("{}\n", line.text()))?;
                }
            }
            Format::Json => output.json(&ReplayReport {
                run: known.run.id.as_str(),
                rules: RulesReport::new(&known.facts),
                lines: lines.iter().map(LineReport::new).collect(),
            })?,
        }
        Ok(Exit::Done)
    }
}
