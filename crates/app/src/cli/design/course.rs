//! A run on its way: with what it goes on, and what is done when it has come to an end.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use convoke_domain::design::event::{Event, Settings, Stamped};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::walk::{Ending, Progress, walk};
use convoke_domain::lane::cap::Cap;
use convoke_domain::run::{RunId, RunState};
use convoke_engine::design::run::{Outcome, RunError, run};
use convoke_engine::design::run_folder::{RunFolderError, RunFolders};
use convoke_engine::lock::Lock;

use super::ending::{Earlier, hand_over, told, withheld};
use super::nested::Caller;
use super::person::{Person, Written};
use super::rehearsal::REPLIES;
use super::screen::Screen;
use super::stage::{Beginning, Stage, unanswered};
use super::{DesignError, ground, opened, worker};
use crate::app::{App, Format};
use crate::cli::lane::{PinArgs, seconds};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::interrupt;
use crate::output::Output;
use crate::workspace::{Workspace, refused};
use convoke_service::design::prospect;
use convoke_service::lane::PinnedRules;
use convoke_service::manifest::run_record;
use convoke_service::run::RunKind;

/// What can be said anew when a run is resumed.
#[derive(Debug, Clone, clap::Args)]
pub(in crate::cli) struct CourseArgs {
    /// What all lanes together may spend, such as 2M tokens or $20
    #[arg(long, value_name = "CAP", value_parser = cap)]
    budget: Option<String>,

    /// How long one lane may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "1800", value_parser = seconds())]
    limit: Duration,

    /// Answers to questions, one a line: `1d/2: the answer`
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,

    /// Take the recommendation when a question waited this long, in seconds, and at once where
    /// nobody can answer
    #[arg(long, value_name = "SECONDS", value_parser = seconds())]
    answer_limit: Option<Duration>,

    /// Do not ask agents whether they answer before they are needed
    #[arg(long)]
    no_probe: bool,

    #[command(flatten)]
    rules: PinArgs,

    /// The author's answers in a rehearsal.
    #[arg(skip)]
    recorded: Option<String>,
}

/// Tells the workflow that asked for the design how it ended.
fn tell_caller(settings: &Settings, outcome: &Outcome, progress: &Progress) {
    let Some(caller) = Caller::of(settings) else { return };
    caller.ends(settings, progress.available);
    let is_failed = matches!(outcome, Outcome::Ended(Ending::HeavyFailed(_) | Ending::Failed(_)));
    if settings.subagent && is_failed {
        caller.withdraw(progress);
    }
}

/// Keeps what a run withholds from publication in a private file, and returns where that is.
fn keep_withheld(
    folders: &RunFolders,
    id: &RunId,
    progress: &Progress,
    kind: RunKind,
    output: &Output,
) -> Option<PathBuf> {
    let text = withheld(id, progress).filter(|_| kind == RunKind::Real)?;
    let kept = folders.keep_withheld(id, &text);
    if let Err(error) = &kept {
        output.say(&format!("warning: {error}; `convoke show {id}` lists what is withheld"));
    }
    kept.ok()
}

impl CourseArgs {
    /// Has questions answered from what was recorded.
    pub(super) fn with_recorded(&self, replies: String) -> Self {
        Self { recorded: Some(replies), ..self.clone() }
    }

    /// Looks at what was said, before anything is done.
    pub(in crate::cli) fn check(&self) -> Result<(), Failure> {
        self.answers.as_deref().map(read_answers).transpose().map(drop)
    }

    /// Returns what may be spent, as it was said.
    pub(super) const fn budget(&self) -> Option<&String> {
        self.budget.as_ref()
    }

    /// Goes on where the journal ends. However that fails, the run can be taken up again. Whoever has
    /// the lock is the only one who does, so the journal is opened here.
    pub(in crate::cli) fn go(
        &self,
        app: &App,
        workspace: &Workspace,
        id: &RunId,
        _lock: Lock,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let gone = self.gone(app, workspace, id, output);
        if gone.is_err() {
            workspace.store.mark_run(id, RunState::Stopped, now()).ok();
        }
        gone
    }

    fn gone(
        &self,
        app: &App,
        workspace: &Workspace,
        id: &RunId,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let folders = folders(app)?;
        worker::wait_for_last(&folders, id)?;
        let (journal, events) = opened(workspace, id)?;
        let settings = begun(id, &events)?.clone();
        let again = |failure| resumable(failure, id, &settings);
        let mut stage = self.stage(app, id, &events, output).map_err(again)?;
        let folder = stage.folder.clone();
        // What is played costs nothing.
        let is_decided = events.iter().any(|stamped| matches!(stamped.event, Event::Decided(_)));
        if !settings.is_rehearsal && app.format == Format::Text && !is_decided {
            stage.forecast = Some(prospect(workspace, id, stage.budget)?);
        }
        if events.len() > 1 {
            stage.tell_changes()?;
            ground::check(&mut stage, &Facts::fold(events.iter().cloned()))?;
        }
        let outcome =
            run(journal, events, &mut stage).map_err(|error| again(unheard(run_failed(error))))?;
        let is_complete = matches!(outcome, Outcome::Ended(Ending::Complete { .. }));
        let left_behind = is_complete.then(|| stage.left_behind()).flatten();
        if let Some(warning) = &left_behind {
            stage.screen.say(warning);
        }
        if stage.is_unanswered && outcome == Outcome::Interrupted {
            return Err(unanswered(id));
        }
        // Whoever stops us at this question does the same as at any other.
        let is_stopped = outcome == Outcome::TreeNeedsAPerson && interrupt::cancel().is_asked();
        let outcome = if is_stopped { Outcome::Interrupted } else { outcome };
        let (_, events) = opened(workspace, id)?;
        let earlier = Earlier { plans: earlier_plans(&events) };
        let facts = Facts::fold(events);
        let progress = walk(&facts);
        if let (Outcome::Ended(Ending::Complete { .. }), Some(file)) = (&outcome, &self.answers) {
            for (line, id) in stage.person.unasked(&facts) {
                let said = format!("answers `{id}`, which was never asked");
                stage.screen.say(&fault(file, line, &said));
            }
        }
        if facts.set_up().is_some() {
            tell_caller(&settings, &outcome, &progress);
        }
        if let (Outcome::Ended(Ending::Complete { .. }), Some(dir)) =
            (&outcome, &settings.feature_dir)
        {
            let kept = workspace.store.run(&workspace.scope.project, id).map_err(refused)?;
            let record = run_record(workspace, &kept, &facts, &progress)?;
            hand_over(Path::new(dir), id, &progress, record, &earlier, output).map_err(again)?;
        }
        if is_complete {
            folders.remove(&folder, now()).map_err(held)?;
        }
        let kind = RunKind::of(&settings);
        let withheld = keep_withheld(&folders, id, &progress, kind, output);
        let exit = told(app, id, &outcome, &progress, withheld.as_deref(), kind, output)?;
        let is_left = left_behind.is_some() && exit == Exit::Done;
        Ok(if is_left { Exit::DirtyTree } else { exit })
    }

    /// Sets the stage for a run that was begun.
    pub(super) fn stage<'a>(
        &self,
        app: &'a App,
        id: &RunId,
        events: &[Stamped],
        output: &'a mut Output,
    ) -> Result<Stage<'a>, Failure> {
        let CourseArgs { budget, limit, answers, answer_limit, no_probe, rules, recorded } = self;
        let settings = begun(id, events)?;
        let tree = app.project.canonicalize().unwrap_or_else(|_| app.project.clone());
        let budget = budget.as_ref().or(settings.budget.as_ref());
        let written = answers.as_deref().map(read_answers).transpose()?.unwrap_or_default();
        for (line, said) in &written.faults {
            output.say(&fault(answers.as_deref().unwrap_or(Path::new("")), *line, said));
        }
        let recorded = recorded.as_deref().map(Written::read);
        for (line, said) in recorded.iter().flat_map(|recorded| &recorded.faults) {
            output.say(&fault(Path::new(REPLIES), *line, said));
        }
        let person = match recorded {
            Some(recorded) => Person::recorded(written, recorded),
            None => Person::new(written, *answer_limit),
        };
        Ok(Stage {
            app,
            caller: Caller::of(settings),
            run: id.clone(),
            folder: folders(app)?.make(id, &tree, now()).map_err(held)?,
            beginning: Beginning {
                branch_info: settings.branch_info.clone(),
                no_branch: settings.no_branch,
                no_probe: *no_probe,
            },
            budget: budget.and_then(|text| Cap::parse(text).ok()),
            limit: *limit,
            rules: rules.rules(),
            person,
            screen: Screen::new(app, output),
            kept: BTreeMap::new(),
            worker: self.worker(app, id),
            is_worker: false,
            stopping: None,
            is_unanswered: false,
            forecast: None,
            is_blind: false,
            watch: None,
        })
    }

    /// Returns what a process is told that does the heavy part.
    fn worker(&self, app: &App, id: &RunId) -> Vec<String> {
        let limit = self.limit.as_secs_f64().to_string();
        let mut words = vec!["--project".to_owned(), app.project.display().to_string()];
        let (run, id) = ("--run".to_owned(), id.to_string());
        words.extend(["plumbing".to_owned(), "heavy-worker".to_owned(), run, id]);
        words.extend(["--limit".to_owned(), limit]);
        let budget = self.budget.iter().flat_map(|cap| ["--budget".to_owned(), cap.clone()]);
        words.extend(budget);
        words.extend(self.no_probe.then(|| "--no-probe".to_owned()));
        words.extend((self.rules.rules() == PinnedRules::LeftOut).then(|| "--no-pins".to_owned()));
        words
    }
}

/// Returns the plans that a run had before each decision of a person.
fn earlier_plans(events: &[Stamped]) -> Vec<Arc<str>> {
    let is_decision = |stamped: &&Stamped| matches!(stamped.event, Event::Decided(_));
    let places = events.iter().enumerate().filter(|(_, stamped)| is_decision(stamped));
    let before = |(place, _): (usize, _)| {
        let facts = Facts::fold(events[..place].iter().cloned());
        walk(&facts).files.get("plan.txt").cloned()
    };
    places.filter_map(before).collect()
}

/// Takes the working tree for a run, as long as what is returned lives.
pub(in crate::cli) fn hold(app: &App, id: &RunId) -> Result<Lock, Failure> {
    let tree = app.project.canonicalize().unwrap_or_else(|_| app.project.clone());
    folders(app)?.hold(&tree, id).map_err(held)
}

/// Returns what was asked for.
fn begun<'e>(id: &RunId, events: &'e [Stamped]) -> Result<&'e Settings, Failure> {
    match events.first().map(|first| &first.event) {
        Some(Event::Begun(settings)) => Ok(settings),
        _ => Err(Failure::new(ErrorClass::Refused, DesignError::NotBegun { run: id.clone() })),
    }
}

pub(super) fn folders(app: &App) -> Result<RunFolders, Failure> {
    let root = app.environment.runs();
    let root = root.ok_or_else(|| Failure::new(ErrorClass::Prerequisite, DesignError::NoHome))?;
    Ok(RunFolders::new(root))
}

pub(super) fn held(error: RunFolderError) -> Failure {
    let hint = error.hint();
    Failure::new(ErrorClass::Prerequisite, error).hint(hint)
}

pub(super) fn run_failed(error: RunError<Failure>) -> Failure {
    match error {
        RunError::World(failure) => failure,
        RunError::Store(error) => refused(error),
        RunError::Codec(error) => {
            Failure::new(ErrorClass::Prerequisite, DesignError::Journal(Box::new(error)))
        }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("cannot go on with the run: nobody reads any more what it prints")]
struct Unheard;

/// Whoever closes a pipe has enough of the text; the run itself is not at its end.
fn unheard(failure: Failure) -> Failure {
    if !crate::output::is_closed_pipe(&failure) {
        return failure;
    }
    Failure::new(ErrorClass::Prerequisite, Unheard)
}

/// Whatever stands in a run's way, such as a full disk, it goes on when that is out of the way; the
/// copy of a rehearsal is gone then.
fn resumable(failure: Failure, id: &RunId, settings: &Settings) -> Failure {
    let resume = format!("convoke resume {id}");
    let is_illegible = matches!(failure.error.downcast_ref(), Some(DesignError::Journal(_)));
    if settings.is_rehearsal
        || is_illegible
        || failure.hints.iter().any(|hint| hint.contains(&resume))
    {
        return failure;
    }
    failure.hint(resume)
}

/// Checks what may be spent, and keeps it as it was said.
fn cap(text: &str) -> Result<String, String> {
    Cap::parse(text).map(|_| text.to_owned()).map_err(|error| error.to_string())
}

/// Says what is wrong with a line of a file of answers.
fn fault(file: &Path, line: usize, said: &str) -> String {
    format!("warning: line {line} of {} {said}", file.display())
}

fn read_answers(path: &Path) -> Result<Written, Failure> {
    let text = fs::read_to_string(path).map_err(|source| {
        Failure::new(ErrorClass::Usage, DesignError::Folder { path: path.to_owned(), source })
    })?;
    Ok(Written::read(&text))
}
