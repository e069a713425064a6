//! A run in progress: its settings, and the work after its end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use convoke_domain::design::citation::cited_in_plan;
use convoke_domain::design::event::{Event, Settings, Stamped};
use convoke_domain::design::facts::Facts;
use convoke_domain::design::outline::DesignOutline;
use convoke_domain::design::render;
use convoke_domain::design::setup::{Ready, SetUp};
use convoke_domain::design::walk::{DesignEnding, DesignWalk};
use convoke_domain::lane::budget::WrittenBudget;
use convoke_domain::run::{RunId, RunState};
use convoke_domain::tree::TreeStatus;
use convoke_engine::design::journal::Journal;
use convoke_engine::design::run_folder::{RunFolderError, RunFolders};

use super::ending::{
    self, DesignOverview, DesignReport, EarlierPlans, EndedDesign, hand_over, withheld,
};
use super::event_loop::{self, DesignOutcome};
use super::front_end::DesignFrontEnd;
use super::held_run::HeldRun;
use super::nested::Caller;
use super::person::{AnswerFile, Person, read_answers};
use super::rehearsal::REPLIES;
use super::stage::{Beginning, Stage, unanswered};
use super::{DesignError, cost, ground};
use crate::failure::{ErrorClass, Failure};
use crate::lane::{ParkTerms, PinnedRules};
use crate::manifest::run_record;
use crate::observer::Reporter;
use crate::run::{ResultsReport, RunKind, run_spending};
use crate::session::Session;
use crate::telemetry::{TracedWork, traced};
use crate::workspace::{Workspace, refused};

/// Settings of a run. A user can change each of them when resuming a run.
#[derive(Debug, Clone)]
pub struct CourseRequest {
    /// The budget of all lanes together, as the user wrote it.
    pub budget: Option<WrittenBudget>,
    /// How long one lane may take.
    pub limit: Duration,
    /// A file of answers to questions, one a line: `1d/2: the answer`.
    pub answers: Option<PathBuf>,
    /// How long a question waits for an answer before the recommendation is taken.
    pub answer_limit: Option<Duration>,
    /// Whether to leave out the probes of agents.
    pub no_probe: bool,
    /// Whether the user's pinned rules go before the prompts.
    pub rules: PinnedRules,
    /// Whether the run waits for the end of an agent's limit.
    pub park: Option<ParkTerms>,
    /// The author's answers in a rehearsal, in the form of the file.
    pub recorded: Option<String>,
}

/// Reports the end of a design to the calling workflow.
fn tell_caller(
    settings: &Settings,
    outcome: &DesignOutcome,
    progress: &DesignOutline,
    reporter: Reporter,
) {
    let Some(caller) = Caller::of(settings, reporter) else { return };
    caller.ends(settings, progress.available);
    let is_failed = matches!(
        outcome,
        DesignOutcome::Ended(DesignEnding::HeavyFailed(_) | DesignEnding::Failed(_))
    );
    if settings.subagent && is_failed {
        caller.withdraw(progress);
    }
}

/// Keeps what a run withholds from publication in a private file, and returns where that is.
fn keep_withheld(
    folders: &RunFolders,
    id: &RunId,
    progress: &DesignOutline,
    kind: RunKind,
    reporter: &Reporter,
) -> Option<PathBuf> {
    let text = withheld(id, progress).filter(|_| kind == RunKind::Real)?;
    let kept = folders.keep_withheld(id, &text);
    if let Err(error) = &kept {
        reporter.warn(format!("{error}; `convoke show {id}` lists what is withheld"));
    }
    kept.ok()
}

impl CourseRequest {
    /// Checks the file of answers, before the run begins.
    pub fn check(&self) -> Result<(), Failure> {
        self.answers.as_deref().map(read_answers).transpose().map(drop)
    }

    /// Goes on where the journal ends. However that fails, the run can be resumed.
    pub(crate) fn go(
        &self,
        session: &Session,
        workspace: &Workspace,
        id: &RunId,
        held: HeldRun<'_>,
        front_end: &mut dyn DesignFrontEnd,
    ) -> Result<EndedDesign, Failure> {
        let span = tracing::info_span!("design", run = %id);
        let _entered = span.enter();
        let mut ready = None;
        let HeldRun { journal, events, hold: _hold } = held;
        let opened = (journal, events);
        let go_on =
            |session: &Session| self.go_on(session, workspace, id, opened, front_end, &mut ready);
        let work = TracedWork::design(workspace, id);
        let mut ended = traced(session, work, go_on, |ended| ended.report.class);
        match &ended {
            Ok(ended) => {
                let (class, warnings) = (ended.report.class, ended.report.degraded.len());
                tracing::info!(?class, warnings, "the design ended");
            }
            Err(failure) => {
                tracing::warn!(class = ?failure.class, "the design stopped");
                workspace.store.mark_run(id, RunState::Stopped, session.now()).ok();
            }
        }
        ending::tell_branch(ready.as_ref(), &mut ended, &session.reporter());
        ended
    }

    /// Continues the run, and says in `began` where it began as soon as that is known.
    fn go_on(
        &self,
        session: &Session,
        workspace: &Workspace,
        id: &RunId,
        (journal, events): (Journal<'_>, Vec<Stamped>),
        front_end: &mut dyn DesignFrontEnd,
        began: &mut Option<Ready>,
    ) -> Result<EndedDesign, Failure> {
        *began = ready(&events).cloned();
        let settings = begun(id, &events)?.clone();
        let earlier = earlier_plans(&events);
        front_end.open(id, &settings);
        let again = |failure| resumable(failure, id, &settings);
        let mut stage = self.stage(session, id, &events, front_end).map_err(again)?;
        // A replay costs nothing.
        let is_decided = events.iter().any(|stamped| matches!(stamped.event, Event::Decided(_)));
        if !settings.is_rehearsal && !is_decided {
            stage.forecast = Some(cost::prospect(workspace, id, stage.budget)?);
        }
        if events.len() > 1 {
            stage.tell_changes()?;
            ground::check(&mut stage, &Facts::fold(events.iter().cloned()))?;
        }
        let ran = event_loop::run(journal, events, &mut stage);
        began.clone_from(&stage.ready);
        let (outcome, design) = ran.map_err(again)?;
        let is_complete = matches!(outcome, DesignOutcome::Ended(DesignEnding::Complete { .. }));
        let left_behind = is_complete.then(|| stage.left_behind()).flatten();
        if let Some(warning) = &left_behind {
            stage.front_end.warn(warning);
        }
        if stage.is_unanswered && outcome == DesignOutcome::Interrupted {
            return Err(unanswered(id));
        }
        // Stopping Convoke at this question is the same as at any other.
        let is_stopped = outcome == DesignOutcome::TreeNeedsAPerson && session.is_stopped();
        let outcome = if is_stopped { DesignOutcome::Interrupted } else { outcome };
        let tree = if left_behind.is_some() { TreeStatus::Dirty } else { TreeStatus::Clean };
        let report = self.conclude(&mut stage, workspace, (design, &earlier), &outcome, tree)?;
        Ok(EndedDesign { report, _stopping: stage.stopping.take() })
    }

    /// Hands over what the run made, and reports how it ended.
    fn conclude(
        &self,
        stage: &mut Stage<'_>,
        workspace: &Workspace,
        (mut design, earlier): (DesignWalk, &EarlierPlans),
        outcome: &DesignOutcome,
        tree: TreeStatus,
    ) -> Result<DesignReport, Failure> {
        let (session, id) = (stage.session, stage.run.clone());
        let progress = design.outline();
        let facts = design.into_facts();
        let (_, settings) = facts.settings().ok_or_else(|| not_begun(&id))?;
        let is_complete = matches!(outcome, DesignOutcome::Ended(DesignEnding::Complete { .. }));
        if let (true, Some(file)) = (is_complete, &self.answers) {
            for (line, id) in stage.person.unasked(&facts) {
                let said = format!("answers `{id}`, which was never asked");
                stage.front_end.warn(&fault(file, line, &said));
            }
        }
        let reporter = session.reporter();
        if facts.set_up().is_some() {
            tell_caller(settings, outcome, &progress, reporter.clone());
        }
        let mut plan_file = None;
        if let (true, Some(dir)) = (is_complete, &settings.feature_dir) {
            let kept = workspace.store.run(&workspace.scope.project, &id).map_err(refused)?;
            let record = run_record(workspace, &kept, &facts, &progress)?;
            let left = hand_over(Path::new(dir), &id, &progress, record, earlier, &reporter)
                .map_err(|failure| resumable(failure, &id, settings))?;
            plan_file = Some(left.display().to_string());
        }
        let folders = folders(session)?;
        if is_complete {
            folders.remove(&stage.folder, session.now()).map_err(held)?;
        }
        let kind = RunKind::of(settings);
        let withheld = keep_withheld(&folders, &id, &progress, kind, &reporter);
        let overview = overview(session, workspace, &id, &facts, &progress, settings, plan_file);
        let report =
            DesignReport::new(&id, outcome, &progress, withheld.as_deref(), kind, overview);
        Ok(report.after(tree))
    }

    /// Sets the stage for a run that was begun.
    pub(super) fn stage<'a>(
        &self,
        session: &'a Session,
        id: &RunId,
        events: &[Stamped],
        front_end: &'a mut dyn DesignFrontEnd,
    ) -> Result<Stage<'a>, Failure> {
        let Self { budget, limit, answers, answer_limit, no_probe, rules, park, recorded } = self;
        let (settings, reporter) = (begun(id, events)?, session.reporter());
        let tree = project_tree(session);
        let budget = budget.as_ref().or(settings.budget.as_ref());
        let written = answers.as_deref().map(read_answers).transpose()?.unwrap_or_default();
        for (line, said) in &written.faults {
            reporter.warn(fault(answers.as_deref().unwrap_or(Path::new("")), *line, said));
        }
        let recorded = recorded.as_deref().map(AnswerFile::read);
        for (line, said) in recorded.iter().flat_map(|recorded| &recorded.faults) {
            reporter.warn(fault(Path::new(REPLIES), *line, said));
        }
        let person = match recorded {
            Some(recorded) => Person::recorded(written, recorded),
            None => Person::new(written, *answer_limit),
        };
        Ok(Stage {
            session,
            caller: Caller::of(settings, reporter),
            run: id.clone(),
            folder: folders(session)?.make(id, &tree, session.now()).map_err(held)?,
            beginning: Beginning {
                branch_info: settings.branch_info.clone(),
                no_branch: settings.no_branch,
                no_probe: *no_probe,
            },
            budget: budget.map(WrittenBudget::budget),
            limit: *limit,
            rules: *rules,
            park: *park,
            person,
            front_end,
            kept: BTreeMap::new(),
            worker: self.worker(session, id),
            is_worker: false,
            stopping: None,
            is_unanswered: false,
            forecast: None,
            is_warned: false,
            lasting: Arc::default(),
            watch: None,
            ready: ready(events).cloned(),
        })
    }

    /// Returns the arguments of the worker process for the heavy part.
    fn worker(&self, session: &Session, id: &RunId) -> Vec<String> {
        let limit = self.limit.as_secs_f64().to_string();
        let mut words = vec!["--project".to_owned(), session.project.display().to_string()];
        let (run, id) = ("--run".to_owned(), id.to_string());
        words.extend(["plumbing".to_owned(), "heavy-worker".to_owned(), run, id]);
        words.extend(["--report".to_owned(), "--limit".to_owned(), limit]);
        let budget =
            self.budget.iter().flat_map(|budget| ["--budget".to_owned(), budget.text().to_owned()]);
        words.extend(budget);
        if let Some(ParkTerms { longest, .. }) = self.park {
            let longest = longest.as_secs_f64().to_string();
            words.extend(["--park".to_owned(), "--park-limit".to_owned(), longest]);
        }
        words.extend(session.telemetry.worker_flag());
        words.extend(self.no_probe.then(|| "--no-probe".to_owned()));
        words.extend((self.rules == PinnedRules::LeftOut).then(|| "--no-pins".to_owned()));
        words
    }
}

/// Returns where a run began, if it did.
fn ready(events: &[Stamped]) -> Option<&Ready> {
    events.iter().rev().find_map(|stamped| {
        let Event::SetUp(set_up) = &stamped.event else { return None };
        let SetUp::Ready(ready) = &**set_up else { return None };
        Some(ready)
    })
}

/// Gathers what a person sees at a glance.
fn overview(
    session: &Session,
    workspace: &Workspace,
    id: &RunId,
    facts: &Facts,
    progress: &DesignOutline,
    settings: &Settings,
    plan_file: Option<String>,
) -> DesignOverview {
    let began = facts.settings().map_or(0, |(at, _)| at);
    let took = session.now().as_millisecond().saturating_sub(began);
    let accepted = progress.results.accepted_findings() as u64;
    DesignOverview {
        panel: settings.panel.clone(),
        results: ResultsReport::new(&progress.results, Some(settings)),
        warnings: render::warnings_for_people(&progress.warnings, Some(settings)),
        independence: render::independence_in_short(&progress.results.voices, settings),
        cost: run_spending(workspace, id, facts, accepted).ok(),
        seconds: u64::try_from(took / 1000).unwrap_or_default(),
        plan_file,
    }
}

/// Returns the plans that a run had before each decision of a person.
fn earlier_plans(events: &[Stamped]) -> EarlierPlans {
    let is_decision = |stamped: &Stamped| matches!(stamped.event, Event::Decided(_));
    let last = events.iter().rposition(is_decision).map_or(0, |last| last + 1);
    let mut design = DesignWalk::default();
    let mut earlier = EarlierPlans::default();
    for stamped in &events[..last] {
        let results = design.results().filter(|_| is_decision(stamped));
        if let Some((results, plan)) =
            results.and_then(|results| Some((results, results.plan.as_ref()?)))
        {
            earlier.places.extend(cited_in_plan(&results.citations, &plan.text));
            earlier.plans.push(plan.clone());
        }
        design.take(stamped.clone());
    }
    earlier
}

pub(super) fn project_tree(session: &Session) -> PathBuf {
    session.project.canonicalize().unwrap_or_else(|_| session.project.clone())
}

/// Returns the request that the run began with.
fn begun<'e>(id: &RunId, events: &'e [Stamped]) -> Result<&'e Settings, Failure> {
    match events.first().map(|first| &first.event) {
        Some(Event::Begun(settings)) => Ok(settings),
        _ => Err(not_begun(id)),
    }
}

fn not_begun(id: &RunId) -> Failure {
    Failure::new(ErrorClass::Refused, DesignError::NotBegun { run: id.clone() })
}

pub(super) fn folders(session: &Session) -> Result<RunFolders, Failure> {
    let root = session.environment.runs();
    let root = root.ok_or_else(|| Failure::new(ErrorClass::Prerequisite, DesignError::NoHome))?;
    Ok(RunFolders::new(root))
}

pub(super) fn held(error: RunFolderError) -> Failure {
    let hint = error.hint();
    Failure::new(ErrorClass::Prerequisite, error).hint(hint)
}

/// Adds the hint to resume: after an obstacle such as a full disk is removed, the run can go on. A
/// rehearsal cannot, because its copy is gone.
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

/// Returns the warning about a line of a file of answers.
fn fault(file: &Path, line: usize, said: &str) -> String {
    format!("line {line} of {} {said}", file.display())
}
