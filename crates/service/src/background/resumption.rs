//! Going on with a run that was stopped or could not begin, when a caller repeats its request.
//!
//! A caller names the design by the key of its request, or by the run's id: a design that began at a
//! terminal has no key, and a model that lost its context may know the id alone.

use convoke_domain::lane::budget::WrittenBudget;
use convoke_domain::run::{RunId, RunState};
use convoke_store::lane::LaneQuery;

use super::answer::{ANSWERS, in_own_terminal};
use super::attempt::Attempt;
use super::folder::{Folders, KeptRun};
use super::words::Words;
use super::{
    BackgroundKind, POLL_AFTER, RunWork, StartError, StartRunRequest, StartedRunReport, work,
};
use crate::design::forecast_of_run;
use crate::failure::{ErrorClass, Failure};
use crate::run::{DesignProgress, design_progress};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// Whether and how a design that no process works on goes on when its request is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resumption {
    /// It goes on.
    Free,
    /// It goes on with an answer that an earlier process was given and did not take.
    WithAnswer,
    /// It goes on once the working tree is as it was.
    CleanTree,
    /// It cannot: its recorded agents are gone.
    Rehearsal,
    /// It came to its end, works, or waits for an answer.
    No,
}

impl Resumption {
    /// Returns how a design goes on. The caller has looked whether the last attempt works.
    pub(super) fn of(design: &DesignProgress, attempt: Option<&Attempt>) -> Self {
        if design.state != RunState::Stopped || design.is_at_its_end {
            return Self::No;
        }
        if design.is_rehearsal {
            return Self::Rehearsal;
        }
        if design.question.is_some() {
            return if given_answer(design, attempt).is_some() {
                Self::WithAnswer
            } else {
                Self::No
            };
        }
        if design.is_tree_changed { Self::CleanTree } else { Self::Free }
    }

    /// Says how to have the design go on.
    pub(super) fn how(self, run: &RunId, key: Option<&str>) -> Option<String> {
        let key = if key.is_some() { "again with the same key, or with" } else { "with" };
        let again = format!("call run_start {key} kind=design and key={run}, to go on");
        match self {
            Self::Free => Some(again),
            Self::WithAnswer => Some(format!("{again} with the answer that was given")),
            Self::CleanTree => Some(format!(
                "its agents found a changed working tree: undo those changes, then {again}; or {}",
                in_own_terminal(&format!("convoke resume {run}"))
            )),
            Self::Rehearsal => {
                Some("a rehearsal cannot go on: call run_start with another key".to_owned())
            }
            Self::No => None,
        }
    }
}

/// Returns the file of an answer to the open question, if the last process was given one and ended before
/// it took it. A person is not asked twice.
fn given_answer(design: &DesignProgress, attempt: Option<&Attempt>) -> Option<String> {
    let question = design.question.as_ref()?;
    let answers = attempt?.read(ANSWERS)?;
    answers.starts_with(&format!("{}:", question.id)).then_some(answers)
}

/// How a repeated request finds its design.
pub(super) struct RepeatedDesign<'a> {
    kept: &'a KeptRun,
    design: DesignProgress,
    resumption: Resumption,
}

impl<'a> RepeatedDesign<'a> {
    /// Looks at a design that an earlier call started. Only who starts runs alone may look: of two callers,
    /// the second must see what the first has started.
    pub(super) fn find(session: &Session, kept: &'a KeptRun) -> Option<Self> {
        let is_design = kept.request.kind == BackgroundKind::Design;
        let attempt = kept.last_attempt();
        if !is_design || attempt.as_ref().is_some_and(|last| last.goes_on(session.now())) {
            return None;
        }
        let run = RunId::parse(&kept.request.run).ok()?;
        let design = design_progress(session, &run).ok().filter(|design| design.run == run)?;
        let resumption = Resumption::of(&design, attempt.as_ref());
        Some(Self { kept, design, resumption })
    }

    /// Has the design go on if it can, and tells whether it does. Without a budget of its own, it gets the
    /// given one.
    pub(super) fn resume(
        &self,
        session: &Session,
        budget: impl FnOnce() -> Result<Option<WrittenBudget>, Failure>,
    ) -> Result<bool, Failure> {
        if !matches!(
            self.resumption,
            Resumption::Free | Resumption::WithAnswer | Resumption::CleanTree
        ) {
            return Ok(false);
        }
        self.kept.refuse_foreign_lane(session)?;
        super::refuse_used_up_day(session)?;
        let budget = if self.design.budget.is_some() { None } else { budget()? };
        let attempt = self.kept.last_attempt();
        let mut words = Words::new(&session.project);
        words.add(["resume", self.design.run.as_str()]);
        words.option("--budget", budget.map(|budget| budget.text().to_owned()));
        match given_answer(&self.design, attempt.as_ref()) {
            Some(answer) => {
                words.add(["--answers"]);
                let next = self.kept.next_attempt_with(words.0, ANSWERS, &answer, session)?;
                work::start_attempt(session, &next)?;
            }
            None => work::start(session, self.kept, &words.0)?,
        }
        Ok(true)
    }
}

impl KeptRun {
    /// A lane pays for the runs that it started, and for no other one.
    fn refuse_foreign_lane(&self, session: &Session) -> Result<(), Failure> {
        let Some(around) = session.environment.surrounding_lane() else { return Ok(()) };
        let payer = self.request.paid_by.as_ref();
        if payer.is_some() && payer == around.run.as_ref() {
            return Ok(());
        }
        let run = self.request.run.clone();
        Err(Failure::new(ErrorClass::Refused, StartError::ForeignRun(run)))
    }

    /// Begins a run again that failed before it asked an agent, and tells whether it did: nothing was paid,
    /// so its key is not spent. Only who starts runs alone may call this.
    pub(super) fn begin_again(
        &self,
        session: &Session,
        run: &RunId,
        request: &RunWork,
        budget: Option<&WrittenBudget>,
    ) -> Result<bool, Failure> {
        let has_failed = self.last_attempt().is_some_and(|last| last.has_failed(session.now()));
        // A worker of a fleet may have begun what this machine knows nothing of.
        if !has_failed || request.is_remote() || has_left_traces(session, run)? {
            return Ok(false);
        }
        self.refuse_foreign_lane(session)?;
        super::refuse_used_up_day(session)?;
        request.check_agents(session)?;
        work::start(session, self, &request.words(&session.project, run, budget))?;
        Ok(true)
    }
}

/// Tells whether a run asked an agent, or left a record of a design.
pub(super) fn has_left_traces(session: &Session, run: &RunId) -> Result<bool, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let query = LaneQuery { run: Some(run.as_str()), last: Some(1), ..LaneQuery::default() };
    let has_lanes = !store.lanes(query).map_err(refused)?.is_empty();
    Ok(has_lanes || store.run(&scope.project, run).is_ok_and(|found| found.id == *run))
}

/// Returns the design of the project whose id is the key of a request.
pub(super) fn named_design(session: &Session, key: &str) -> Option<DesignProgress> {
    let run = RunId::parse(key).ok()?;
    // The beginning of an id names a run, too, and any word may be that.
    design_progress(session, &run).ok().filter(|design| design.run == run)
}

impl StartRunRequest {
    /// Answers a request whose key is the id of a design: the design goes on if it was stopped.
    pub(super) fn go_on_with(
        &self,
        session: &Session,
        design: &DesignProgress,
    ) -> Result<StartedRunReport, Failure> {
        let run = &design.run;
        self.refuse_other_work(design)?;
        let folders = Folders::of(session)?;
        let lock = folders.lock_starts()?;
        let kept = folders.adopt(run, BackgroundKind::Design)?;
        let kept_budget = kept.budget()?.map(|budget| budget.text().to_owned());
        let mut settled = None;
        let was_resumed = match RepeatedDesign::find(session, &kept) {
            Some(repeated) => repeated.resume(session, || {
                settled = self.settle_budget(session, &folders)?;
                Ok(settled.clone())
            })?,
            None => false,
        };
        drop(lock);
        let settled = settled.map(|budget| budget.text().to_owned());
        let budget = design.budget.clone().or(kept_budget).or(settled);
        let limit = budget.as_deref().and_then(|text| WrittenBudget::parse(text).ok());
        let limit = limit.as_ref().map(WrittenBudget::budget);
        Ok(StartedRunReport {
            run: run.to_string(),
            kind: BackgroundKind::Design,
            was_started_before: true,
            was_resumed,
            forecast: was_resumed.then(|| forecast_of_run(session, run, limit)).transpose()?,
            budget,
            poll_after_s: POLL_AFTER,
        })
    }

    /// Refuses a request for something else than the design that its key names.
    fn refuse_other_work(&self, design: &DesignProgress) -> Result<(), Failure> {
        let is_it = match &self.work {
            RunWork::Design(asked) => {
                let text = asked.feature.trim();
                let feature = design.feature.as_deref().map_or("", str::trim);
                text.is_empty() || text == feature || design.is_rehearsal
            }
            RunWork::Dispatch(_) | RunWork::Lane(_) => false,
        };
        if is_it {
            return Ok(());
        }
        let (key, run) = (self.key.trim().to_owned(), design.run.clone());
        Err(Failure::new(ErrorClass::Refused, StartError::OtherRequest { key, run })
            .hint("name the id alone to go on with that design, or use another key"))
    }
}
