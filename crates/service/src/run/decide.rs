//! A person ends what a panel left undecided.

use convoke_domain::design::event::Event;
use convoke_domain::design::facts::Facts;
use convoke_domain::design::matter::{
    Matter, MatterId, NotDecidable, Revisiting, Ruling, RulingChoice, decidable,
};
use convoke_domain::design::outline::DesignOutline;
use convoke_domain::design::progress::Step;
use convoke_domain::design::walk::{DesignEnding, Need, Next, walk};
use convoke_domain::run::{RunId, RunState};
use serde::Serialize;

use super::integrity::{journal_integrity, must_be_sound};
use super::known::must_be_design;
use super::list::{last_run, worked_on};
use super::matters::{MattersReport, RunKind, open, way_out};
use super::show::named_run;
use crate::design::{CourseRequest, DesignFrontEnd, EndedDesign, HeldRun, hold_run};
use crate::failure::{ErrorClass, Failure};
use crate::person::refuse_decision;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// The longest reason, in bytes: prompts include it, and files hold it on one line.
const LONGEST_REASON: usize = 4096;

/// A person's decision in a run.
#[derive(Debug, Clone)]
pub struct DecideRequest {
    /// The run, or the beginning of its name; the last one if it is left out.
    pub run: Option<RunId>,
    /// The decision; see [`person_ruling`].
    pub ruling: Ruling,
    /// Whether an earlier decision of a person may be changed.
    pub revisiting: Revisiting,
    /// The settings of the run.
    pub course: CourseRequest,
}

/// The result of a decision.
pub enum DecisionOutcome {
    /// The run acted on it, and ended.
    Acted(Box<EndedDesign>),
    /// The run is not at its end, and acts on it when it is.
    Waiting(RunId),
}

/// A run's matters for people, and their decisions.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunMattersReport {
    /// The run's id.
    pub run: String,
    /// Undecided, withheld and decided matters.
    #[serde(flatten)]
    pub matters: MattersReport,
    /// The command that decides the first undecided matter.
    #[serde(skip)]
    pub way_out: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum DecisionError {
    #[error("cannot decide `{0}` without a reason")]
    NoReason(MatterId),
    #[error("the reason has {0} characters, but {LONGEST_REASON} is the most")]
    LongReason(usize),
    #[error("cannot decide anything in `{0}` while it is running")]
    Running(RunId),
    #[error("cannot decide anything in `{0}`: it is a rehearsal, whose findings are examples")]
    Rehearsal(RunId),
    #[error("cannot decide anything in `{0}`: it ended without a plan")]
    NoPlan(RunId),
}

/// Makes a person's decision of its parts. It needs a reason.
pub fn person_ruling(
    matter: MatterId,
    choice: RulingChoice,
    because: &str,
) -> Result<Ruling, Failure> {
    let usage = |error| Failure::new(ErrorClass::Usage, error);
    let because = because.trim().to_owned();
    if because.is_empty() {
        return Err(usage(DecisionError::NoReason(matter)).hint("--because \"REASON\""));
    }
    // Characters, as a field counts them: every script has the same room.
    let length = because.chars().count();
    if length > LONGEST_REASON {
        return Err(usage(DecisionError::LongReason(length)));
    }
    Ok(Ruling { matter, choice, because })
}

/// Lists what the named run, or the last one, leaves to people, and what they decided.
pub fn list_matters(session: &Session, run: Option<&RunId>) -> Result<RunMattersReport, Failure> {
    let known = named_run(session, run)?;
    let kind = RunKind::of_facts(&known.facts);
    let first = open(&known.progress).first().copied();
    Ok(RunMattersReport {
        run: known.run.id.to_string(),
        matters: MattersReport::new(&known.progress),
        way_out: first.map(|matter| way_out(&known.run.id, matter, kind)),
    })
}

/// Writes the decision down, and then has the run act on it. Only the user may do this.
pub fn decide(
    session: &Session,
    request: DecideRequest,
    front_end: &mut dyn DesignFrontEnd,
) -> Result<DecisionOutcome, Failure> {
    refuse_decision(session)?;
    let DecideRequest { run, ruling, revisiting, course } = request;
    let id = match run {
        Some(run) => run,
        None => last_run(session)?,
    };
    course.check()?;
    let workspace = Workspace::open(session, None)?;
    let run = workspace.store.run(&workspace.scope.project, &id).map_err(refused)?;
    must_be_design(&run.id)?;
    if worked_on(session, &*workspace.store).contains(&run.id) {
        let failure = Failure::new(ErrorClass::Prerequisite, DecisionError::Running(run.id));
        return Err(failure.hint("wait until it has ended: `convoke runs`"));
    }
    // Only the process that holds the run writes, so the state stays valid from here on.
    let hold = hold_run(session, &workspace.store, &run.id)?;
    must_be_sound(&run.id, journal_integrity(&workspace, &run.id)?)?;
    let mut opened = HeldRun::open(session, &workspace, &run.id, hold)?;
    let facts = Facts::fold(opened.events.iter().cloned());
    if RunKind::of_facts(&facts) == RunKind::Rehearsal {
        return Err(Failure::new(ErrorClass::Refused, DecisionError::Rehearsal(run.id))
            .hint("plan a feature with your agents: `convoke design \"FEATURE\"`")
            .hint("or change the votes in a folder and play it: `convoke design --rehearse=DIR`"));
    }
    let progress = walk(&facts);
    if matches!(progress.next, Next::End(DesignEnding::DirtyTree | DesignEnding::Refused(_))) {
        return Err(Failure::new(ErrorClass::Refused, DecisionError::NoPlan(run.id)));
    }
    let matter = decidable(&progress.matters, ruling.matter, revisiting)
        .map_err(|error| undecidable(error, &run.id, &progress))?;
    let mut said = format!("decided: {} {}", ruling.matter, ruling.choice.past());
    if let Some(earlier) = matter.ruling.as_ref().filter(|_| matter.is_pending) {
        said = format!("{said}\n{}", earlier.changed_to(&ruling));
    }
    opened.append(session, Event::Decided(ruling))?;
    workspace.store.mark_run(&run.id, RunState::Stopped, session.now()).map_err(refused)?;
    let reporter = session.reporter();
    reporter.say(said);
    if is_at_its_end(&progress) {
        let ended = course.go(session, &workspace, &run.id, opened, front_end)?;
        return Ok(DecisionOutcome::Acted(Box::new(ended)));
    }
    reporter.remark("the run has not ended; it acts on the decision later");
    reporter.hint(format!("convoke resume {}", run.id));
    Ok(DecisionOutcome::Waiting(run.id))
}

/// Tells whether nothing but decisions of people is left to act on.
fn is_at_its_end(progress: &DesignOutline) -> bool {
    match &progress.next {
        Next::End(DesignEnding::Complete { .. } | DesignEnding::NotExported(_))
        | Next::Need(Need::Export) => true,
        Next::End(DesignEnding::Failed(failed)) => failed.step == Step::Decisions,
        Next::Need(Need::Lanes(lanes)) => lanes.iter().all(|lane| lane.step == Step::Decisions),
        Next::End(_) | Next::Need(_) => false,
    }
}

/// Adds what can be decided instead.
fn undecidable(error: NotDecidable, run: &RunId, progress: &DesignOutline) -> Failure {
    let hint = match &error {
        NotDecidable::ByPerson { .. } => "change it with `--again`".to_owned(),
        NotDecidable::Unknown(_) | NotDecidable::ByPanel { .. } => {
            let withheld = progress.matters.iter().filter(|matter| matter.is_withheld);
            let open: Vec<_> = open(progress);
            let ids = |matters: Vec<&Matter>| {
                matters.iter().map(|matter| matter.id.to_string()).collect::<Vec<_>>().join(", ")
            };
            match (ids(open), ids(withheld.filter(|matter| matter.ruling.is_none()).collect())) {
                (open, withheld) if open.is_empty() && withheld.is_empty() => {
                    format!("no open decisions in {run}")
                }
                (open, withheld) if withheld.is_empty() => format!("undecided: {open}"),
                (open, withheld) if open.is_empty() => format!("withheld: {withheld}"),
                (open, withheld) => format!("undecided: {open}; withheld: {withheld}"),
            }
        }
    };
    Failure::new(ErrorClass::Refused, error).hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    // A field of the dashboard stops at as many characters, in every script.
    #[test]
    fn a_reason_has_as_many_characters_in_every_script() {
        let ruling = |because: &str| {
            let matter = MatterId::parse("FINDING_1").unwrap();
            person_ruling(matter, RulingChoice::Accept, because)
        };
        for letter in ["x", "Я", "語"] {
            assert!(ruling(&letter.repeat(LONGEST_REASON)).is_ok(), "{letter}");
            let long = ruling(&letter.repeat(LONGEST_REASON + 1)).unwrap_err();
            let words = "the reason has 4097 characters, but 4096 is the most";
            assert_eq!(long.error.to_string(), words);
        }
    }
}
