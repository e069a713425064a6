//! The same feature in a single pass by the chair, beside what the panel made.

use std::time::Duration;

use convoke_domain::design::event::Settings;
use convoke_domain::design::forecast::COMPARED;
use convoke_domain::design::outline::DesignPlan;
use convoke_domain::design::plan::{check, read};
use convoke_domain::design::seat::Holder;
use convoke_domain::design::walk::{DesignEnding, Next};
use convoke_domain::lane::ledger::{Purpose, Sum};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::run::RunId;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::scratch;
use serde::Serialize;

use super::comparison::ComparedFindingReport;
use super::known::KnownRun;
use super::matters::decisions;
use super::results::ResultsReport;
use super::show::named_run;
use super::single_pass::SinglePass;
use crate::design::{DesignError, SINGLE_PASS, lane_limits};
use crate::failure::{ErrorClass, Failure};
use crate::lane::{LaneRequest, LaneRun, PinnedRules, lane_failed, sentence};
use crate::session::Session;

/// A request to compare a run's plan with a plan of a single pass.
#[derive(Debug, Clone)]
pub struct CompareRequest {
    /// The run, or the beginning of its name.
    pub run: RunId,
    /// Where the single pass comes from.
    pub source: SinglePassSource,
}

/// Where the plan of a single pass comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SinglePassSource {
    /// The run's host writes it now, within this time.
    Asked(Duration),
    /// The last one that this machine keeps. No agent is started.
    Kept,
}

/// One way to a plan, in numbers.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareSideReport {
    /// `panel` or `single`.
    pub way: &'static str,
    /// How many lanes it took.
    pub lanes: u64,
    /// How many of them reported no usage, so that tokens and cost lack them.
    pub without_usage: u64,
    /// How many words the plan has.
    pub words: usize,
    /// How many tasks the plan has.
    pub tasks: usize,
    /// How many sections the plan lacks.
    pub missing: usize,
    /// Tokens that models read; nothing if no client said it.
    pub input_tokens: Option<u64>,
    /// Tokens that models wrote; nothing if no client said it.
    pub output_tokens: Option<u64>,
    /// The cost, in millionths of a dollar.
    pub micro_dollars: Option<u64>,
    /// How long its lanes took together.
    pub seconds: u64,
}

/// Both ways to a plan.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareReport {
    /// The run of the panel.
    pub run: String,
    /// The feature that both plan.
    pub feature: String,
    /// Whether the panel's plan is its final one.
    pub is_finished: bool,
    /// People's decisions in the panel's place, a line each.
    pub decided: Vec<String>,
    /// The panel's side.
    pub panel: CompareSideReport,
    /// The single agent's side.
    pub single: CompareSideReport,
    /// The panel's plan, as it is now.
    pub panel_plan: String,
    /// That agent's plan.
    pub single_plan: String,
    /// When that agent wrote it.
    pub made_at: String,
    /// The agent that wrote it.
    pub agent: String,
    /// The model that answered, else the requested one.
    pub model: Option<String>,
    /// What the panel's reviewers found. A single pass has no reviewers.
    pub findings: Vec<ComparedFindingReport>,
}

/// The result of a single pass.
#[derive(Debug, Clone)]
pub enum CompareOutcome {
    /// There are two plans.
    Compared(Box<CompareReport>),
    /// The agent gave no plan.
    NoPlan(LaneOutcome),
    /// This machine keeps no single pass of the run.
    NotKept,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot compare `{run}`: it has no plan yet")]
struct NoPlan {
    run: RunId,
}

/// Compares the plan of a run with a plan that its host writes alone, now or earlier.
pub fn compare(session: &Session, request: &CompareRequest) -> Result<CompareOutcome, Failure> {
    let known = named_run(session, Some(&request.run))?;
    let settings = known.facts.settings().map(|(_, settings)| settings);
    let plan = known.progress.results.plan.as_ref();
    let (Some(settings), Some(plan)) = (settings, plan) else {
        return Err(Failure::new(ErrorClass::Refused, NoPlan { run: known.run.id }));
    };
    let compared = |pass: &SinglePass| {
        let report = CompareReport::new(&known, settings, plan, pass)?;
        Ok(CompareOutcome::Compared(Box::new(report)))
    };
    match request.source {
        SinglePassSource::Kept => match SinglePass::read(session, &known.run.id)? {
            Some(pass) => compared(&pass),
            None => Ok(CompareOutcome::NotKept),
        },
        SinglePassSource::Asked(limit) => {
            tell_state(session, &known);
            let ran = single(session, limit, settings, &known)?;
            session.reporter().say(sentence(&ran.transcript, None));
            match pass_of(session, &known.run.id, settings, &ran) {
                Some(pass) => {
                    pass.keep(session, &known.run.id);
                    compared(&pass)
                }
                None => Ok(CompareOutcome::NoPlan(ran.transcript.outcome)),
            }
        }
    }
}

/// Tells the user how far the panel's plan is its own and its last.
fn tell_state(session: &Session, known: &KnownRun) {
    let reporter = session.reporter();
    if !is_finished(known) {
        reporter.remark(format!(
            "the run has not ended, so the panel's plan is unfinished; see `convoke resume {}`",
            known.run.id
        ));
    }
    for decision in decisions(&known.progress) {
        reporter.remark(decision);
    }
}

fn is_finished(known: &KnownRun) -> bool {
    let ending = &known.progress.next;
    matches!(ending, Next::End(DesignEnding::Complete { .. } | DesignEnding::NotExported(_)))
}

/// Returns the plan of a lane that answered, with what it took.
fn pass_of(
    session: &Session,
    run: &RunId,
    settings: &Settings,
    ran: &LaneRun,
) -> Option<SinglePass> {
    let LaneRun { transcript, spent, .. } = ran;
    let answer =
        transcript.output.answer().filter(|_| transcript.outcome == LaneOutcome::Answered)?;
    let chosen = settings.chosen(Holder::Host);
    let model = transcript.output.model.as_deref().or(chosen.model.as_deref());
    let pass = SinglePass::new(session, run, &chosen.agent, model, read(answer).text);
    let took = u64::try_from(transcript.exit.took.as_millis()).unwrap_or(u64::MAX);
    Some(pass.with_cost(took, *spent))
}

impl CompareReport {
    fn new(
        known: &KnownRun,
        settings: &Settings,
        plan: &DesignPlan,
        pass: &SinglePass,
    ) -> Result<Self, Failure> {
        let took: u64 = known.facts.ended().iter().map(|(_, end)| end.took).sum();
        let sum = known.sum()?;
        let single_sum = Sum {
            lanes: 1,
            without_usage: u64::from(pass.usage().is_none()),
            usage: pass.usage().unwrap_or_default(),
            ..Sum::default()
        };
        let results = ResultsReport::new(&known.progress.results, Some(settings));
        let single = DesignPlan::new(&pass.plan);
        Ok(Self {
            run: known.run.id.to_string(),
            feature: known.run.feature.clone(),
            is_finished: is_finished(known),
            decided: decisions(&known.progress),
            panel: CompareSideReport::new("panel", plan, sum, took / 1000),
            single: CompareSideReport::new("single", &single, single_sum, pass.took_ms / 1000),
            panel_plan: plan.text.to_string(),
            single_plan: pass.plan.clone(),
            made_at: pass.made_at.clone(),
            agent: pass.agent.clone(),
            model: pass.model.clone(),
            findings: results.findings.iter().map(ComparedFindingReport::new).collect(),
        })
    }
}

/// Has the host write a plan alone.
fn single(
    session: &Session,
    limit: Duration,
    settings: &Settings,
    known: &KnownRun,
) -> Result<LaneRun, Failure> {
    let chosen = settings.chosen(Holder::Host);
    let agent = AgentRef::parse(&chosen.agent).ok_or_else(|| {
        Failure::new(ErrorClass::Usage, DesignError::NoAgent { name: chosen.agent.clone() })
    })?;
    let prompt = settings.single_pass_prompt(&known.progress.results.scope);
    let purpose = Purpose {
        run: Some(known.run.id.to_string()),
        role: Some(SINGLE_PASS.to_owned()),
        phase: Some(COMPARED.to_owned()),
    };
    let lane = LaneRequest {
        label: Some("compare"),
        model: chosen.model.as_deref(),
        rules: PinnedRules::Before.under(settings.policy),
        limits: lane_limits(limit),
        purpose,
        ..LaneRequest::new(&agent, &prompt)
    };
    let scratch = scratch::lane().map_err(lane_failed)?;
    lane.run_and_warn(session, scratch.path(), &session.reporter())
}

impl CompareSideReport {
    fn new(way: &'static str, plan: &DesignPlan, sum: Sum, seconds: u64) -> Self {
        let Sum { lanes, without_usage, usage, .. } = sum;
        // No lane said what it used: that is unknown, and not zero.
        let usage = Some(usage).filter(|_| without_usage < lanes);
        Self {
            way,
            lanes,
            without_usage,
            words: plan.text.split_whitespace().count(),
            tasks: plan.task_count,
            missing: check(&plan.text).len(),
            input_tokens: usage.map(|usage| usage.input),
            output_tokens: usage.map(|usage| usage.output),
            micro_dollars: usage.and_then(|usage| usage.micro_dollars),
            seconds,
        }
    }
}
