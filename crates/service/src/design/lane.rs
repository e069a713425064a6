//! One lane of a run: its request to the agent, and the record of its answer.

use std::ops::ControlFlow;
use std::sync::Arc;

use convoke_domain::design::event::{LaneEnd, Settings};
use convoke_domain::design::walk::LaneNeed;
use convoke_domain::lane::budget::LaneBudget;
use convoke_domain::lane::budget_stop::BudgetStop;
use convoke_domain::lane::collected::{self, CollectedStatus, collected};
use convoke_domain::lane::event::LaneEvent;
use convoke_domain::lane::ledger::Purpose;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::lane::unanswered::Unanswered;
use convoke_domain::run::RunId;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::supervisor::Limits;
use convoke_engine::scratch;
use jiff::Timestamp;
use tracing::Span;

use super::DesignError;
use super::lasting_failure::LastingFailures;
use crate::failure::{ErrorClass, Failure};
use crate::lane::{
    BudgetNotice, LaneProgress, LaneRequest, LaneRun, ParkTerms, ParkVerdict, PinnedRules,
    TreeWatching, lane_failed, why,
};
use crate::session::Session;

/// The longest answer that is kept, in bytes. A run holds all answers, and its results, in memory.
const LONGEST_ANSWER: usize = 512 * 1024;

/// How a lane ended.
#[derive(Debug)]
pub(super) enum LaneResult {
    /// With an answer, or without.
    Ended(LaneEnd),
    /// Its agent's limit is reached. The run can wait until then, if the agent says when; otherwise the lane
    /// has ended like this, unless another lane of the agent says when.
    Limited(Option<Timestamp>, LaneEnd),
    /// The user stopped Convoke.
    Stopped,
}

impl LaneResult {
    /// Returns the end of a lane that has one.
    pub(super) const fn end(&self) -> Option<&LaneEnd> {
        match self {
            Self::Ended(end) => Some(end),
            Self::Limited(..) | Self::Stopped => None,
        }
    }
}

/// A lane's result, or why it could not be tried.
pub(super) type LaneAnswer = Result<LaneResult, Failure>;

/// The end of an attempt.
struct Attempted {
    end: LaneEnd,
    /// Whether another is worthwhile.
    is_worth_another: bool,
    /// Whether the run can wait for the end of a limit.
    park: ParkVerdict,
}

/// The common settings of a run's lanes.
pub(super) struct LaneOrder<'o> {
    pub(super) session: &'o Session,
    pub(super) settings: &'o Settings,
    pub(super) run: &'o RunId,
    pub(super) budget: Option<LaneBudget>,
    pub(super) limits: Limits,
    /// Whether the user's rules go before the prompts.
    pub(super) rules: PinnedRules,
    /// Whether the run waits for the end of a limit.
    pub(super) park: Option<ParkTerms>,
    /// The phase's span in the log; lanes run in threads of their own.
    pub(super) span: Span,
    /// Agents that Convoke does not ask again in their phase.
    pub(super) lasting: &'o LastingFailures,
}

/// Which request of the same prompt it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Attempt {
    First,
    Second,
}

impl LaneOrder<'_> {
    /// Runs a lane, and once more if the client printed nothing.
    pub(super) fn run(&self, request: &LaneNeed, hear: &mut dyn FnMut(&LaneEvent)) -> LaneAnswer {
        let client = self.settings.chosen(request.holder).agent.as_str();
        let seat = tracing::info_span!(parent: &self.span, "seat", seat = %request.id, client);
        let _entered = seat.enter();
        if let Some(end) = self.lasting.end_of(request.step, client) {
            return Ok(LaneResult::Ended(end));
        }
        let mut asked = self.ask(request, Attempt::First, hear)?;
        if asked.as_ref().is_some_and(|attempted| attempted.is_worth_another) {
            asked = self.ask(request, Attempt::Second, hear)?;
        }
        let Some(Attempted { end, park, .. }) = asked else { return Ok(LaneResult::Stopped) };
        Ok(match park {
            ParkVerdict::Until(until) => LaneResult::Limited(Some(until), end),
            ParkVerdict::Unknown => LaneResult::Limited(None, end),
            ParkVerdict::NoLimit | ParkVerdict::TooLate(_) => LaneResult::Ended(end),
        })
    }

    /// Runs one attempt.
    fn ask(
        &self,
        request: &LaneNeed,
        attempt: Attempt,
        hear: &mut dyn FnMut(&LaneEvent),
    ) -> Result<Option<Attempted>, Failure> {
        let chosen = self.settings.chosen(request.holder);
        let agent = AgentRef::parse(&chosen.agent).ok_or_else(|| {
            Failure::new(ErrorClass::Usage, DesignError::NoAgent { name: chosen.agent.clone() })
        })?;
        let ran = self.run_lane(request, &agent, hear)?;
        let transcript = &ran.transcript;
        // A client that ends without an answer while Convoke is being stopped has not failed: the
        // guardian of a worker ends its clients together with it.
        let is_answered = transcript.outcome == LaneOutcome::Answered;
        if transcript.outcome == LaneOutcome::Cancelled
            || (!is_answered && self.session.is_stopped())
        {
            return Ok(None);
        }
        let why = why(transcript);
        let result = collected::CollectedResult {
            outcome: transcript.outcome,
            end: transcript.exit.end,
            why: why.as_deref(),
            thin: None,
            is_clash: transcript.output.is_clash(),
            is_second: attempt == Attempt::Second,
        };
        let found = collected(&result);
        // No agent failed then; the spent amount is worth reporting.
        let reason = if found.status == CollectedStatus::BudgetSpent {
            let stop = ran.stop.clone().or_else(|| why.clone().map(BudgetStop::Reported));
            Some(Unanswered::OverBudget { stop })
        } else {
            found.reason
        };
        let mut end = LaneEnd {
            status: found.status,
            reason,
            answer: Arc::default(),
            agent: chosen.agent.clone(),
            model: transcript.output.model.clone(),
            usage: ran.spent.or(transcript.output.usage.filter(|_| transcript.is_recorded)),
            took: u64::try_from(transcript.exit.took.as_millis()).unwrap_or(u64::MAX),
        };
        if end.status == CollectedStatus::Ok || transcript.output.is_cut_off() {
            let answer = transcript.output.answer().unwrap_or_default();
            if answer.len() > LONGEST_ANSWER {
                end.status = CollectedStatus::Failed;
                end.reason = Some(Unanswered::TooLong { most: LONGEST_ANSWER });
            } else {
                end.answer = answer.into();
            }
        }
        self.lasting.note(request.step, &agent, transcript.outcome, &end);
        let judged =
            |terms: ParkTerms| terms.judge(transcript.outcome, ran.resets_at, self.session.now());
        let park = self.park.map_or(ParkVerdict::NoLimit, judged);
        if let (Some(terms), ParkVerdict::TooLate(_)) = (self.park, park)
            && let Some(refusal) = terms.refusal(park)
        {
            self.session.reporter().warn(refusal);
        }
        Ok(Some(Attempted { end, is_worth_another: result.is_worth_another(), park }))
    }

    /// Asks the agent once, without a look at the answer.
    fn run_lane(
        &self,
        request: &LaneNeed,
        agent: &AgentRef,
        hear: &mut dyn FnMut(&LaneEvent),
    ) -> Result<LaneRun, Failure> {
        let purpose = Purpose {
            run: Some(self.run.to_string()),
            role: Some(request.kind.clone()),
            phase: Some(request.step.number().to_owned()),
        };
        let lane = LaneRequest {
            label: Some(request.id.as_str()),
            model: self.settings.chosen(request.holder).model.as_deref(),
            rules: self.rules.under(self.settings.policy),
            limits: self.limits,
            purpose,
            budget: self.budget,
            outlook: BudgetNotice::Silent,
            watch: TreeWatching::Nothing,
            ..LaneRequest::new(agent, &request.prompt)
        };
        let scratch = scratch::lane().map_err(lane_failed)?;
        let mut on_progress = |progress: LaneProgress<'_>| {
            if let LaneProgress::Said(event) = progress {
                hear(event);
            }
            ControlFlow::Continue(())
        };
        let (reporter, folder) = (self.session.reporter(), scratch.path());
        lane.run_with_progress(self.session, folder, &reporter, &mut on_progress)
    }
}

/// Returns the record of a lane that could not start, with the error's text.
pub(super) fn not_run(settings: &Settings, request: &LaneNeed, error: &str) -> LaneEnd {
    LaneEnd {
        status: CollectedStatus::Failed,
        reason: Some(Unanswered::NotRun(error.to_owned())),
        answer: Arc::default(),
        agent: settings.chosen(request.holder).agent.clone(),
        model: None,
        usage: None,
        took: 0,
    }
}

/// Returns the span of the phase that starts lanes.
pub(super) fn phase_span(requests: &[LaneNeed]) -> Span {
    let phase = requests.first().map(|request| request.step.number());
    tracing::info_span!("phase", phase, lanes = requests.len())
}
