//! `convoke dispatch run`: a round from decision to verdict, with a real agent.

use std::path::Path;

use convoke_domain::dispatch::ambiguity::{Ambiguity, ask_again};
use convoke_domain::dispatch::rate::DispatchMode;
use convoke_domain::dispatch::resume::{FreshReason, ResumeDecision};
use convoke_domain::dispatch::role::{DispatchRole, Noun, Proof};
use convoke_domain::hook::Client;
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::task::id::TaskId;
use convoke_engine::lane::adapter::{Agent, Rights};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::scratch;

use super::deed::{Dispatched, kind_of};
use super::gate;
use super::judge::{Judged, Kind, NoProof, Submission};
use super::next::{Decided, NextArgs};
use super::report::RoundReport;
use crate::app::{App, Format};
use crate::cli::lane::{
    Account, AgentWord, Allowance, LaneOrder, Purse, Ran, Rules, RulesArgs, check_agent,
    lane_failed, model_name, overdrawn, sentence, why,
};
use crate::config::dispatch::settings;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, Voice};

/// A round that cannot be resumed begins afresh, with a note. Reviewers may only read; an agent
/// that works may write with `--write`. An answer that is neither an approval nor a rejection is
/// asked for once more, in the same session, as the verdict alone.
///
/// Exit 0 means that the answer passes, 1 that it does not, and 4 that there is no answer or none
/// with a verdict.
#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    next: NextArgs,

    /// Who answers: a client, `http:NAME` for a model's API of your configuration, or `replay:FILE`
    /// for recorded lanes
    #[arg(long, value_parser = AgentWord)]
    client: AgentRef,

    /// The model [default: the client's own choice]
    #[arg(long, value_parser = model_name)]
    model: Option<String>,

    /// Let the agent change files, as far as its client's own settings allow
    #[arg(long)]
    write: bool,

    /// Fail unless the client's record shows that every required file was read whole
    #[arg(long)]
    require_proof: bool,

    #[command(flatten)]
    rules: RulesArgs,

    /// The stored task that the role judges or works on; Convoke records the verdict with it
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    task: Option<TaskId>,

    #[command(flatten)]
    allowance: Allowance,
}

impl RunArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let assignment = Assignment {
            next: self.next.clone(),
            client: &self.client,
            model: self.model.as_deref(),
            write: self.write,
            watch: Watch::Lane,
            purse: &self.allowance.settle("dispatch run"),
            proof: Proof::of(self.require_proof),
            task: self.task.as_ref(),
            rules: self.rules.rules(),
        };
        assignment.check(app)?;
        self.next.post.say_changes(app, output)?;
        let judgement = assignment.run(app, &Voice::default())?;
        let Judgement { ran, earlier, judged } = &judgement;
        match (app.format, judged) {
            (Format::Json, _) => output.json(&RoundReport::new(ran, earlier, judged.as_ref()))?,
            (Format::Text, Some(judged)) => drop(judged.show(app, output)?),
            (Format::Text, None) => {}
        }
        Ok(judgement.exit())
    }
}

/// One round of one role, for a client.
pub(super) struct Assignment<'a> {
    pub(super) next: NextArgs,
    pub(super) client: &'a AgentRef,
    pub(super) model: Option<&'a str>,
    /// Whether a role that works may write.
    pub(super) write: bool,
    pub(super) watch: Watch,
    /// What it may spend, and how long it may take.
    pub(super) purse: &'a Purse,
    /// Whether an approval needs proof of reading.
    pub(super) proof: Proof,
    /// The stored task that it is about.
    pub(super) task: Option<&'a TaskId>,
    /// Whether the user's rules go before the prompt.
    pub(super) rules: Rules,
}

/// Who notices that an agent that may only read has changed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watch {
    /// Each lane by itself.
    Lane,
    /// The caller, for several lanes that run at the same time.
    Round,
}

/// The result of a round.
pub(super) struct Judgement {
    /// The lane that ran last.
    pub(super) ran: Ran,
    /// The lanes before it in this round.
    pub(super) earlier: Vec<Ran>,
    /// The judgement, if there is an answer.
    pub(super) judged: Option<Judged>,
}

impl Assignment<'_> {
    /// Checks everything that can be checked before the agent is paid.
    pub(super) fn check(&self, app: &App) -> Result<(), Failure> {
        let role = self.next.check(app, self.proof)?;
        check_agent(self.client, self.rights(&role), app)
    }

    /// Only a role that works may write.
    fn rights(&self, role: &DispatchRole) -> Rights {
        if self.write && role.noun == Noun::Work { Rights::Write } else { Rights::ReadOnly }
    }

    /// Goes from decision to verdict.
    pub(super) fn run(&self, app: &App, voice: &Voice) -> Result<Judgement, Failure> {
        let dispatched = Dispatched { app, role: &self.next.post.role, task: self.task };
        dispatched.check()?;
        let kind = kind_of(&self.next.post.find(app, &settings(app)?)?.0);
        dispatched.record_start(kind, voice);
        let (mut judgement, mode) = self.attempt(app, &self.next, voice)?;
        if let Some(why) =
            (mode == DispatchMode::Resume).then(|| judgement.resume_failure()).flatten()
        {
            let mut next = self.next.clone();
            next.resume_failed = Some(why);
            let (fresh, _) = self.attempt(app, &next, voice)?;
            let mut earlier = judgement.earlier;
            earlier.push(judgement.ran);
            earlier.extend(fresh.earlier);
            judgement = Judgement { earlier, ..fresh };
        }
        if let Some(judged) = &judgement.judged {
            let session = judgement.ran.driven.heard.session.as_deref();
            judged.keep(app, &self.next.post, session, voice)?;
        }
        let iteration = self.next.materials.iteration;
        dispatched.record_end(kind, &judgement, &format!("dispatch, round {iteration}"), voice);
        Ok(judgement)
    }

    /// Decides a round, runs it and judges the answer. An answer without a verdict is asked for
    /// once more.
    fn attempt(
        &self,
        app: &App,
        next: &NextArgs,
        voice: &Voice,
    ) -> Result<(Judgement, DispatchMode), Failure> {
        let scratch = scratch::lane().map_err(lane_failed)?;
        let decided = self.decide(app, next, voice)?;
        let mode = match &decided.made.decision {
            ResumeDecision::Resume { .. } => DispatchMode::Resume,
            ResumeDecision::Fresh { .. } => DispatchMode::Fresh,
        };
        let resume = match &decided.made.decision {
            ResumeDecision::Resume { agent_id } => Some(agent_id.as_str()),
            ResumeDecision::Fresh { .. } => None,
        };
        let request = Request { role: &decided.role, prompt: &decided.made.prompt, resume };
        let ran = self.lane(app, &request, scratch.path(), voice)?;
        let Some(answer) = answer_of(&ran) else {
            return Ok((Judgement { ran, earlier: Vec::new(), judged: None }, mode));
        };
        let client = self.client.client().map(Agent::name).and_then(Client::parse);
        let stdout = scratch.path().join("stdout");
        let submission = |again| Submission {
            post: &next.post,
            kind: Kind::Round,
            profile: next.materials.profile,
            iteration: next.materials.iteration,
            record: client.map(|client| (client, stdout.as_path())),
            no_proof: NoProof::Told,
            answer: Some(answer),
            again,
            tokens: ran.spent.map(|usage| usage.output),
            changed: &next.materials.changed,
            proof: self.proof,
        };
        let judged = submission(None).judge(app, voice)?;
        let Some(ambiguity) = judged.ambiguity.as_ref().filter(|_| judged.asks_again(mode)) else {
            return Ok((Judgement { ran, earlier: Vec::new(), judged: Some(judged) }, mode));
        };
        let second = self.ask_again(app, &decided, ambiguity, &ran, voice)?;
        let judged = match answer_of(&second) {
            Some(again) => submission(Some(again)).judge(app, voice)?,
            None => judged,
        };
        Ok((Judgement { ran: second, earlier: vec![ran], judged: Some(judged) }, mode))
    }

    fn decide(&self, app: &App, next: &NextArgs, voice: &Voice) -> Result<Decided, Failure> {
        let decided = next.decide(app, Some(self.client))?;
        let decision = &decided.made.decision;
        voice.say(&match decision {
            ResumeDecision::Resume { agent_id } => format!("resume {agent_id}"),
            ResumeDecision::Fresh { reason, .. } => format!("fresh: {}", reason.name()),
        });
        if matches!(decision, ResumeDecision::Fresh { reason: FreshReason::GateNotPassed, .. }) {
            voice.say(&gate::to_pass(self.client));
        }
        Ok(decided)
    }

    /// Asks for the verdict alone: in the session that answered, or with the answer quoted where
    /// the agent keeps no session.
    fn ask_again(
        &self,
        app: &App,
        decided: &Decided,
        ambiguity: &Ambiguity,
        first: &Ran,
        voice: &Voice,
    ) -> Result<Ran, Failure> {
        voice.say(&format!(
            "the answer is ambiguous: {}; asking once more for the verdict alone",
            ambiguity.doubt
        ));
        let session = first.driven.heard.session.as_deref();
        let session = session.filter(|_| matches!(self.client, AgentRef::Client(_)));
        let answer = answer_of(first).filter(|_| session.is_none());
        let prompt = ask_again(ambiguity, &decided.returns, answer);
        let request = Request { role: &decided.role, prompt: &prompt, resume: session };
        let scratch = scratch::lane().map_err(lane_failed)?;
        self.lane(app, &request, scratch.path(), voice)
    }

    fn lane(
        &self,
        app: &App,
        request: &Request<'_>,
        scratch: &Path,
        voice: &Voice,
    ) -> Result<Ran, Failure> {
        let role = request.role.name.to_string();
        let order = LaneOrder {
            agent: self.client,
            prompt: request.prompt,
            label: None,
            record: None,
            model: self.model,
            effort: None,
            resume: request.resume,
            rights: self.rights(request.role),
            rules: self.rules,
            limits: self.purse.limits,
            account: Account { foresees: true, ..self.purse.account(role) },
        };
        let ran = match self.watch {
            Watch::Lane => order.run_watched(app, scratch, voice)?,
            Watch::Round => order.run(app, scratch, voice)?,
        };
        voice.say(&sentence(&ran.driven, None));
        if let Some(line) = overdrawn(&ran.driven, ran.over) {
            voice.say(&line);
        }
        Ok(ran)
    }
}

/// What an agent is asked in a lane.
struct Request<'a> {
    role: &'a DispatchRole,
    prompt: &'a str,
    /// The session to ask in.
    resume: Option<&'a str>,
}

impl Judgement {
    /// Returns the exit code: of the judgement, or of the last lane where there is none. A lane that
    /// the user or a budget stopped while it was asked again says why there is no verdict.
    fn exit(&self) -> Exit {
        let of_lane = Exit::of_lane(self.ran.driven.outcome);
        match &self.judged {
            Some(judged) if judged.ambiguity.is_none() || of_lane == Exit::Done => judged.exit(),
            Some(_) | None => of_lane,
        }
    }

    /// Says why a resumed session gave no usable answer; a lane that the user or a budget stopped
    /// is not tried again.
    fn resume_failure(&self) -> Option<String> {
        if self.judged.is_none() && !is_final(self.ran.driven.outcome) {
            let (outcome, why) = (self.ran.driven.outcome.name(), why(&self.ran.driven));
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            return Some(format!("{outcome}{why}"));
        }
        self.judged.as_ref().and_then(Judged::resume_failure)
    }
}

fn answer_of(ran: &Ran) -> Option<&str> {
    ran.driven.heard.answer().filter(|_| ran.driven.outcome == LaneOutcome::Answered)
}

/// Tells whether there is no use in beginning afresh.
const fn is_final(outcome: LaneOutcome) -> bool {
    matches!(outcome, LaneOutcome::Answered | LaneOutcome::OverBudget | LaneOutcome::Cancelled)
}
