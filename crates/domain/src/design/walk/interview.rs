//! Steps 1c, 1d and 3.5: the interviews with people.

use std::sync::Arc;

use super::chair::{Flawed, Said, Task};
use super::phases::Passage;
use super::plan::update;
use super::{PersonQuestion, Walk, Walked};
use crate::design::aside::without_asides;
use crate::design::decision;
use crate::design::discussion::{self, Ground, InterviewDecision, Questions, Round, render};
use crate::design::event::{QuestionId, Reply};
use crate::design::lane_id::ChairTask;
use crate::design::notice::{DesignNote, ToldArtifact};
use crate::design::outline::{SettledScope, VotedReview};
use crate::design::policy::Policy;
use crate::design::progress::Step;
use crate::design::prompt;
use crate::design::render::accepted_findings;
use crate::design::resolution;

/// Asks the questions that must be settled before the first sketch.
pub(super) fn scope_interview(walk: &mut Walk<'_>) -> Walked<Passage> {
    walk.begin(Step::Questions);
    if walk.settings.auto {
        unattended(walk, Round::Clarifying);
        walk.begin(Step::DiscussionOne);
        unattended(walk, Round::Scope);
        return Ok(Passage::On);
    }
    let feature = walk.settings.feature.clone();
    let (cleared, left) = clarify(walk, &feature)?;
    let mut scope = SettledScope { feature, cleared, ..SettledScope::default() };
    walk.begin(Step::DiscussionOne);
    let prompt = || prompt::scope(&scope.feature, &render(&scope.cleared));
    let mut questions = questions(walk, ChairTask::Scope, &prompt)?;
    if left.is_empty() && !questions.is_worth_an_interview() {
        nothing_to_ask(walk, Round::Scope);
        walk.results().scope = Arc::new(scope);
        return Ok(Passage::On);
    }
    questions.put_first(left);
    scope.settled = answered_by_code(walk, Round::Scope, &questions);
    let (open, deferred) = questions.to_ask(Round::Scope);
    for (number, question) in open.into_iter().enumerate() {
        scope.settled.push(interview(walk, Round::Scope, number, question)?);
    }
    interview_over(walk, Round::Scope, &scope.settled, deferred);
    scope.is_interviewed = true;
    walk.results().scope = Arc::new(scope);
    Ok(Passage::On)
}

/// Asks clarifying questions together. Returns those beyond the step's limit; the next step asks
/// them.
fn clarify(
    walk: &mut Walk<'_>,
    feature: &str,
) -> Walked<(Vec<InterviewDecision>, Vec<discussion::ChairQuestion>)> {
    let questions = questions(walk, ChairTask::Questions, &|| prompt::questions(feature))?;
    answered_by_code(walk, Round::Clarifying, &questions);
    let (open, _) = questions.to_ask(Round::Clarifying);
    if open.is_empty() {
        nothing_to_ask(walk, Round::Clarifying);
    }
    let mut cleared = Vec::new();
    for (number, question) in open.into_iter().enumerate() {
        cleared.push(interview(walk, Round::Clarifying, number, question)?);
    }
    let left = questions.beyond(Round::Clarifying);
    if !left.is_empty() {
        walk.note(DesignNote::MoreQuestions(left.len()));
    }
    Ok((cleared, left))
}

/// Asks the questions that are open after the review, and has the plan revised for the answers.
pub(super) fn design_interview(walk: &mut Walk<'_>) -> Walked<Passage> {
    walk.begin(Step::DiscussionTwo);
    if walk.settings.auto {
        unattended(walk, Round::Design);
        return Ok(Passage::On);
    }
    let results = walk.state.results.clone();
    let resolutions = results.resolutions.as_deref().unwrap_or_default();
    let plan = results.plan.clone().unwrap_or_default();
    let shown_feature = match walk.settings.policy {
        Policy::Safe => results.scope.feature.as_str(),
        Policy::Seed => "",
    };
    let prompt = || {
        prompt::interview(&prompt::Interview {
            feature: shown_feature,
            discussion: &results.scope.file(),
            accepted: &results.voted().map(accepted_findings).unwrap_or_default(),
            contested: &decision::render(results.decisions()),
            resolutions: &resolution::render(resolutions),
            plan: &plan.text,
        })
    };
    let mut questions = questions(walk, ChairTask::Interview, &prompt)?;
    let accepted = results.voted().map(VotedReview::accepted).unwrap_or_default();
    let accepted: Vec<_> = accepted.iter().map(|finding| finding.id.number as usize).collect();
    let ground = Ground::new(&results.scope.settled, &accepted, resolutions);
    questions.questions.retain(|question| ground.qualifies(question));
    let mut settled = answered_by_code(walk, Round::Design, &questions);
    let (open, deferred) = questions.to_ask(Round::Design);
    if open.is_empty() && settled.is_empty() {
        nothing_to_ask(walk, Round::Design);
        return Ok(Passage::On);
    }
    for (number, question) in open.into_iter().enumerate() {
        settled.push(interview(walk, Round::Design, number, question)?);
    }
    let answers = render(&settled);
    let before = plan.text.clone();
    let plan = update(walk, plan, &answers)?;
    if plan.text != before {
        walk.show(ToldArtifact::RevisedPlan(plan));
    }
    interview_over(walk, Round::Design, &settled, deferred);
    walk.results().design_interview = Some(settled);
    Ok(Passage::On)
}

/// Has the chair write questions. If it fails, there are no questions.
fn questions(
    walk: &mut Walk<'_>,
    word: ChairTask,
    prompt: &dyn Fn() -> String,
) -> Walked<Questions> {
    let task = Task { word, noun: "list of questions", form: prompt::QUESTIONS_SKELETON };
    let read = |answer: &str| {
        let questions = Questions::parse(&without_asides(answer).0);
        if questions.complaints.is_empty() {
            return Ok(questions);
        }
        let defects = questions.complaints.iter().map(ToString::to_string).collect();
        let salvaged = Some(questions).filter(|questions| !questions.questions.is_empty());
        Err(Flawed { defects, salvaged })
    };
    Ok(match walk.chair(task, prompt, &read)? {
        Said::Well(questions) => questions,
        Said::Badly(Flawed { salvaged, defects }) => {
            walk.chair_was_poor(task, &defects);
            salvaged.unwrap_or_default()
        }
        Said::Nothing => Questions::default(),
    })
}

/// Reports decisions that the chair derived from the code, so that a person can object.
fn answered_by_code(
    walk: &mut Walk<'_>,
    round: Round,
    questions: &Questions,
) -> Vec<InterviewDecision> {
    let settled = questions.answered_by_code();
    for decision in &settled {
        walk.note(DesignNote::AnsweredByCode(round, decision.clone()));
    }
    settled
}

fn interview(
    walk: &mut Walk<'_>,
    round: Round,
    number: usize,
    question: &discussion::ChairQuestion,
) -> Walked<InterviewDecision> {
    let reply = walk.ask(PersonQuestion {
        id: QuestionId::Interview(round, number + 1),
        title: question.title.clone(),
        text: question.question.clone(),
        options: question.options.clone(),
        recommended: question.recommended.clone(),
        is_open: true,
    })?;
    Ok(match reply {
        Reply::Words(words) => question.resolve(words),
        Reply::Recommended => question.resolve(""),
    })
}

fn interview_over(
    walk: &mut Walk<'_>,
    round: Round,
    settled: &[InterviewDecision],
    deferred: usize,
) {
    if deferred > 0 {
        walk.note(DesignNote::Deferred(round));
    }
    walk.tell(round.resolved(settled.len(), walk.state.elapsed()));
}

fn unattended(walk: &mut Walk<'_>, round: Round) {
    walk.tell(round.unattended(walk.state.elapsed()));
}

fn nothing_to_ask(walk: &mut Walk<'_>, round: Round) {
    walk.tell(round.nothing(walk.state.elapsed()));
}
