//! A person's answer to a run that waits for one, brought by a program.

use std::thread;
use std::time::Duration;

use convoke_domain::design::matter::Ruling;
use convoke_domain::design::quote::line;
use convoke_domain::design::walk::PersonQuestion;
use convoke_domain::run::{RunId, RunState};
use serde::Serialize;

use super::folder::Folders;
use super::words::Words;
use super::{BackgroundKind, POLL_AFTER, work};
use crate::failure::{ErrorClass, Failure};
use crate::person::refuse_decision;
use crate::run::{DesignProgress, deciding_command, design_progress};
use crate::session::Session;

/// The file with the answer, in the folder of the attempt.
pub(super) const ANSWERS: &str = "answers";

/// How often, and in which steps, an answer waits for a process that ends.
const STEPS: u32 = 100;
const STEP: Duration = Duration::from_millis(50);

/// An answer that was taken. The run goes on in a process of its own.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnsweredRunReport {
    /// The id of the run that goes on with the answer.
    pub run: String,
    /// What was answered: a question's id, or that of a finding or decision.
    pub answered: String,
    /// The answer as it was taken.
    pub answer: String,
    /// After how many seconds it is worth looking.
    pub poll_after_s: u64,
}

#[derive(Debug, thiserror::Error)]
enum AnswerError {
    #[error("an agent in a lane cannot answer for the person")]
    InLane,
    #[error("run {0} begins; it has no result and no question yet")]
    OnlyBegun(RunId),
    #[error("run {0} is running and waits for no answer")]
    Running(RunId),
    #[error("run {0} waits for no answer")]
    NothingAsked(RunId),
    #[error("run {0} does not wait with question {1} any more; load the page again")]
    OtherQuestion(RunId, String),
    #[error("cannot decide {1} of run {0}: it is not open")]
    NotOpen(RunId, String),
    #[error("cannot take `{answer}` for an answer to {question}: {why}")]
    Unusable { question: String, answer: String, why: String },
    #[error("run {0} asks no question; only the user decides what its panel left undecided")]
    PersonDecides(RunId),
}

/// Brings the user's answer to what a stopped design asks, and has the run go on in the background. What
/// the panel left undecided is no question: the person decides it without a program in between.
pub fn answer_run(
    session: &Session,
    run: &RunId,
    answer: &str,
) -> Result<AnsweredRunReport, Failure> {
    let design = waiting(session, run)?;
    let refused = |error| Failure::new(ErrorClass::Refused, error);
    match &design.question {
        Some(question) => reply(session, &design, question, answer),
        None => Err(match design.matters.undecided.first() {
            Some(first) if !design.is_rehearsal => {
                let command = deciding_command(&design.run, &first.id);
                refused(AnswerError::PersonDecides(design.run)).hint(in_own_terminal(&command))
            }
            Some(_) | None => {
                refused(AnswerError::NothingAsked(design.run)).hint("see `run_status`")
            }
        }),
    }
}

/// Answers one question of a stopped design, by its id, and has the run go on in the background. An
/// answer to a question that the run no longer waits with is refused.
pub fn answer_question(
    session: &Session,
    run: &RunId,
    question: &str,
    answer: &str,
) -> Result<AnsweredRunReport, Failure> {
    await_its_process(session, run)?;
    let design = waiting(session, run)?;
    match &design.question {
        Some(asked) if asked.id.to_string() == question => reply(session, &design, asked, answer),
        Some(_) | None => {
            let error = AnswerError::OtherQuestion(design.run, question.to_owned());
            Err(Failure::new(ErrorClass::Refused, error))
        }
    }
}

/// Decides what the panel of a stopped design left to a person, and has the run act on it in the
/// background. Only the person's own front end may do this.
pub fn rule_run(
    session: &Session,
    run: &RunId,
    ruling: &Ruling,
) -> Result<AnsweredRunReport, Failure> {
    refuse_decision(session)?;
    await_its_process(session, run)?;
    let design = waiting(session, run)?;
    let matter = ruling.matter.to_string();
    if design.is_rehearsal || !design.matters.undecided.iter().any(|open| open.id == matter) {
        let error = AnswerError::NotOpen(design.run, matter);
        return Err(Failure::new(ErrorClass::Refused, error));
    }
    let kept = Folders::of(session)?.adopt(&design.run, BackgroundKind::Design)?;
    let mut words = Words::new(&session.project);
    let (id, choice) = (ruling.matter.to_string(), ruling.choice.word());
    words.add(["decide", design.run.as_str(), &id, choice]);
    words.option("--because", Some(ruling.because.clone()));
    work::start(session, &kept, &words.0)?;
    Ok(AnsweredRunReport {
        run: design.run.to_string(),
        answered: id,
        answer: format!("{choice}: {}", ruling.because),
        poll_after_s: POLL_AFTER,
    })
}

/// Says that a design has not written anything yet.
pub(super) fn only_begun(run: &RunId) -> Failure {
    let again = format!("call `run_status` in {POLL_AFTER} seconds, and then again");
    Failure::new(ErrorClass::Refused, AnswerError::OnlyBegun(run.clone())).hint(again)
}

/// Says where the person decides.
pub(super) fn in_own_terminal(command: &str) -> String {
    format!("the user runs, in their own terminal: {command}")
}

/// Gives a process that gave its run back a moment to end. A page shows the next question as soon as the
/// run is free, and a person may answer before the process that asked has tidied up. Answers that name no
/// question do not wait: after a moment, they could meet the next one.
fn await_its_process(session: &Session, run: &RunId) -> Result<(), Failure> {
    for _ in 0..STEPS {
        let attempt = Folders::of(session)?.find(run).and_then(|kept| kept.last_attempt());
        let goes_on = attempt.is_some_and(|attempt| attempt.goes_on(session.now()));
        let is_free =
            || design_progress(session, run).is_ok_and(|run| run.state != RunState::Running);
        if !goes_on || session.is_stopped() || !is_free() {
            break;
        }
        thread::sleep(STEP);
    }
    Ok(())
}

/// Returns how far a design is that no process works on.
fn waiting(session: &Session, run: &RunId) -> Result<DesignProgress, Failure> {
    if session.environment.is_in_lane() {
        return Err(Failure::new(ErrorClass::Refused, AnswerError::InLane));
    }
    let goes_on = |run: &RunId| -> Result<bool, Failure> {
        let attempt = Folders::of(session)?.find(run).and_then(|kept| kept.last_attempt());
        Ok(attempt.is_some_and(|attempt| attempt.goes_on(session.now())))
    };
    let design = match design_progress(session, run) {
        Err(_) if goes_on(run)? => return Err(only_begun(run)),
        design => design?,
    };
    let refused = |error| Failure::new(ErrorClass::Refused, error);
    let goes_on = goes_on(&design.run)?;
    if goes_on || design.state == RunState::Running {
        return Err(refused(AnswerError::Running(design.run)).hint("see `run_status`"));
    }
    Ok(design)
}

fn reply(
    session: &Session,
    design: &DesignProgress,
    question: &PersonQuestion,
    answer: &str,
) -> Result<AnsweredRunReport, Failure> {
    let id = question.id.to_string();
    // A model may repeat the id that it was shown.
    let answer = line(answer);
    let answer = answer.strip_prefix(&format!("{id}:")).unwrap_or(&answer).trim().to_owned();
    question.read(&answer).map_err(|why| {
        let error = AnswerError::Unusable {
            question: id.clone(),
            answer: answer.clone(),
            why: why.to_string(),
        };
        let options = (1..).zip(&question.options).map(|(at, option)| format!("{at}. {option}"));
        let options: Vec<_> = options.collect();
        Failure::new(ErrorClass::Usage, error).hint(format!("options: {}", options.join("; ")))
    })?;
    let kept = Folders::of(session)?.adopt(&design.run, BackgroundKind::Design)?;
    let mut words = Words::new(&session.project);
    words.add(["resume", design.run.as_str(), "--answers"]);
    let attempt =
        kept.next_attempt_with(words.0, ANSWERS, &format!("{id}: {answer}\n"), session)?;
    work::start_attempt(session, &attempt)?;
    Ok(AnsweredRunReport {
        run: design.run.to_string(),
        answered: id,
        answer,
        poll_after_s: POLL_AFTER,
    })
}
