//! How far a design is, and what it waits for.

use convoke_domain::design::notice::Notice;
use convoke_domain::design::progress::Step;
use convoke_domain::design::walk::{Need, Next, PersonQuestion};
use convoke_domain::lane::budget::WrittenBudget;
use convoke_domain::lane::ledger::Sum;
use convoke_domain::run::{RunId, RunState};
use jiff::Timestamp;

use super::known::KnownRun;
use super::list::{locked_runs, worked_on};
use super::matters::MattersReport;
use crate::failure::Failure;
use crate::session::Session;

/// How far a design is.
pub(crate) struct DesignProgress {
    /// The whole id of the run.
    pub(crate) run: RunId,
    pub(crate) state: RunState,
    /// How it ended, or that it did not.
    pub(crate) ending: String,
    /// Whether there is nothing more to do but what people decide.
    pub(crate) is_at_its_end: bool,
    /// When it ended, or was stopped.
    pub(crate) ended_at: Option<Timestamp>,
    /// When its journal was last written.
    pub(crate) last_event_at: Option<Timestamp>,
    /// The step that began last.
    pub(crate) step: Option<Step>,
    /// What all lanes so far have spent.
    pub(crate) sum: Sum,
    /// What the run waits for, as far as a person can answer it.
    pub(crate) question: Option<PersonQuestion>,
    /// Whether it stopped because the working tree was changed.
    pub(crate) is_tree_changed: bool,
    /// What to design, as its user wrote it.
    pub(crate) feature: Option<String>,
    pub(crate) matters: MattersReport,
    /// Whether every answer was recorded, so that no person can decide anything.
    pub(crate) is_rehearsal: bool,
    /// The artifacts' file names.
    pub(crate) artifacts: Vec<String>,
    pub(crate) budget: Option<String>,
}

/// Returns how far a design is.
pub(crate) fn design_progress(session: &Session, run: &RunId) -> Result<DesignProgress, Failure> {
    // A process that ends while the journal is read leaves more in it than was read.
    let mut works = locked_runs(session);
    let known = KnownRun::open(session, run)?;
    works.extend(worked_on(session, &*known.workspace.store));
    let state = known.run.state.seen(&known.run.id, &works);
    let settings = known.facts.settings().map(|(_, settings)| settings);
    let is_stopped = state != RunState::Running;
    let question = match &known.progress.next {
        Next::Need(Need::Ask(question)) if is_stopped => Some((**question).clone()),
        Next::Need(_) | Next::End(_) => None,
    };
    let is_recovery = matches!(known.progress.next, Next::Need(Need::Recover(_)));
    Ok(DesignProgress {
        state,
        ending: known.ending(state),
        is_at_its_end: matches!(known.progress.next, Next::End(_)),
        ended_at: known.run.ended_at,
        last_event_at: known
            .events
            .last()
            .and_then(|last| Timestamp::from_millisecond(last.at).ok()),
        step: last_step(&known.progress.notices),
        sum: known.sum()?,
        question,
        is_tree_changed: is_stopped && is_recovery,
        feature: settings.map(|settings| settings.feature.clone()),
        matters: MattersReport::new(&known.progress),
        is_rehearsal: known.is_rehearsal(),
        artifacts: known.artifacts().into_keys().collect(),
        budget: settings
            .and_then(|settings| settings.budget.as_ref())
            .map(|budget: &WrittenBudget| budget.text().to_owned()),
        run: known.run.id,
    })
}

fn last_step(notices: &[Notice]) -> Option<Step> {
    notices.iter().rev().find_map(|notice| {
        let Notice::StepBegins { step, .. } = notice else { return None };
        Some(*step)
    })
}
