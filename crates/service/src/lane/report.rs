//! The report on an ended lane.

use convoke_domain::lane::budget::{ExceededBudget, LaneBudget};
use convoke_domain::lane::event::{LaneFailure, Usage};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::text::one_line;
use convoke_domain::tree::{TreeStatus, TreeVerdict};
use convoke_engine::client::{CounterScope, UsageScope};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::{LaneDoubt, LaneTranscript};
use serde::Serialize;

use super::LaneRun;
use super::ledger::SpentReport;
use super::reading::ReadingReport;
use super::tree::{TreeReport, is_dirty};
use crate::failure::{ErrorClass, Failure};
use crate::receipt::ReceiptReport;

/// The full report on a lane.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneReport {
    /// Its number in the ledger.
    pub lane: Option<i64>,
    /// The agent that answered.
    pub agent: String,
    /// Whether it was replayed instead of run.
    pub recorded: bool,
    /// `answered`, or why there is no answer.
    pub outcome: &'static str,
    /// All of the agent's answer; `null` without one.
    pub answer: Option<String>,
    /// Why the answer is without substance, if the request required substance.
    pub substance: Option<String>,
    /// The client's session, for a later lane that resumes it.
    pub session: Option<String>,
    /// The requested model.
    pub asked_model: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// The client's counters.
    pub usage: Option<UsageReport>,
    /// How many times the agent used a tool.
    pub tools: u64,
    /// How long it took, in milliseconds.
    pub took_ms: u128,
    /// How many bytes the client printed.
    pub bytes: u64,
    /// How the client ended.
    pub end: String,
    /// Why there is no answer.
    pub trouble: Option<String>,
    /// The kind of failure.
    pub trouble_kind: Option<&'static str>,
    /// When the agent's limit ends, if that is the trouble and the agent says so.
    pub resets_at: Option<String>,
    /// The end of what the client printed on stderr.
    pub stderr: String,
    /// The agent's rights, as the client reports them.
    pub rights: RightsReport,
    /// The budget that it exceeded.
    pub over_budget: Option<OverBudgetReport>,
    /// How many earlier lanes reported no usage, so that the budgets do not include them.
    pub lanes_without_usage: u64,
    /// How many earlier lanes reported a part of their usage, which is all that the budgets include.
    pub lanes_with_partial_usage: u64,
    /// Whether the working tree changed; only where the agent could only read.
    pub tree: Option<TreeReport>,
    /// The evidence for each file that the agent had to read; `None` if unknown.
    pub receipts: Option<Vec<ReceiptReport>>,
    /// Files that the agent is known not to have read before its answer.
    pub unproven: Vec<String>,
    /// The lane itself.
    #[serde(skip)]
    pub run: LaneRun,
    /// The evidence of required reading.
    #[serde(skip)]
    pub reading: Option<ReadingReport>,
    /// Why the client's output could not be kept.
    #[serde(skip)]
    pub not_kept: Option<Failure>,
}

/// The agent's rights, as the client reports them.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RightsReport {
    /// The client's mode.
    pub mode: Option<String>,
    /// The tools that the agent has.
    pub tools: Option<Vec<String>>,
    /// Rights beyond the request.
    pub excess: Vec<String>,
    /// Whether nothing but the working tree can show that the agent only read.
    pub unproven: bool,
}

/// The client's counters.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UsageReport {
    /// Tokens of the prompts.
    pub input_tokens: u64,
    /// Tokens of the prompts that came from a cache.
    pub cached_tokens: u64,
    /// Tokens of the answers.
    pub output_tokens: u64,
    /// Tokens of the answers that were thinking.
    pub reasoning_tokens: u64,
    /// Money, in millionths of a dollar.
    pub micro_dollars: Option<u64>,
    /// Whether tokens count this `run`, or the whole `session` with earlier runs.
    pub tokens_of: &'static str,
    /// The same for money.
    pub money_of: &'static str,
    /// Whether the agent reports only a part: that of its last step.
    pub partial: bool,
    /// The usage of this run; none if unknown.
    pub of_run: Option<SpentReport>,
}

impl LaneReport {
    pub(super) fn new(
        agent: &AgentRef,
        run: LaneRun,
        substance: Option<String>,
        reading: Option<ReadingReport>,
        not_kept: Option<Failure>,
    ) -> Self {
        let LaneRun { transcript, lane, spent, over, uncounted, tree, resets_at, stop: _ } = &run;
        let output = &transcript.output;
        let usage = |usage| UsageReport::new(usage, transcript, *spent);
        let granted = output.granted.as_ref();
        Self {
            lane: *lane,
            agent: agent.to_string(),
            recorded: transcript.is_recorded,
            outcome: transcript.outcome.name(),
            answer: output.answer().map(str::to_owned),
            substance,
            session: output.session.clone(),
            asked_model: transcript.asked_model.clone(),
            model: output.model.clone(),
            usage: output.usage.map(usage),
            tools: output.tools,
            took_ms: transcript.exit.took.as_millis(),
            bytes: transcript.exit.bytes,
            end: transcript.exit.end.to_string(),
            trouble: why(transcript),
            trouble_kind: unanswered(transcript).map(|failure| failure.kind.name()),
            resets_at: resets_at.map(|at| at.to_string()),
            stderr: transcript.exit.stderr.clone(),
            rights: RightsReport {
                mode: granted.and_then(|granted| granted.mode.clone()),
                tools: granted.map(|granted| granted.tools.clone()),
                excess: transcript.excess.clone(),
                unproven: transcript.doubts.contains(&LaneDoubt::ReadOnlyUnproven),
            },
            over_budget: over.map(OverBudgetReport::from),
            lanes_without_usage: uncounted.without_usage,
            lanes_with_partial_usage: uncounted.partial_usage,
            tree: tree.as_ref().map(TreeReport::new),
            receipts: reading.as_ref().and_then(|reading| reading.receipts.clone()),
            unproven: reading.as_ref().map_or_else(Vec::new, |reading| reading.unproven.clone()),
            run,
            reading,
            not_kept,
        }
    }

    /// Returns why the lane failed; `None` if it succeeded.
    pub fn class(&self) -> Option<ErrorClass> {
        let outcome = self.run.transcript.outcome;
        if is_dirty(self.run.tree.as_ref()) && outcome != LaneOutcome::Cancelled {
            Some(ErrorClass::TreeChanged)
        } else if self.substance.is_some() {
            Some(ErrorClass::NoAnswer)
        } else if !self.unproven.is_empty() {
            Some(ErrorClass::Refused)
        } else {
            ErrorClass::of_lane(outcome)
        }
    }
}

/// A lane's report, inside of another one.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LaneSummary {
    /// Its number in the ledger.
    pub id: Option<i64>,
    /// `answered`, or why there is no answer.
    pub outcome: &'static str,
    /// Why there is no answer.
    pub trouble: Option<String>,
    /// The kind of failure.
    pub trouble_kind: Option<&'static str>,
    /// The usage, if known.
    pub spent: Option<SpentReport>,
    /// The budget that it exceeded.
    pub over_budget: Option<OverBudgetReport>,
    /// How many earlier lanes its budgets cannot count.
    pub lanes_without_usage: u64,
    /// How many earlier lanes its budgets count with a part of their usage.
    pub lanes_with_partial_usage: u64,
}

impl LaneSummary {
    /// Sums up a lane.
    pub fn new(run: &LaneRun) -> Self {
        let transcript = &run.transcript;
        Self {
            id: run.lane,
            outcome: transcript.outcome.name(),
            trouble: why(transcript),
            trouble_kind: unanswered(transcript).map(|failure| failure.kind.name()),
            spent: run.spent.map(SpentReport::from),
            over_budget: run.over.map(OverBudgetReport::from),
            lanes_without_usage: run.uncounted.without_usage,
            lanes_with_partial_usage: run.uncounted.partial_usage,
        }
    }
}

/// A budget that was exceeded.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OverBudgetReport {
    /// `own`, which is also that of its run, or `day`.
    pub whose: &'static str,
    /// The unit of both: `tokens` or `micro_dollars`.
    pub unit: &'static str,
    /// The amount spent, as far as agents report it.
    pub spent: u64,
    /// Whether an agent reported only a part of that.
    pub partial: bool,
    /// The limit.
    pub budget: u64,
}

impl From<ExceededBudget> for OverBudgetReport {
    fn from(over: ExceededBudget) -> Self {
        let unit = match over.budget {
            LaneBudget::Tokens(_) => "tokens",
            LaneBudget::MicroDollars(_) => "micro_dollars",
        };
        Self {
            whose: over.whose.name(),
            unit,
            spent: over.spent,
            partial: over.is_partial,
            budget: over.budget.most(),
        }
    }
}

/// Returns the warning that a lane exceeded a budget; none for a lane that was stopped for it,
/// which has its own message.
pub fn over_budget_warning(
    transcript: &LaneTranscript,
    over: Option<ExceededBudget>,
) -> Option<String> {
    let over = over.filter(|_| transcript.outcome != LaneOutcome::OverBudget)?;
    Some(over.to_string())
}

impl UsageReport {
    fn new(usage: Usage, transcript: &LaneTranscript, spent: Option<Usage>) -> Self {
        let UsageScope { tokens, money } = transcript.counts;
        let counted = |counted| match counted {
            CounterScope::Run => "run",
            CounterScope::Session => "session",
        };
        Self {
            input_tokens: usage.input,
            cached_tokens: usage.cached,
            output_tokens: usage.output,
            reasoning_tokens: usage.reasoning,
            micro_dollars: usage.micro_dollars,
            tokens_of: counted(tokens),
            money_of: counted(money),
            partial: transcript.doubts.contains(&LaneDoubt::PartialUsage),
            of_run: spent.map(SpentReport::from),
        }
    }
}

/// Summarizes a lane's result in one line.
pub fn sentence(transcript: &LaneTranscript, thin: Option<&str>) -> String {
    let usage = transcript.output.usage.map_or(String::new(), |usage| {
        format!(", {} tokens in, {} out", usage.input, usage.output)
    });
    let name = transcript.outcome.state();
    let trouble = why(transcript).map_or(String::new(), |why| format!(": {}", one_line(&why)));
    let thin = thin.map_or(String::new(), |thin| format!(", but without substance: {thin}"));
    let recorded = if transcript.is_recorded { " (recorded)" } else { "" };
    let seconds = transcript.exit.took.as_secs_f64();
    format!("{name} after {seconds:.1} s{recorded}{usage}{trouble}{thin}")
}

/// Returns what a person can do about a lane without an answer, if that is known.
pub fn remedy(agent: &AgentRef, outcome: LaneOutcome) -> Option<String> {
    match (outcome, agent) {
        (LaneOutcome::Auth, _) => {}
        (LaneOutcome::RefusedFlags, AgentRef::Client(client)) => {
            return Some(format!("`convoke doctor` names the version of {client} to install"));
        }
        _ => return None,
    }
    Some(match agent {
        AgentRef::Client(client) => {
            format!("start {client} by hand and log in, then try `convoke agents --probe {client}`")
        }
        AgentRef::Http(_) => "`convoke agents` shows whether the key of the API is set".to_owned(),
        AgentRef::Acp(name) => format!("start the program of {name} by hand and log in"),
        AgentRef::Fleet(offer) => {
            format!("log in to {} on the machine of the worker", offer.agent)
        }
        AgentRef::Replay(_) => return None,
    })
}

/// Returns why there is no answer, by the client's words or its end.
pub fn why(transcript: &LaneTranscript) -> Option<String> {
    if transcript.outcome == LaneOutcome::Answered {
        return None;
    }
    let failure =
        unanswered(transcript).map(ToString::to_string).or_else(|| transcript.difference.clone());
    let last = transcript.exit.stderr.lines().last().map(str::to_owned);
    failure.or(last).filter(|text| !text.is_empty())
}

/// Returns what went wrong, if that is why there is no answer.
pub(super) fn unanswered(transcript: &LaneTranscript) -> Option<&LaneFailure> {
    transcript.output.failure().filter(|_| transcript.outcome != LaneOutcome::Answered)
}

/// Returns warnings about what a lane did, or could have done, beyond its request.
pub fn warnings(
    agent: &AgentRef,
    transcript: &LaneTranscript,
    tree: Option<&TreeVerdict>,
) -> impl Iterator<Item = String> {
    let excess = (!transcript.excess.is_empty()).then(|| {
        let excess = one_line(&transcript.excess.join(", "));
        format!("{agent} started read-only, but the client reports more rights: {excess}")
    });
    let doubts: Vec<_> =
        transcript.doubts.iter().map(|doubt| doubtful(*doubt, agent, tree)).collect();
    let tree = tree.and_then(|verdict| verdict.warning(&agent.to_string()));
    excess.into_iter().chain(doubts).chain(tree)
}

/// Says what is not known of a lane; of an unproven reader, what the working tree shows.
fn doubtful(doubt: LaneDoubt, agent: &AgentRef, tree: Option<&TreeVerdict>) -> String {
    match doubt {
        LaneDoubt::ReadOnlyUnproven => {
            let shown = match tree.map(|verdict| verdict.status) {
                Some(TreeStatus::Clean) => "the working tree did not change",
                Some(TreeStatus::Dirty) => "the working tree changed",
                Some(TreeStatus::Unknown) | None => "Convoke did not see the working tree",
            };
            format!("nothing proves that {agent} can only read; {shown}")
        }
        LaneDoubt::PartialUsage => {
            format!("{agent} reports the usage of its last step only; it used more tokens")
        }
    }
}
