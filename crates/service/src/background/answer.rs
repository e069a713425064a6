//! A person's answer to a run that waits for one, brought by a program.

use convoke_domain::design::matter::{MatterId, RulingChoice};
use convoke_domain::design::quote::line;
use convoke_domain::design::walk::PersonQuestion;
use convoke_domain::run::{RunId, RunState};
use serde::Serialize;

use super::folder::Folders;
use super::words::Words;
use super::{POLL_AFTER, work};
use crate::failure::{ErrorClass, Failure};
use crate::run::{DesignProgress, design_progress, person_ruling};
use crate::session::Session;

/// The file with the answer, in the folder of the attempt.
const ANSWERS: &str = "answers";

/// An answer that was taken. The run goes on in a process of its own.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnsweredRunReport {
    /// The run.
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
    #[error("run {0} is running and waits for no answer")]
    Running(RunId),
    #[error("run {0} waits for no answer")]
    NothingAsked(RunId),
    #[error("cannot take `{answer}` for an answer to {question}: {why}")]
    Unusable { question: String, answer: String, why: String },
    #[error("cannot take `{0}` for a decision: write `ID accept REASON` or `ID reject REASON`")]
    NoDecision(String),
}

/// Answers what a stopped design asks, or decides what its panel left to a person, and has the run
/// go on in the background.
pub fn answer_run(
    session: &Session,
    run: &RunId,
    answer: &str,
) -> Result<AnsweredRunReport, Failure> {
    if session.environment.is_in_lane() {
        return Err(Failure::new(ErrorClass::Refused, AnswerError::InLane));
    }
    let design = design_progress(session, run)?;
    let refused = |error| Failure::new(ErrorClass::Refused, error);
    let attempt = Folders::of(session)?.find(&design.run).and_then(|kept| kept.last_attempt());
    let goes_on = attempt.is_some_and(|attempt| attempt.goes_on(session.now()));
    if goes_on || design.state == RunState::Running {
        return Err(refused(AnswerError::Running(design.run)).hint("see `run_status`"));
    }
    match &design.question {
        Some(question) => reply(session, &design, question, answer),
        None if design.is_rehearsal || design.matters.undecided.is_empty() => {
            Err(refused(AnswerError::NothingAsked(design.run)).hint("see `run_status`"))
        }
        None => rule(session, &design, answer),
    }
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
    let kept = Folders::of(session)?.adopt(&design.run, "design")?;
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

fn rule(
    session: &Session,
    design: &DesignProgress,
    answer: &str,
) -> Result<AnsweredRunReport, Failure> {
    let answer = line(answer);
    let mut parts = answer.splitn(3, ' ');
    let matter = parts.next().and_then(|id| MatterId::parse(id.trim_end_matches(':')));
    let choice = parts.next().and_then(|word| RulingChoice::parse(word.trim_end_matches(':')));
    let (Some(matter), Some(choice)) = (matter, choice) else {
        let listed: Vec<_> = design.matters.undecided.iter().map(|one| one.id.clone()).collect();
        return Err(Failure::new(ErrorClass::Usage, AnswerError::NoDecision(answer.clone()))
            .hint(format!("undecided: {}", listed.join(", "))));
    };
    let ruling = person_ruling(matter, choice, parts.next().unwrap_or_default())?;
    let kept = Folders::of(session)?.adopt(&design.run, "design")?;
    let mut words = Words::new(&session.project);
    let (id, choice) = (matter.to_string(), choice.word());
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
