//! A run with all that its journal tells.

use std::collections::BTreeMap;
use std::sync::Arc;

use convoke_domain::design::event::Stamped;
use convoke_domain::design::facts::Facts;
use convoke_domain::design::outline::DesignOutline;
use convoke_domain::design::render;
use convoke_domain::design::setup::SetUp;
use convoke_domain::design::walk::{DesignEnding, DesignWalk, Next};
use convoke_domain::lane::ledger::Sum;
use convoke_domain::run::{RunId, RunState};
use convoke_store::journal::{Integrity, Run};
use convoke_store::lane::LaneQuery;

use super::integrity::{illegible, journal_integrity};
use super::spending::SpendingReport;
use crate::design::{open_journal, warning_count};
use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

#[derive(Debug, thiserror::Error)]
#[error("cannot resume `{run}`: it is a rehearsal, and its copy of the project is gone")]
struct NotAgain {
    run: RunId,
}

#[derive(Debug, thiserror::Error)]
#[error("run {run} has no event {event}; its journal has {events}")]
struct NoEvent {
    run: RunId,
    event: u64,
    events: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("run {run} is a fan-out, not a design")]
struct NoDesign {
    run: RunId,
}

/// Refuses a fan-out, whose journal tells of no design.
pub(crate) fn must_be_design(run: &RunId) -> Result<(), Failure> {
    if !run.is_fan() {
        return Ok(());
    }
    let failure = Failure::new(ErrorClass::Refused, NoDesign { run: run.clone() });
    Err(failure.hint(format!("`convoke show {run}` and `convoke resume {run}` know it")))
}

/// Refuses a rehearsal: its agents are gone with its copy of the project.
pub(crate) fn must_be_real(run: &RunId, facts: &Facts) -> Result<(), Failure> {
    if !facts.settings().is_some_and(|(_, settings)| settings.is_rehearsal) {
        return Ok(());
    }
    let failure = Failure::new(ErrorClass::Refused, NotAgain { run: run.clone() });
    Err(failure.hint("start another: `convoke design --rehearse`"))
}

/// Adds up what a run has cost: from the ledger, or from the journal of a rehearsal.
pub(crate) fn run_spending(
    workspace: &Workspace,
    run: &RunId,
    facts: &Facts,
    accepted: u64,
) -> Result<SpendingReport, Failure> {
    if facts.settings().is_some_and(|(_, settings)| settings.is_rehearsal) {
        return Ok(SpendingReport::recorded(&facts.ended(), accepted));
    }
    let query = LaneQuery { run: Some(run.as_str()), ..LaneQuery::default() };
    let entries = workspace.store.lanes(query).map_err(refused)?;
    Ok(SpendingReport::paid(&entries, accepted))
}

/// A run with all that is known of it.
pub struct KnownRun {
    /// The store, and where in it the project is.
    pub workspace: Workspace,
    /// The run, as the store lists it.
    pub run: Run,
    pub(super) integrity: Integrity,
    /// The events that all of it follows from: the whole journal, or its beginning.
    pub(super) events: Vec<Stamped>,
    /// How many events the journal has.
    pub(super) event_count: u64,
    /// The facts of its journal.
    pub facts: Facts,
    /// The state that follows from them.
    pub progress: DesignOutline,
}

impl KnownRun {
    /// Opens a run by its name, or by the beginning of its name.
    pub fn open(session: &Session, id: &RunId) -> Result<Self, Failure> {
        Self::open_at(session, id, None)
    }

    /// Opens a run as it was after an event, from 1.
    pub(super) fn open_at(session: &Session, id: &RunId, at: Option<u64>) -> Result<Self, Failure> {
        let workspace = Workspace::open(session, None)?;
        let run = workspace.store.run(&workspace.scope.project, id).map_err(refused)?;
        must_be_design(&run.id)?;
        let integrity = journal_integrity(&workspace, &run.id)?;
        // A journal that is unreadable because of a change is not reported as an unknown one.
        let (_, mut events) = open_journal(&workspace, &run.id)
            .map_err(|failure| illegible(&run.id, integrity, failure))?;
        let event_count = events.len() as u64;
        if let Some(at) = at {
            let kept = usize::try_from(at).ok().filter(|at| (1..=events.len()).contains(at));
            let no_event = || NoEvent { run: run.id.clone(), event: at, events: event_count };
            events.truncate(kept.ok_or_else(|| Failure::new(ErrorClass::Refused, no_event()))?);
        }
        let mut design = DesignWalk::fold(events.iter().cloned());
        let progress = design.outline();
        let facts = design.into_facts();
        Ok(Self { workspace, run, integrity, events, event_count, facts, progress })
    }

    /// Renders every artifact that the run has made so far, by file name.
    pub fn artifacts(&self) -> BTreeMap<String, Arc<str>> {
        render::artifacts(&self.progress)
    }

    /// Tells whether every answer of the run was recorded.
    pub fn is_rehearsal(&self) -> bool {
        self.facts.settings().is_some_and(|(_, settings)| settings.is_rehearsal)
    }

    /// Adds up what it has cost.
    pub(super) fn spending(&self) -> Result<SpendingReport, Failure> {
        let accepted = self.progress.results.accepted_findings() as u64;
        run_spending(&self.workspace, &self.run.id, &self.facts, accepted)
    }

    /// Returns how many lanes it had and what they spent, as `show` says it.
    pub(super) fn sum(&self) -> Result<Sum, Failure> {
        self.spending().map(|spending| spending.total())
    }

    /// Returns the warnings of a completed run.
    pub(super) fn degraded(&self) -> Vec<String> {
        match &self.progress.next {
            Next::End(DesignEnding::Complete { degraded }) => {
                render::warnings(degraded, self.progress.settings.as_ref())
            }
            Next::End(_) | Next::Need(_) => Vec::new(),
        }
    }

    pub(super) fn ending(&self, state: RunState) -> String {
        match &self.progress.next {
            Next::Need(_) => format!("{}, unfinished", state.name()),
            Next::End(DesignEnding::Complete { degraded }) if degraded.is_empty() => {
                "complete".to_owned()
            }
            Next::End(DesignEnding::Complete { degraded }) => {
                format!("complete, DEGRADED ({})", warning_count(degraded.len()))
            }
            Next::End(DesignEnding::Refused(_)) => match self.facts.set_up() {
                Some((_, SetUp::Refused(refusal))) => refusal.in_short(),
                Some(_) | None => "refused".to_owned(),
            },
            Next::End(DesignEnding::DirtyTree) => {
                "ended because of a changed working tree".to_owned()
            }
            Next::End(DesignEnding::Failed(failed)) => format!("failed: {}", failed.why),
            Next::End(DesignEnding::OverBudget(why)) => format!("over budget: {why}"),
            Next::End(DesignEnding::HeavyFailed(why)) => {
                format!("stopped, its worker failed: {why}")
            }
            Next::End(DesignEnding::NotExported(why)) => {
                format!("complete, but not exported: {why}")
            }
        }
    }
}
