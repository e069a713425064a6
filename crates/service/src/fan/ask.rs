//! Asking an agent for one item, and once more for an answer that does not fit.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use convoke_domain::fan::event::{FanAnswer, FanEvent, FanFailure, FanSettings};
use convoke_domain::fan::item::ListedItem;
use convoke_domain::fan::record::MOST_TRIES;
use convoke_domain::fan::template::{PromptTemplate, enclosed};
use convoke_domain::lane::budget::LaneBudget;
use convoke_domain::lane::event::LaneEvent;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::run::RunId;
use convoke_engine::fan::answer_schema::{AnswerSchema, value_of_answer};
use convoke_engine::fan::journal::read_event;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::supervisor::Limits;
use convoke_engine::scratch;
use convoke_store::Store;
use jiff::Timestamp;

use super::listing::item_prompt;
use super::purpose;
use crate::failure::{ErrorClass, Failure};
use crate::lane::{
    BudgetNotice, LaneProgress, LaneRequest, LaneRun, PinnedRules, TreeWatching, lane_failed, why,
};
use crate::observer::Reporter;
use crate::session::Session;

/// The longest answer that the journal keeps, in bytes.
const LONGEST_ANSWER: usize = 512 * 1024;

/// An item to ask for.
pub(super) struct Job {
    /// The item's place in the list.
    pub(super) place: usize,
    pub(super) item: ListedItem,
    /// The event of an earlier answer that did not fit, and how many there were.
    pub(super) unfit: Option<(u64, u8)>,
}

/// What a worker tells the process that keeps the journal.
pub(super) enum WorkerNews {
    Started(usize, usize),
    Said(usize, LaneEvent),
    /// An answer came; with a flag for one that the worker asks for again.
    Answered(usize, usize, Box<FanAnswer>, bool),
    /// No answer came; with the end of the agent's limit, if that is why.
    Failed(usize, usize, Box<FanFailure>, Option<Timestamp>),
    /// The user stopped Convoke; nothing is known about the item.
    Cancelled(usize, usize),
    /// No lane can run.
    Broken(usize, Failure),
}

/// A worker's ways to the process that keeps the journal.
pub(super) struct Line {
    pub(super) worker: usize,
    pub(super) news: Sender<WorkerNews>,
    /// Says that the journal has what the worker told last.
    pub(super) written: Receiver<()>,
}

impl Line {
    /// Tells something that nothing depends on. The receiver is gone only with the run.
    fn tell(&self, news: WorkerNews) {
        self.news.send(news).unwrap_or_default();
    }

    /// Tells a result, and waits until it is written down: no further request begins before that.
    fn tell_result(&self, news: WorkerNews) {
        self.tell(news);
        self.written.recv().unwrap_or_default();
    }
}

/// What all requests of a run have in common.
pub(super) struct Asker<'a> {
    pub(super) session: &'a Session,
    pub(super) reporter: Reporter,
    pub(super) store: Arc<dyn Store>,
    pub(super) run: &'a RunId,
    pub(super) settings: &'a FanSettings,
    pub(super) template: &'a PromptTemplate,
    pub(super) schema: Option<&'a AnswerSchema>,
    pub(super) agent: &'a AgentRef,
    pub(super) budget: Option<LaneBudget>,
    pub(super) limits: Limits,
    pub(super) rules: PinnedRules,
    /// Set when no further lane may begin.
    pub(super) is_over: &'a AtomicBool,
}

impl Asker<'_> {
    /// Tells whether no further lane may begin.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::SeqCst) || self.session.is_stopped()
    }

    /// Asks for an item, and tells how that ended.
    pub(super) fn ask(&self, job: &Job, line: &Line) {
        line.tell(WorkerNews::Started(line.worker, job.place));
        if let Err(failure) = self.try_to_ask(job, line) {
            line.tell_result(WorkerNews::Broken(line.worker, failure));
        }
    }

    fn try_to_ask(&self, job: &Job, line: &Line) -> Result<(), Failure> {
        let failed = |outcome, why: String, lane, resets_at| {
            let key = job.item.key.clone();
            let failure = Box::new(FanFailure { key, outcome, why, lane });
            line.tell_result(WorkerNews::Failed(line.worker, job.place, failure, resets_at));
            Ok(())
        };
        let first = match item_prompt(self.session, self.template, self.settings, &job.item) {
            Ok(prompt) => prompt,
            Err(error) => return failed(LaneOutcome::Failed, error.to_string(), None, None),
        };
        let mut tries = job.unfit.map_or(0, |(_, tries)| tries % MOST_TRIES);
        let mut prompt = match job.unfit.filter(|_| tries > 0) {
            Some((event, _)) => self.again_after(&first, event)?,
            None => first.clone(),
        };
        loop {
            let label = label(job.place, tries);
            let run = self.run_lane(line, &label, &prompt)?;
            let transcript = &run.transcript;
            let outcome = transcript.outcome;
            let is_answered = outcome == LaneOutcome::Answered;
            if outcome == LaneOutcome::Cancelled || (!is_answered && self.session.is_stopped()) {
                line.tell_result(WorkerNews::Cancelled(line.worker, job.place));
                return Ok(());
            }
            let text = transcript.output.answer().unwrap_or_default();
            if !is_answered {
                let words = why(transcript).unwrap_or_else(|| outcome.words().to_owned());
                return failed(outcome, words, run.lane, run.resets_at);
            }
            if text.len() > LONGEST_ANSWER {
                let words = format!("the answer is longer than {LONGEST_ANSWER} bytes");
                return failed(LaneOutcome::Failed, words, run.lane, None);
            }
            tries += 1;
            let misfit = self.misfit(text);
            let answer = FanAnswer {
                key: job.item.key.clone(),
                text: text.to_owned(),
                misfit,
                lane: run.lane,
                model: transcript.output.model.clone(),
                usage: run.spent.or(transcript.output.usage.filter(|_| transcript.is_recorded)),
                took_ms: u64::try_from(transcript.exit.took.as_millis()).unwrap_or(u64::MAX),
            };
            let asks_again = answer.misfit.is_some() && tries < MOST_TRIES && !self.is_over();
            if let Some(why) = answer.misfit.as_deref().filter(|_| asks_again) {
                prompt = again(&first, text, why);
            }
            let answer = Box::new(answer);
            line.tell_result(WorkerNews::Answered(line.worker, job.place, answer, asks_again));
            if !asks_again {
                return Ok(());
            }
        }
    }

    /// Returns the second prompt after an answer that another process got.
    fn again_after(&self, first: &str, event: u64) -> Result<String, Failure> {
        let found = read_event(&*self.store, self.run, event)
            .map_err(|error| Failure::new(ErrorClass::Prerequisite, error))?;
        Ok(match found {
            Some(FanEvent::Answered(answer)) => {
                again(first, &answer.text, answer.misfit.as_deref().unwrap_or_default())
            }
            Some(_) | None => first.to_owned(),
        })
    }

    /// Returns why an answer does not fit the schema.
    fn misfit(&self, answer: &str) -> Option<String> {
        let schema = self.schema?;
        match value_of_answer(answer) {
            Err(why) => Some(why),
            Ok(value) => {
                let faults = schema.faults(&value);
                (!faults.is_empty()).then(|| faults.join("; "))
            }
        }
    }

    fn run_lane(&self, line: &Line, label: &str, prompt: &str) -> Result<LaneRun, Failure> {
        let span = tracing::info_span!("fan", run = %self.run);
        let _entered = span.enter();
        let request = LaneRequest {
            label: Some(label),
            model: self.settings.model.as_deref(),
            effort: self.settings.effort.as_deref(),
            rules: self.rules,
            limits: self.limits,
            purpose: purpose(self.run),
            budget: self.budget,
            outlook: BudgetNotice::Silent,
            watch: TreeWatching::Nothing,
            ..LaneRequest::new(self.agent, prompt)
        };
        let scratch = scratch::lane().map_err(lane_failed)?;
        let mut on_progress = |progress: LaneProgress<'_>| {
            if let LaneProgress::Said(event) = progress {
                line.tell(WorkerNews::Said(line.worker, event.clone()));
            }
            ControlFlow::Continue(())
        };
        request.run_with_progress(self.session, scratch.path(), &self.reporter, &mut on_progress)
    }
}

/// Returns the label that recorded lanes are found by.
fn label(place: usize, tries: u8) -> String {
    let again = if tries > 0 { "/again" } else { "" };
    format!("fan/{}{again}", place + 1)
}

/// Returns the prompt for a second answer.
fn again(first: &str, answer: &str, why: &str) -> String {
    format!(
        "{first}\nAn earlier answer did not fit the schema. What is wrong with it:\n{}\n\n\
         The earlier answer:\n{}\n\nAnswer again, with one JSON value that fits.\n",
        enclosed(why),
        enclosed(answer)
    )
}
