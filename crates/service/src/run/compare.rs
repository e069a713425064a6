//! The same feature in a single pass by the chair, beside what the panel made.

use std::time::Duration;

use convoke_domain::design::event::Settings;
use convoke_domain::design::forecast::COMPARED;
use convoke_domain::design::outline::DesignPlan;
use convoke_domain::design::plan::{check, read};
use convoke_domain::design::prompt;
use convoke_domain::design::seat::Holder;
use convoke_domain::design::walk::{DesignEnding, Next};
use convoke_domain::lane::event::Usage;
use convoke_domain::lane::ledger::{Purpose, Sum};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::run::RunId;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::scratch;
use serde::Serialize;

use super::matters::decisions;
use super::show::named_run;
use crate::design::{DesignError, SINGLE_PASS, lane_limits};
use crate::failure::{ErrorClass, Failure};
use crate::lane::{LaneRequest, LaneRun, PinnedRules, lane_failed, sentence};
use crate::session::Session;

/// A request for a plan in a single pass, to compare with a run's.
#[derive(Debug, Clone)]
pub struct CompareRequest {
    /// The run, or the beginning of its name.
    pub run: RunId,
    /// How long the lane may take.
    pub limit: Duration,
}

/// One way to a plan, in numbers.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareSideReport {
    /// `panel` or `single`.
    pub way: &'static str,
    /// How many lanes it took.
    pub lanes: u64,
    /// How many words the plan has.
    pub words: usize,
    /// How many tasks the plan has.
    pub tasks: usize,
    /// How many sections the plan lacks.
    pub missing: usize,
    /// Tokens that models read.
    pub input_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
    /// The cost, in millionths of a dollar.
    pub micro_dollars: Option<u64>,
    /// How long its lanes took together.
    pub seconds: u64,
}

/// Both ways to a plan.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CompareReport {
    /// Whether the panel's plan is its final one.
    pub is_finished: bool,
    /// People's decisions in the panel's place, a line each.
    pub decided: Vec<String>,
    /// The panel's side.
    pub panel: CompareSideReport,
    /// The single agent's side.
    pub single: CompareSideReport,
    /// That agent's plan.
    pub single_plan: String,
}

/// The result of a single pass.
#[derive(Debug, Clone)]
pub enum CompareOutcome {
    /// There are two plans.
    Compared(Box<CompareReport>),
    /// The agent gave no plan.
    NoPlan(LaneOutcome),
}

#[derive(Debug, thiserror::Error)]
#[error("cannot compare `{run}`: it has no plan yet")]
struct NoPlan {
    run: RunId,
}

/// Has the host of a run write a plan from the feature alone, and compares it with the panel's.
pub fn compare(session: &Session, request: &CompareRequest) -> Result<CompareOutcome, Failure> {
    let known = named_run(session, Some(&request.run))?;
    let settings = known.facts.settings().map(|(_, settings)| settings);
    let plan = known.progress.results.plan.as_ref();
    let (Some(settings), Some(plan)) = (settings, plan) else {
        return Err(Failure::new(ErrorClass::Refused, NoPlan { run: known.run.id }));
    };
    let took: u64 = known.facts.ended().iter().map(|(_, end)| end.took).sum();
    let Sum { lanes, usage, .. } = known.sum()?;
    let panel = CompareSideReport::new("panel", lanes, plan, usage, took / 1000);
    let is_finished = matches!(
        known.progress.next,
        Next::End(DesignEnding::Complete { .. } | DesignEnding::NotExported(_))
    );
    let reporter = session.reporter();
    if !is_finished {
        reporter.say(format!(
            "note: the run has not ended, so the panel's plan is unfinished; see `convoke resume {}`",
            known.run.id
        ));
    }
    let decided = decisions(&known.progress);
    for decision in &decided {
        reporter.say(format!("note: {decision}"));
    }
    let ran = single(session, request.limit, settings, &known.run.id)?;
    reporter.say(sentence(&ran.transcript, None));
    let answer =
        ran.transcript.output.answer().filter(|_| ran.transcript.outcome == LaneOutcome::Answered);
    let Some(answer) = answer else { return Ok(CompareOutcome::NoPlan(ran.transcript.outcome)) };
    let single_plan = read(answer).text;
    let (took, usage) = (ran.transcript.exit.took.as_secs(), ran.spent.unwrap_or_default());
    let single = CompareSideReport::new("single", 1, &DesignPlan::new(&single_plan), usage, took);
    let report = CompareReport { is_finished, decided, panel, single, single_plan };
    Ok(CompareOutcome::Compared(Box::new(report)))
}

/// Has the host write a plan from the feature alone.
fn single(
    session: &Session,
    limit: Duration,
    settings: &Settings,
    run: &RunId,
) -> Result<LaneRun, Failure> {
    let chosen = settings.chosen(Holder::Host);
    let agent = AgentRef::parse(&chosen.agent).ok_or_else(|| {
        Failure::new(ErrorClass::Usage, DesignError::NoAgent { name: chosen.agent.clone() })
    })?;
    let empty = "";
    let prompt = prompt::plan(&prompt::PlanMaterial {
        feature: &settings.feature,
        discussion: empty,
        synthesis: empty,
        resolutions: empty,
    });
    let purpose = Purpose {
        run: Some(run.to_string()),
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
    fn new(way: &'static str, lanes: u64, plan: &DesignPlan, usage: Usage, seconds: u64) -> Self {
        Self {
            way,
            lanes,
            words: plan.text.split_whitespace().count(),
            tasks: plan.task_count,
            missing: check(&plan.text).len(),
            input_tokens: usage.input,
            output_tokens: usage.output,
            micro_dollars: usage.micro_dollars,
            seconds,
        }
    }
}
