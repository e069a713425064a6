//! Steps 1c, 1d and 3.5: what people are asked, and what they answered.

use super::chair::{Flawed, Said, Task};
use super::plan::Plan;
use super::review::Reviewed;
use super::sketches::Synthesis;
use super::{Question, Walk, Walked};
use crate::design::aside::without_asides;
use crate::design::decision;
use crate::design::discussion::{self, Ground, Questions, Round, Settled, render};
use crate::design::event::{QuestionId, Reply};
use crate::design::progress::{Shown, Step};
use crate::design::prompt;
use crate::design::resolution::{self, Resolution};

/// What is to be built, and what was settled about it before anybody sketched.
pub(super) struct Scope {
    feature: String,
    cleared: Vec<Settled>,
    settled: Vec<Settled>,
}

impl Scope {
    /// What is to be built, as its author says.
    pub(super) fn feature(&self) -> &str {
        &self.feature
    }

    /// What is to be built, with what its author said about it since.
    pub(super) fn with_answers(&self) -> String {
        let file = self.file();
        if file.is_empty() {
            return self.feature.clone();
        }
        format!("{}\n\nWhat was settled with its author:\n\n{file}", self.feature)
    }

    /// The file of the interview.
    pub(super) fn file(&self) -> String {
        let all: Vec<_> = self.cleared.iter().chain(&self.settled).cloned().collect();
        render(&all)
    }
}

impl Walk<'_> {
    /// Asks what has to be clear before anybody sketches.
    pub(super) fn scope_interview(&mut self) -> Walked<Scope> {
        let feature = self.settings.feature.clone();
        let mut scope = Scope { feature, cleared: Vec::new(), settled: Vec::new() };
        self.begin(Step::Questions);
        if self.settings.auto {
            self.unattended(Round::Clarifying);
            self.begin(Step::DiscussionOne);
            self.unattended(Round::Scope);
            return Ok(scope);
        }
        let (cleared, left) = self.clarify(&scope.feature)?;
        scope.cleared = cleared;
        self.begin(Step::DiscussionOne);
        let prompt = || prompt::scope(&scope.feature, &render(&scope.cleared));
        let mut questions = self.questions("scope", &prompt)?;
        if left.is_empty() && !questions.is_worth_an_interview() {
            self.nothing_to_ask(Round::Scope);
            return Ok(scope);
        }
        questions.put_first(left);
        scope.settled = self.answered_by_code(Round::Scope, &questions);
        let (open, deferred) = questions.to_ask(Round::Scope);
        for (number, question) in open.into_iter().enumerate() {
            scope.settled.push(self.interviewed(Round::Scope, number, question)?);
        }
        self.interview_over(Round::Scope, &scope.settled, deferred);
        Ok(scope)
    }

    /// Asks clarifying questions, all at once. Those that the step has no room for are returned; the
    /// next one asks them.
    fn clarify(&mut self, feature: &str) -> Walked<(Vec<Settled>, Vec<discussion::Question>)> {
        let questions = self.questions("questions", &|| prompt::questions(feature))?;
        self.answered_by_code(Round::Clarifying, &questions);
        let (open, _) = questions.to_ask(Round::Clarifying);
        if open.is_empty() {
            self.nothing_to_ask(Round::Clarifying);
        }
        let mut cleared = Vec::new();
        for (number, question) in open.into_iter().enumerate() {
            cleared.push(self.interviewed(Round::Clarifying, number, question)?);
        }
        let left = questions.beyond(Round::Clarifying);
        if !left.is_empty() {
            let (here, next) = (Step::Questions, Step::DiscussionOne.number());
            let text =
                format!("ℹ {} — {} more in step {next}", self.crumbs.place(here), left.len());
            self.say(text);
        }
        Ok((cleared, left))
    }

    /// Asks what is still open when the plan was reviewed, and has the plan changed for it.
    pub(super) fn design_interview(
        &mut self,
        scope: &Scope,
        synthesis: &Synthesis,
        resolutions: &[Resolution],
        reviewed: Reviewed,
    ) -> Walked<Plan> {
        self.begin(Step::DiscussionTwo);
        if self.settings.auto {
            self.unattended(Round::Design);
            return Ok(reviewed.plan);
        }
        let prompt = || {
            prompt::interview(&prompt::Interview {
                discussion: &scope.file(),
                accepted: &reviewed.accepted,
                contested: &decision::render(&synthesis.decisions),
                resolutions: &resolution::render(resolutions),
                plan: &reviewed.plan.text,
            })
        };
        let mut questions = self.questions("interview", &prompt)?;
        let ground = Ground::new(&scope.settled, &reviewed.accepted_numbers, resolutions);
        questions.questions.retain(|question| ground.qualifies(question));
        let mut settled = self.answered_by_code(Round::Design, &questions);
        let (open, deferred) = questions.to_ask(Round::Design);
        if open.is_empty() && settled.is_empty() {
            self.nothing_to_ask(Round::Design);
            return Ok(reviewed.plan);
        }
        for (number, question) in open.into_iter().enumerate() {
            settled.push(self.interviewed(Round::Design, number, question)?);
        }
        let answers = render(&settled);
        let before = reviewed.plan.text.clone();
        let plan = self.updated(reviewed.plan, &answers)?;
        if plan.text != before {
            self.publish(Shown::RevisedPlan, None, &plan.text);
        }
        self.interview_over(Round::Design, &settled, deferred);
        Ok(plan)
    }

    /// Has the chair write questions. Where it does not, there are none.
    fn questions(&mut self, word: &'static str, prompt: &dyn Fn() -> String) -> Walked<Questions> {
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
        Ok(match self.chair(task, prompt, &read)? {
            Said::Well(questions) => questions,
            Said::Badly(Flawed { salvaged, defects }) => {
                self.chair_was_poor(task, &defects);
                salvaged.unwrap_or_default()
            }
            Said::Nothing => Questions::default(),
        })
    }

    /// Says what the chair settled by the code itself, so that a person can object.
    fn answered_by_code(&mut self, round: Round, questions: &Questions) -> Vec<Settled> {
        let settled = questions.answered_by_code();
        for it in &settled {
            self.say(round.answered_by_code(it, &self.crumbs));
        }
        settled
    }

    fn interviewed(
        &mut self,
        round: Round,
        number: usize,
        question: &discussion::Question,
    ) -> Walked<Settled> {
        let reply = self.ask(Question {
            id: QuestionId(format!("{}/{}", round.step().number(), number + 1)),
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

    fn interview_over(&mut self, round: Round, settled: &[Settled], deferred: usize) {
        if let Some(file) = round.file() {
            self.file(file, render(settled));
        }
        if deferred > 0 {
            self.say(round.deferral());
        }
        let line = round.resolved(settled.len(), &self.crumbs, self.elapsed());
        self.say(line);
    }

    fn unattended(&mut self, round: Round) {
        let line = round.unattended(&self.crumbs, self.elapsed());
        self.say(line);
    }

    fn nothing_to_ask(&mut self, round: Round) {
        let line = round.nothing(&self.crumbs, self.elapsed());
        self.say(line);
    }
}
