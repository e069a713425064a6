//! A round from decision to verdict, with a real agent.

use std::path::{Path, PathBuf};

use convoke_domain::dispatch::ambiguity::{Ambiguity, ask_again};
use convoke_domain::dispatch::rate::DispatchMode;
use convoke_domain::dispatch::resume::{FreshReason, ResumeDecision};
use convoke_domain::dispatch::role::{Noun, Proof};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::task::id::TaskId;
use convoke_engine::client::{Rights, adapter};
use convoke_engine::dispatch::next::NextRound;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::scratch;

use super::deed::{Dispatched, kind_of};
use super::gate;
use super::judge::{AnswerKind, Judged, NoProof, Submission};
use super::materials::Materials;
use super::next::{NextRoundRequest, RoundPlan, check_materials};
use super::post::{FoundPost, say_changes};
use super::report::DispatchRoundReport;
use crate::failure::{ErrorClass, Failure};
use crate::lane::{
    BudgetNotice, CallBudget, LaneRequest, LaneRun, PinnedRules, TreeWatching, check_agent,
    lane_failed, over_budget_warning, remedy, sentence, why,
};
use crate::observer::Reporter;
use crate::session::Session;
use crate::settings::dispatch::{Settings, settings};
use crate::telemetry::{TracedWork, traced};
use crate::workspace::Workspace;

/// One round of one role, for a client.
#[derive(Debug, Clone)]
pub struct RunRoundRequest {
    /// The request for the round.
    pub next: NextRoundRequest,
    /// The client that answers.
    pub client: AgentRef,
    /// The model, instead of the client's own choice.
    pub model: Option<String>,
    /// The rights of a working role; a reviewer is always read-only.
    pub rights: Rights,
    /// Its budget, and its time limit.
    pub budget: CallBudget,
    /// Whether an approval needs proof of reading.
    pub proof: Proof,
    /// The stored task that it is about.
    pub task: Option<TaskId>,
    /// Whether the user's rules go before the prompt.
    pub rules: PinnedRules,
}

/// The result of a round.
#[derive(Debug)]
pub struct FinishedRound {
    /// The result of the round.
    pub report: DispatchRoundReport,
    /// Why it does not pass; `None` if it does.
    pub class: Option<ErrorClass>,
    /// The folder of the feature, or of the whole project.
    pub folder: PathBuf,
}

/// Decides the next round, runs it with a real agent, and judges its answer by its record.
pub fn run_round(session: &Session, request: RunRoundRequest) -> Result<FinishedRound, Failure> {
    let work = TracedWork::call(session, "dispatch run", request.budget.run.as_deref());
    traced(session, work, |session| finish_round(session, request), |round| round.class)
}

fn finish_round(session: &Session, request: RunRoundRequest) -> Result<FinishedRound, Failure> {
    let settings = settings(session)?;
    let role = request.next.post.role.clone();
    let assignment = Assignment::new(session, &settings, request, TreeWatching::Tree)?;
    assignment.check()?;
    say_changes([&role], &settings, session);
    let workspace = Workspace::open(session, None)?;
    let folder = assignment.post.feature.dir.clone();
    let judgement = assignment.run(&workspace, &session.reporter())?;
    assignment.note_unrecorded(&workspace, &judgement);
    let class = judgement.class();
    let Judgement { ran, earlier, judged } = judgement;
    let report = DispatchRoundReport::new(&ran, &earlier, judged.map(|judged| judged.report));
    Ok(FinishedRound { report, class, folder })
}

/// One round of one role, with all its resolved inputs.
pub(super) struct Assignment<'a> {
    request: RunRoundRequest,
    post: FoundPost<'a>,
    materials: Materials,
    /// Whether its lane watches the working tree, or the caller does for several lanes that run at
    /// the same time.
    watch: TreeWatching,
}

/// The result of a round.
pub(super) struct Judgement {
    /// The lane that ran last.
    pub(super) ran: LaneRun,
    /// The lanes before it in this round.
    pub(super) earlier: Vec<LaneRun>,
    /// The judgement, if there is an answer.
    pub(super) judged: Option<Judged>,
}

impl<'a> Assignment<'a> {
    /// Finds the role, its feature and every text that its prompt is made of.
    pub(super) fn new(
        session: &'a Session,
        settings: &'a Settings,
        request: RunRoundRequest,
        watch: TreeWatching,
    ) -> Result<Self, Failure> {
        let post = request.next.post.find(session, settings)?;
        let materials = request.next.materials.settle(&post)?;
        Ok(Self { request, post, materials, watch })
    }

    /// Checks as much as possible before any cost.
    pub(super) fn check(&self) -> Result<(), Failure> {
        check_materials(&self.post, &self.materials, self.request.proof)?;
        check_agent(&self.request.client, self.rights(), self.post.session)
    }

    /// Only a role that works may write.
    fn rights(&self) -> Rights {
        match self.post.role.noun {
            Noun::Work => self.request.rights,
            Noun::Review => Rights::ReadOnly,
        }
    }

    /// Goes from decision to verdict.
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        reporter: &Reporter,
    ) -> Result<Judgement, Failure> {
        let (role, client) = (&self.post.role.name, &self.request.client);
        let span = tracing::info_span!("dispatch", %role, %client);
        let _entered = span.enter();
        let FoundPost { session, role, .. } = &self.post;
        let task = self.request.task.as_ref();
        let dispatched = Dispatched { session, workspace, role: &role.name, task };
        dispatched.check()?;
        let kind = kind_of(role);
        dispatched.record_start(kind, reporter);
        let resume_failed = self.request.next.resume_failed.as_deref();
        let (mut judgement, mode) = self.attempt(workspace, resume_failed, reporter)?;
        if let Some(why) =
            (mode == DispatchMode::Resume).then(|| judgement.resume_failure()).flatten()
        {
            let (fresh, _) = self.attempt(workspace, Some(&why), reporter)?;
            let mut earlier = judgement.earlier;
            earlier.push(judgement.ran);
            earlier.extend(fresh.earlier);
            judgement = Judgement { earlier, ..fresh };
        }
        if let Some(judged) = &judgement.judged {
            judged.keep(workspace, judgement.ran.transcript.output.session.as_deref(), reporter)?;
        }
        let iteration = self.materials.iteration;
        dispatched.record_end(kind, &judgement, &format!("dispatch, round {iteration}"), reporter);
        Ok(judgement)
    }

    /// Says how to record a verdict that no task has.
    fn note_unrecorded(&self, workspace: &Workspace, judgement: &Judgement) {
        let FoundPost { session, role, .. } = &self.post;
        let task = self.request.task.as_ref();
        if let Some(judged) = &judgement.judged {
            let dispatched = Dispatched { session, workspace, role: &role.name, task };
            dispatched.note_unrecorded(judged, "--task", &session.reporter());
        }
    }

    /// Decides a round, runs it and judges the answer. After an answer without a verdict it asks
    /// the agent once more.
    fn attempt(
        &self,
        workspace: &Workspace,
        resume_failed: Option<&str>,
        reporter: &Reporter,
    ) -> Result<(Judgement, DispatchMode), Failure> {
        let scratch = scratch::lane().map_err(lane_failed)?;
        let decided = self.decide(workspace, resume_failed, reporter)?;
        let (mode, resume) = match &decided.decision {
            ResumeDecision::Resume { agent_id } => (DispatchMode::Resume, Some(agent_id.as_str())),
            ResumeDecision::Fresh { .. } => (DispatchMode::Fresh, None),
        };
        let ran = self.lane(&decided.prompt, resume, scratch.path(), reporter)?;
        let Some(answer) = answer_of(&ran) else {
            return Ok((Judgement { ran, earlier: Vec::new(), judged: None }, mode));
        };
        let client = self.request.client.speaker();
        let client = client.filter(|client| adapter(*client).transcript.is_some());
        let stdout = scratch.path().join("stdout");
        let submission = |again| Submission {
            post: &self.post,
            workspace,
            kind: AnswerKind::Round,
            profile: self.materials.profile,
            iteration: self.materials.iteration,
            record: client.map(|client| (client, stdout.as_path())),
            no_proof: NoProof::Told,
            answer: Some(answer),
            again,
            tokens: ran.spent.map(|usage| usage.output),
            changed: &self.materials.files,
            proof: self.request.proof,
        };
        let judged = submission(None).judge(reporter)?;
        let Some(ambiguity) = judged.ambiguity.as_ref().filter(|_| judged.asks_again(mode)) else {
            return Ok((Judgement { ran, earlier: Vec::new(), judged: Some(judged) }, mode));
        };
        let second = self.ask_again(ambiguity, &ran, reporter)?;
        let judged = match answer_of(&second) {
            Some(again) => submission(Some(again)).judge(reporter)?,
            None => judged,
        };
        Ok((Judgement { ran: second, earlier: vec![ran], judged: Some(judged) }, mode))
    }

    fn decide(
        &self,
        workspace: &Workspace,
        resume_failed: Option<&str>,
        reporter: &Reporter,
    ) -> Result<NextRound, Failure> {
        let client = &self.request.client;
        let plan = RoundPlan {
            post: &self.post,
            materials: &self.materials,
            workspace,
            request: &self.request.next,
            resume_failed,
            client: Some(client),
        };
        let made = plan.decide()?;
        reporter.say(match &made.decision {
            ResumeDecision::Resume { agent_id } => format!("resume {agent_id}"),
            ResumeDecision::Fresh { reason, .. } => format!("fresh: {}", reason.words()),
        });
        let ungated = FreshReason::GateNotPassed;
        if matches!(&made.decision, ResumeDecision::Fresh { reason, .. } if *reason == ungated) {
            reporter.tell(&gate::to_pass(client));
        }
        Ok(made)
    }

    /// Requests the verdict alone: in the session that answered, or with the answer quoted where
    /// the agent keeps no session.
    fn ask_again(
        &self,
        ambiguity: &Ambiguity,
        first: &LaneRun,
        reporter: &Reporter,
    ) -> Result<LaneRun, Failure> {
        reporter.say(format!(
            "the answer is ambiguous: {}; asking once more for the verdict alone",
            ambiguity.doubt
        ));
        let session = first.transcript.output.session.as_deref();
        let session = session.filter(|_| self.request.client.speaker().is_some());
        let answer = answer_of(first).filter(|_| session.is_none());
        let prompt = ask_again(ambiguity, &self.materials.returns, answer);
        let scratch = scratch::lane().map_err(lane_failed)?;
        self.lane(&prompt, session, scratch.path(), reporter)
    }

    /// Runs the agent in a lane: in an earlier session, or in a new one.
    fn lane(
        &self,
        prompt: &str,
        resume: Option<&str>,
        scratch: &Path,
        reporter: &Reporter,
    ) -> Result<LaneRun, Failure> {
        let RunRoundRequest { client, model, budget, rules, .. } = &self.request;
        // The prompt tells the lanes of one round apart, such as the second question for a verdict.
        let place = format!("{}/round-{}", self.post.role.name, self.materials.iteration);
        let order = LaneRequest {
            place: Some(&place),
            model: model.as_deref(),
            resume,
            rights: self.rights(),
            rules: *rules,
            limits: budget.limits,
            purpose: budget.purpose(self.post.role.name.to_string()),
            budget: budget.budget,
            outlook: BudgetNotice::Forecast,
            watch: self.watch,
            park: budget.park,
            ..LaneRequest::new(client, prompt)
        };
        let ran = match self.watch {
            TreeWatching::Tree => order.run_and_warn(self.post.session, scratch, reporter)?,
            TreeWatching::Nothing => order.run(self.post.session, scratch, reporter)?,
        };
        reporter.say(sentence(&ran.transcript, None));
        if let Some(remedy) = remedy(client, ran.transcript.outcome) {
            reporter.hint(remedy);
        }
        if let Some(line) = over_budget_warning(&ran.transcript, ran.over) {
            reporter.warn(line);
        }
        Ok(ran)
    }
}

impl Judgement {
    /// Returns why the round does not pass: by the judgement, or by the last lane without one.
    /// If the user or a budget stopped the lane during the second request, that is why there is no
    /// verdict.
    fn class(&self) -> Option<ErrorClass> {
        let of_lane = ErrorClass::of_lane(self.ran.transcript.outcome);
        match &self.judged {
            Some(judged) if judged.ambiguity.is_none() || of_lane.is_none() => {
                judged.report.class()
            }
            Some(_) | None => of_lane,
        }
    }

    /// Describes why a resumed session gave no usable answer; a lane that the user or a budget
    /// stopped is not tried again.
    fn resume_failure(&self) -> Option<String> {
        if self.judged.is_none() && !is_final(self.ran.transcript.outcome) {
            let (outcome, why) = (self.ran.transcript.outcome.name(), why(&self.ran.transcript));
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            return Some(format!("{outcome}{why}"));
        }
        self.judged.as_ref().and_then(Judged::resume_failure)
    }
}

fn answer_of(ran: &LaneRun) -> Option<&str> {
    ran.transcript.output.answer().filter(|_| ran.transcript.outcome == LaneOutcome::Answered)
}

/// Tells whether there is no use in beginning afresh.
const fn is_final(outcome: LaneOutcome) -> bool {
    matches!(outcome, LaneOutcome::Answered | LaneOutcome::OverBudget | LaneOutcome::Cancelled)
}
