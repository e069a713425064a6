//! `convoke dispatch run`: a round from decision to verdict, with a real agent.

use std::fs;
use std::path::Path;

use convoke_domain::dispatch::resume::{Decision, Fresh};
use convoke_domain::dispatch::role::Noun;
use convoke_domain::hook::Client;
use convoke_domain::lane::outcome::Outcome;
use convoke_engine::lane::adapter::{Agent, Rights};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::scratch;

use super::check::Judged;
use super::{check, gate, next};
use crate::app::{App, Format};
use crate::cli::lane::{
    self, Account, AgentWord, Allowance, LaneOrder, Purse, lane_failed, model_name, overdrawn,
    sentence, why,
};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Output, Voice};

/// A round that was to be resumed and could not be begins afresh, with a note. Reviewers may only
/// read; whoever works may write with `--write`.
#[derive(Debug, clap::Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    next: next::NextArgs,

    /// The client to run
    #[arg(long, value_parser = AgentWord)]
    client: AgentRef,

    /// The model [default: the client's own choice]
    #[arg(long, value_parser = model_name)]
    model: Option<String>,

    /// Let the agent change files, as far as its client's own settings allow
    #[arg(long)]
    write: bool,

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
        };
        let Judgement { ran, judged } = assignment.run(app, &Voice::default())?;
        match (app.format, &judged) {
            (Format::Json, _) => output.json(&check::Tried::new(&ran, judged.as_ref()))?,
            (Format::Text, Some(judged)) => return judged.show(app, output),
            (Format::Text, None) => {}
        }
        Ok(judged.map_or(Exit::of_lane(ran.driven.outcome), |it| it.exit()))
    }
}

/// One round of one role, for a client.
pub(super) struct Assignment<'a> {
    pub(super) next: next::NextArgs,
    pub(super) client: &'a AgentRef,
    pub(super) model: Option<&'a str>,
    /// Whether somebody who works may write.
    pub(super) write: bool,
    pub(super) watch: Watch,
    /// What it may spend, and how long it may take.
    pub(super) purse: &'a Purse,
}

/// Who looks whether somebody who may only read has changed files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Watch {
    /// Each lane by itself.
    Lane,
    /// Whoever runs several at the same time.
    Round,
}

/// What came of it.
pub(super) struct Judgement {
    pub(super) ran: lane::Ran,
    /// The judgement, if there is an answer.
    pub(super) judged: Option<Judged>,
}

impl Assignment<'_> {
    /// Goes from decision to verdict.
    pub(super) fn run(&self, app: &App, voice: &Voice) -> Result<Judgement, Failure> {
        let scratch = scratch::lane().map_err(lane_failed)?;
        let (mut ran, decision) = self.round(app, &self.next, scratch.path(), voice)?;
        let was_resumed = matches!(decision, Decision::Resume { .. });
        if was_resumed && !is_final(ran.driven.outcome) {
            let mut again = self.next.clone();
            let (outcome, why) = (ran.driven.outcome.name(), why(&ran.driven));
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            again.resume_failed = Some(format!("{outcome}{why}"));
            (ran, _) = self.round(app, &again, scratch.path(), voice)?;
        }
        let is_answered = ran.driven.outcome == Outcome::Answered;
        let judged = match ran.driven.heard.answer().filter(|_| is_answered) {
            Some(answer) => Some(self.judged(app, &ran, answer, scratch.path(), voice)?),
            None => None,
        };
        Ok(Judgement { ran, judged })
    }

    /// Decides a round and runs it.
    fn round(
        &self,
        app: &App,
        next: &next::NextArgs,
        scratch: &Path,
        voice: &Voice,
    ) -> Result<(lane::Ran, Decision), Failure> {
        let (role, _, made) = next.decide(app, Some(self.client))?;
        voice.say(&match &made.decision {
            Decision::Resume { agent_id } => format!("resume {agent_id}"),
            Decision::Fresh { reason, .. } => format!("fresh: {}", reason.name()),
        });
        if matches!(made.decision, Decision::Fresh { reason: Fresh::GateNotPassed, .. }) {
            voice.say(&gate::to_pass(self.client));
        }
        let writes = self.write && role.noun == Noun::Work;
        let order = LaneOrder {
            agent: self.client,
            prompt: &made.prompt,
            label: None,
            record: None,
            model: self.model,
            effort: None,
            resume: match &made.decision {
                Decision::Resume { agent_id } => Some(agent_id),
                Decision::Fresh { .. } => None,
            },
            rights: if writes { Rights::Write } else { Rights::ReadOnly },
            limits: self.purse.limits,
            account: Account { foresees: true, ..self.purse.account(role.name.to_string()) },
        };
        let ran = match self.watch {
            Watch::Lane => order.run_watched(app, scratch, voice)?,
            Watch::Round => order.run(app, scratch, voice)?,
        };
        voice.say(&sentence(&ran.driven, None));
        if let Some(line) = overdrawn(&ran.driven, ran.over) {
            voice.say(&line);
        }
        Ok((ran, made.decision))
    }

    /// Judges the answer by what the client printed.
    fn judged(
        &self,
        app: &App,
        ran: &lane::Ran,
        answer: &str,
        scratch: &Path,
        voice: &Voice,
    ) -> Result<Judged, Failure> {
        let response = scratch.join("answer");
        fs::write(&response, answer).map_err(lane_failed)?;
        let client = self.client.client().map(Agent::name).and_then(Client::parse);
        let check = check::Args {
            post: self.next.post.clone(),
            response: Some(response),
            transcript: client.map(|_| scratch.join("stdout")),
            client,
            task: None,
            profile: self.next.materials.profile,
            iteration: self.next.materials.iteration,
            agent: ran.driven.heard.session.clone(),
            tokens: ran.spent.map(|usage| usage.output),
            changed: self.next.materials.changed.clone(),
            dry_run: false,
        };
        check.judge(app, voice, check::NoProof::Told)
    }
}

/// Tells whether there is no use in beginning afresh.
const fn is_final(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Answered | Outcome::OverBudget | Outcome::Cancelled)
}
