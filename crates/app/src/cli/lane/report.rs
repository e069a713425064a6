//! What is said of a lane when it is over.

use convoke_domain::lane::cap::{Cap, Overdraft};
use convoke_domain::lane::event::{LaneFailure, Usage};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::text::one_line;
use convoke_domain::tree::TreeVerdict;
use convoke_engine::lane::adapter::{CounterScope, UsageScope};
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_engine::lane::drive::Driven;
use serde::Serialize;

use super::Found;
use super::books::Ran;
use super::entry::SpentReport;
use super::tree::TreeReport;
use crate::cli::dispatch::proof::ReceiptReport;

#[derive(Serialize)]
pub(super) struct Report<'a> {
    /// Its number in the ledger.
    lane: Option<i64>,
    agent: String,
    /// Whether it was played instead of run.
    recorded: bool,
    outcome: &'static str,
    answer: Option<&'a str>,
    substance: Option<&'a str>,
    session: Option<&'a str>,
    asked_model: Option<&'a str>,
    model: Option<&'a str>,
    usage: Option<UsageReport>,
    tools: u64,
    took_ms: u128,
    bytes: u64,
    end: String,
    trouble: Option<String>,
    /// Of what kind that is.
    trouble_kind: Option<&'static str>,
    stderr: &'a str,
    rights: RightsReport<'a>,
    /// The budget that it went over.
    over_budget: Option<OverReport>,
    /// How many lanes before it did not say what they spent, so that its budgets do not know of it.
    uncounted_lanes: u64,
    /// What became of the working tree; only where nobody was to change it.
    tree: Option<TreeReport<'a>>,
    /// What is known of every file that was to be read; none if nobody can tell.
    receipts: Option<&'a [ReceiptReport]>,
    /// Files that are known not to have been read before the answer.
    unproven: &'a [String],
}

/// What the client says that it may do.
#[derive(Serialize)]
struct RightsReport<'a> {
    mode: Option<&'a str>,
    tools: Option<&'a [String]>,
    /// What is more than was asked for.
    excess: &'a [String],
}

#[derive(Serialize)]
struct UsageReport {
    input_tokens: u64,
    cached_tokens: u64,
    output_tokens: u64,
    reasoning_tokens: u64,
    micro_dollars: Option<u64>,
    /// Whether tokens and money count this run, or the whole session with earlier runs.
    tokens_of: &'static str,
    money_of: &'static str,
    /// What this run spent; none if that cannot be told.
    of_run: Option<SpentReport>,
}

impl<'a> Report<'a> {
    pub(super) fn new(agent: &AgentRef, found: &'a Found<'_>) -> Self {
        let Found { ran, thin, proof } = found;
        let Ran { driven, lane, spent, over, uncounted, tree } = ran;
        let heard = &driven.heard;
        let usage = |usage| UsageReport::new(usage, driven.counts, *spent);
        let granted = heard.granted.as_ref();
        Self {
            lane: *lane,
            agent: agent.to_string(),
            recorded: driven.is_recorded,
            outcome: driven.outcome.name(),
            answer: heard.answer(),
            substance: thin.as_deref(),
            session: heard.session.as_deref(),
            asked_model: driven.asked_model.as_deref(),
            model: heard.model.as_deref(),
            usage: heard.usage.map(usage),
            tools: heard.tools,
            took_ms: driven.took.as_millis(),
            bytes: driven.bytes,
            end: driven.end.to_string(),
            trouble: why(driven),
            trouble_kind: unanswered(driven).map(|failure| failure.kind.name()),
            stderr: &driven.stderr,
            rights: RightsReport {
                mode: granted.and_then(|it| it.mode.as_deref()),
                tools: granted.map(|it| it.tools.as_slice()),
                excess: &driven.excess,
            },
            over_budget: over.map(OverReport::from),
            uncounted_lanes: *uncounted,
            tree: tree.as_ref().map(TreeReport::new),
            receipts: proof.as_ref().and_then(|it| it.receipts.as_deref()),
            unproven: proof.as_ref().map_or(&[], |it| &it.unproven),
        }
    }
}

/// What became of a lane that another report is about.
#[derive(Serialize)]
pub(in crate::cli) struct LaneReport {
    /// Its number in the ledger.
    id: Option<i64>,
    outcome: &'static str,
    trouble: Option<String>,
    trouble_kind: Option<&'static str>,
    spent: Option<SpentReport>,
    over_budget: Option<OverReport>,
    uncounted_lanes: u64,
}

impl LaneReport {
    pub(in crate::cli) fn new(ran: &Ran) -> Self {
        let driven = &ran.driven;
        Self {
            id: ran.lane,
            outcome: driven.outcome.name(),
            trouble: why(driven),
            trouble_kind: unanswered(driven).map(|failure| failure.kind.name()),
            spent: ran.spent.map(SpentReport::from),
            over_budget: ran.over.map(OverReport::from),
            uncounted_lanes: ran.uncounted,
        }
    }
}

/// A budget that was gone over.
#[derive(Debug, Clone, Copy, Serialize)]
pub(in crate::cli) struct OverReport {
    /// `own`, which is also that of its run, or `day`.
    whose: &'static str,
    /// What both count: `tokens` or `micro_dollars`.
    unit: &'static str,
    spent: u64,
    cap: u64,
}

impl From<Overdraft> for OverReport {
    fn from(over: Overdraft) -> Self {
        let unit = match over.cap {
            Cap::Tokens(_) => "tokens",
            Cap::MicroDollars(_) => "micro_dollars",
        };
        Self { whose: over.whose.name(), unit, spent: over.spent, cap: over.cap.most() }
    }
}

/// Says that a lane went over a budget. One that was stopped for it has said so.
pub(in crate::cli) fn overdrawn(driven: &Driven, over: Option<Overdraft>) -> Option<String> {
    let over = over.filter(|_| driven.outcome != LaneOutcome::OverBudget)?;
    Some(format!("warning: {over}"))
}

impl UsageReport {
    fn new(usage: Usage, counts: UsageScope, spent: Option<Usage>) -> Self {
        let UsageScope { tokens, money } = counts;
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
            of_run: spent.map(SpentReport::from),
        }
    }
}

/// Says in one line what became of a lane.
pub(in crate::cli) fn sentence(driven: &Driven, thin: Option<&str>) -> String {
    let usage = driven.heard.usage.map_or(String::new(), |usage| {
        format!(", {} tokens in, {} out", usage.input, usage.output)
    });
    let name = driven.outcome.name();
    let trouble = why(driven).map_or(String::new(), |why| format!(": {}", one_line(&why)));
    let thin = thin.map_or(String::new(), |thin| format!(", but without substance: {thin}"));
    let recorded = if driven.is_recorded { " (recorded)" } else { "" };
    let seconds = driven.took.as_secs_f64();
    format!("{name} after {seconds:.1} s{recorded}{usage}{trouble}{thin}")
}

/// Says why there is no answer, as far as the client says, or as it shows.
pub(in crate::cli) fn why(driven: &Driven) -> Option<String> {
    if driven.outcome == LaneOutcome::Answered {
        return None;
    }
    let failure = unanswered(driven).map(ToString::to_string).or_else(|| driven.difference.clone());
    let last = driven.stderr.lines().last().map(str::to_owned);
    failure.or(last).filter(|text| !text.is_empty())
}

/// Returns what went wrong, if that is why there is no answer.
pub(super) fn unanswered(driven: &Driven) -> Option<&LaneFailure> {
    driven.heard.failure().filter(|_| driven.outcome != LaneOutcome::Answered)
}

/// Says what a lane did, or could have done, that it was not asked to.
pub(super) fn warnings(
    agent: &AgentRef,
    driven: &Driven,
    tree: Option<&TreeVerdict>,
) -> impl Iterator<Item = String> {
    let excess = (!driven.excess.is_empty()).then(|| {
        let excess = one_line(&driven.excess.join(", "));
        format!("warning: {agent} was to read only, and says that it has more rights: {excess}")
    });
    let tree = tree.and_then(|verdict| verdict.warning(&agent.to_string()));
    excess.into_iter().chain(tree)
}
