//! What a fan-out will probably ask for and cost, before it does.

use convoke_domain::fan::event::{FanEvent, FanSettings};
use convoke_domain::fan::record::FanRecord;
use convoke_domain::lane::budget::WrittenBudget;
use convoke_domain::lane::event::Usage;
use convoke_domain::lane::forecast::{LaneForecast, Range, forecast};
use convoke_domain::lane::ledger::{LaneEntry, Sum};
use convoke_domain::lane::outlook::shortage;
use convoke_domain::run::RunId;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_store::error::StoreError;
use convoke_store::lane::LaneQuery;
use serde::Serialize;

use super::begin::{prepare, run_id};
use super::{FanRequest, ROLE, open_fan_journal};
use crate::failure::Failure;
use crate::lane::{amounts_in_words, is_paid};
use crate::observer::Reporter;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// How many lanes of the project are searched for similar ones.
const LOOKED_THROUGH: u32 = 500;

/// How many of these a forecast is made of.
const LAST: usize = 20;

/// What a fan-out would do.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FanForecastReport {
    /// The run that it would begin or continue.
    pub run: String,
    /// The agent that would answer.
    pub agent: String,
    /// How many items there are.
    pub items: usize,
    /// How many of them differ.
    pub distinct: usize,
    /// How many different items have an answer already.
    pub answered: usize,
    /// How many requests Convoke would make, if every answer fits.
    pub to_ask: usize,
    /// What they will probably need, in words.
    pub forecast: String,
    /// Half of such requests need no more tokens; unknown without earlier lanes.
    pub median_tokens: Option<u64>,
    /// Nine of ten need no more tokens.
    pub p90_tokens: Option<u64>,
    /// Half of such requests cost no more, in millionths of a dollar.
    pub median_micro_dollars: Option<u64>,
    /// Nine of ten cost no more.
    pub p90_micro_dollars: Option<u64>,
    /// Why the budget is probably too small.
    pub shortage: Option<String>,
}

/// Returns what a fan-out would do. It asks no agent and begins no run.
pub fn forecast_fan(session: &Session, request: &FanRequest) -> Result<FanForecastReport, Failure> {
    let (settings, listing, workspace) = prepare(session, request)?;
    let run = run_id(&settings)?;
    let mut record = match workspace.store.run(&workspace.scope.project, &run) {
        Ok(_) => open_fan_journal(&workspace, &run)?.record().clone(),
        Err(StoreError::NoRun { .. }) => FanRecord::default(),
        Err(error) => return Err(refused(error)),
    };
    let count = listing.items.len();
    for event in [
        FanEvent::ListBegun,
        FanEvent::Items(listing.items),
        FanEvent::Listed { digest: listing.digest, count },
    ] {
        record.take(0, event);
    }
    let tally = record.tally();
    let to_ask = record.to_ask(request.work.retry).len();
    let budget = request.work.budget.as_ref();
    let ahead = look_ahead(&workspace, &run, &settings, to_ask, budget)?;
    let tokens = ahead.found.map(|found| found.tokens);
    let money = ahead.found.and_then(|found| found.micro_dollars);
    Ok(FanForecastReport {
        run: run.to_string(),
        agent: settings.agent,
        items: tally.items,
        distinct: tally.distinct,
        answered: tally.answered,
        to_ask,
        forecast: ahead.words,
        median_tokens: tokens.map(|range| range.median),
        p90_tokens: tokens.map(|range| range.p90),
        median_micro_dollars: money.map(|range| range.median),
        p90_micro_dollars: money.map(|range| range.p90),
        shortage: ahead.shortage,
    })
}

/// What many lanes will probably need.
struct Ahead {
    found: Option<LaneForecast>,
    words: String,
    shortage: Option<String>,
}

/// Tells what the lanes of a run will probably need. An unknown forecast stops no run.
pub(super) fn forecast_note(
    workspace: &Workspace,
    run: &RunId,
    settings: &FanSettings,
    to_ask: usize,
    budget: Option<&WrittenBudget>,
    reporter: &Reporter,
) {
    if to_ask == 0 {
        return;
    }
    let Ok(ahead) = look_ahead(workspace, run, settings, to_ask, budget) else { return };
    if ahead.found.is_some() {
        reporter.note(ahead.words);
    }
    if let Some(short) = ahead.shortage {
        reporter.warn(format!("the remaining budget is probably too small: {short}"));
    }
}

fn look_ahead(
    workspace: &Workspace,
    run: &RunId,
    settings: &FanSettings,
    to_ask: usize,
    budget: Option<&WrittenBudget>,
) -> Result<Ahead, Failure> {
    let unknown =
        |why: &str| Ahead { found: None, words: format!("forecast: {why}"), shortage: None };
    if matches!(AgentRef::parse(&settings.agent), Some(AgentRef::Replay(_))) {
        return Ok(unknown("nothing, because the answers are recorded"));
    }
    if to_ask == 0 {
        return Ok(unknown("nothing, because every item has an answer"));
    }
    let Workspace { store, scope } = workspace;
    let project = Some(scope.project.as_str());
    let query = LaneQuery { project, last: Some(LOOKED_THROUGH), ..LaneQuery::default() };
    let earlier = store.lanes(query).map_err(refused)?;
    let Some((one, whose)) = of_one_lane(&earlier, run, &settings.agent) else {
        return Ok(unknown("unknown, because no earlier lane of this agent reported its usage"));
    };
    let found = times(&one, to_ask);
    let already = LaneQuery { run: Some(run.as_str()), ..LaneQuery::default() };
    let already = store.lanes(already).map_err(refused)?;
    let already: Usage = Sum::of_all(already.iter().filter(|lane| is_paid(lane))).usage;
    let short = budget.and_then(|budget| shortage(&found, budget.budget(), already));
    let requests = if to_ask == 1 { "request" } else { "requests" };
    let lanes = if one.lanes == 1 { "lane" } else { "lanes" };
    let words = format!(
        "forecast for {to_ask} {requests}: {}, by the last {} {lanes} {whose}",
        amounts_in_words(&found),
        one.lanes
    );
    Ok(Ahead { found: Some(found), words, shortage: short.map(|short| short.to_string()) })
}

/// Forecasts one lane: by those of the same run, else of fan-outs, else of the same agent.
fn of_one_lane(
    earlier: &[LaneEntry],
    run: &RunId,
    agent: &str,
) -> Option<(LaneForecast, &'static str)> {
    let of_agent = || earlier.iter().filter(|lane| lane.begun.agent == agent);
    let of_run: Vec<_> =
        of_agent().filter(|lane| lane.begun.purpose.run.as_deref() == Some(run.as_str())).collect();
    let of_fans: Vec<_> =
        of_agent().filter(|lane| lane.begun.purpose.role.as_deref() == Some(ROLE)).collect();
    let found = forecast(&of_run, LAST).map(|found| (found, "of this run"));
    let found = found.or_else(|| Some((forecast(&of_fans, LAST)?, "of other prompts")));
    found.or_else(|| Some((forecast(&of_agent().collect::<Vec<_>>(), LAST)?, "of other work")))
}

fn times(one: &LaneForecast, count: usize) -> LaneForecast {
    let count = count as u64;
    let more = |range: Range| Range {
        median: range.median.saturating_mul(count),
        p90: range.p90.saturating_mul(count),
    };
    LaneForecast {
        tokens: more(one.tokens),
        micro_dollars: one.micro_dollars.map(more),
        // Lanes run in parallel, so their times do not add up.
        took_ms: None,
        ..*one
    }
}
