//! What a design will probably need, before it begins.

use convoke_domain::design::estimate::{
    DesignEstimate, DesignKind, EarlierDesign, FEWEST_RUNS, MOST_RUNS, PanelEffect, WayEstimate,
    WaySuggestion, WayUsage, estimate,
};
use convoke_domain::design::event::{Millis, Stamped};
use convoke_domain::design::forecast::COMPARED;
use convoke_domain::design::timeline::{LaneBar, Timeline};
use convoke_domain::design::walk::{DesignEnding, DesignWalk, Next};
use convoke_domain::lane::agent_word::AgentWord;
use convoke_domain::lane::event::Usage;
use convoke_domain::lane::forecast::Range;
use convoke_domain::lane::ledger::{LaneEntry, Sum};
use convoke_domain::lane::outcome::LaneOutcome;
use convoke_domain::run::RunState;
use convoke_store::lane::LaneQuery;
use serde::Serialize;

use super::{DesignRequest, open_journal};
use crate::failure::Failure;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// So many of the last runs are read; older ones say little about the next.
const MOST_JOURNALS: usize = 3 * MOST_RUNS;

/// An estimate of a design, from earlier designs of the project.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DesignEstimateReport {
    /// The kind of the requested design: `regular` or `quick`, with `adaptive` and `both orders`.
    pub kind: String,
    /// `panel`, `single-pass` or `unknown`.
    pub suggestion: &'static str,
    /// Why, in a sentence.
    pub why: String,
    /// How many earlier designs of the project came to their end, of any kind; at most the last 20.
    pub panels: usize,
    /// In how many of them the panel accepted a finding about the plan or overruled the synthesis.
    pub changed: usize,
    /// What a panel of the requested kind probably needs.
    pub panel: WayEstimateReport,
    /// What one agent alone probably needs.
    pub single: WayEstimateReport,
}

/// What one way to a plan probably needs.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WayEstimateReport {
    /// How many earlier ones there are; at most the last 20.
    pub runs: usize,
    /// Tokens; nothing if fewer than 3 reported all of them.
    pub tokens: Option<EstimateRangeReport>,
    /// Millionths of a dollar; nothing if fewer than 3 reported all of them.
    pub micro_dollars: Option<EstimateRangeReport>,
    /// Seconds, without waits for people; nothing if fewer than 3 are known.
    pub seconds: Option<EstimateRangeReport>,
}

/// A middle, and what nine of ten stay below.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EstimateRangeReport {
    /// Half of them needed no more.
    pub median: u64,
    /// Nine of ten needed no more.
    pub nine_of_ten: u64,
}

/// Estimates a design from what earlier ones of the project needed. It asks no agent and begins
/// nothing.
pub fn estimate_design(
    session: &Session,
    request: &DesignRequest,
) -> Result<DesignEstimateReport, Failure> {
    request.check()?;
    let workspace = Workspace::open(session, None)?;
    let query = LaneQuery { project: Some(&workspace.scope.project), ..LaneQuery::default() };
    let entries = workspace.store.lanes(query).map_err(refused)?;
    let kind = DesignKind {
        quick: request.quick,
        poll_rule: request.poll_rule,
        judge_orders: request.judge_orders,
    };
    let designs = earlier_designs(&workspace, &entries)?;
    let found = estimate(kind, &designs, &single_passes(&entries));
    Ok(DesignEstimateReport::new(kind, &found))
}

/// Reads the designs of the project that came to their end, the last ones first. A rehearsal needs
/// nothing, and a journal that cannot be read says nothing.
fn earlier_designs(
    workspace: &Workspace,
    entries: &[LaneEntry],
) -> Result<Vec<EarlierDesign>, Failure> {
    let runs = workspace.store.runs(&workspace.scope.project).map_err(refused)?;
    let ended = runs.iter().filter(|run| run.state == RunState::Ended).take(MOST_JOURNALS);
    let designs = ended.filter_map(|run| {
        let (_, events) = open_journal(workspace, &run.id).ok()?;
        let own = entries.iter().filter(|entry| {
            let purpose = &entry.begun.purpose;
            let is_recorded = AgentWord::parse(&entry.begun.agent).is_recorded();
            purpose.run.as_deref() == Some(run.id.as_str())
                && purpose.phase.as_deref() != Some(COMPARED)
                // A recording costs nothing and reports nothing.
                && !is_recorded
        });
        earlier_design(&events, Sum::of_all(own))
    });
    Ok(designs.collect())
}

fn earlier_design(events: &[Stamped], spent: Sum) -> Option<EarlierDesign> {
    let outline = DesignWalk::fold(events.iter().cloned()).outline();
    let settings = outline.settings.as_ref().filter(|settings| !settings.is_rehearsal)?;
    let is_complete = matches!(
        outline.next,
        Next::End(DesignEnding::Complete { .. } | DesignEnding::NotExported(_))
    );
    is_complete.then(|| EarlierDesign {
        kind: DesignKind::of(settings),
        needed: WayUsage { took_ms: worked_for(events), ..needed(spent) },
        effect: PanelEffect::of(&outline.results),
    })
}

/// Returns what some lanes needed together, as far as all of them say so.
fn needed(spent: Sum) -> WayUsage {
    let is_whole = spent.lanes > 0 && spent.without_usage == 0 && spent.partial_usage == 0;
    let usage = is_whole.then_some(spent.usage);
    WayUsage {
        tokens: usage.map(Usage::tokens),
        micro_dollars: usage
            .filter(|_| spent.without_money == 0)
            .and_then(|usage| usage.micro_dollars),
        took_ms: None,
    }
}

/// Returns how long a run worked, in milliseconds: the time in which a lane ran. Between lanes a run
/// waits for a person, for a limit, or for a decision long after its end.
fn worked_for(events: &[Stamped]) -> Option<u64> {
    let timeline = Timeline::of(events);
    let ended = |bar: &LaneBar<'_>| Some((bar.from.at, bar.to()?.at));
    let mut spans: Vec<_> = timeline.bars.iter().filter_map(ended).collect();
    spans.sort_unstable();
    let mut worked: Millis = 0;
    let mut counted_to = spans.first()?.0;
    for (from, to) in spans {
        worked += (to - from.max(counted_to)).max(0);
        counted_to = counted_to.max(to);
    }
    u64::try_from(worked).ok()
}

/// Reads the plans that one agent wrote alone, for `convoke compare`, the last ones first.
fn single_passes(entries: &[LaneEntry]) -> Vec<WayUsage> {
    let passes = entries.iter().rev().filter(|entry| {
        let has_answered =
            entry.over.as_ref().is_some_and(|over| over.outcome == Some(LaneOutcome::Answered));
        entry.begun.purpose.phase.as_deref() == Some(COMPARED)
            && entry.begun.purpose.role.as_deref() == Some(SINGLE_PASS)
            && has_answered
    });
    let pass = |entry: &LaneEntry| WayUsage {
        took_ms: entry.over.as_ref().and_then(|over| over.took_ms),
        ..needed(Sum::of(entry))
    };
    passes.map(pass).collect()
}

/// The role of the lane in which one agent writes a plan alone.
pub(crate) const SINGLE_PASS: &str = "single-pass";

impl DesignEstimateReport {
    fn new(kind: DesignKind, found: &DesignEstimate) -> Self {
        let DesignEstimate { panels, changed, .. } = *found;
        let counted =
            format!("the panel changed the plan in {changed} of {panels} earlier designs");
        let why = match found.suggestion {
            WaySuggestion::Unknown if panels < FEWEST_RUNS => format!(
                "{panels} earlier designs of this project came to their end, and an estimate needs \
                 {FEWEST_RUNS}"
            ),
            WaySuggestion::Unknown => format!("{counted}, which speaks for neither"),
            WaySuggestion::Panel | WaySuggestion::SinglePass => counted,
        };
        Self {
            kind: kind.words(),
            suggestion: found.suggestion.word(),
            why,
            panels,
            changed,
            panel: WayEstimateReport::new(found.panel),
            single: WayEstimateReport::new(found.single),
        }
    }
}

impl WayEstimateReport {
    fn new(way: WayEstimate) -> Self {
        let range = |Range { median, p90 }: Range| EstimateRangeReport { median, nine_of_ten: p90 };
        let seconds = |Range { median, p90 }: Range| EstimateRangeReport {
            median: median.div_ceil(1000),
            nine_of_ten: p90.div_ceil(1000),
        };
        Self {
            runs: way.runs,
            tokens: way.tokens.map(range),
            micro_dollars: way.micro_dollars.map(range),
            seconds: way.took_ms.map(seconds),
        }
    }
}

#[cfg(test)]
mod tests {
    use convoke_domain::design::event::{Event, LaneEnd, LaneId};
    use convoke_domain::lane::collected::CollectedStatus;

    use super::*;

    fn lane(name: &str, from: Millis, to: Millis) -> [Stamped; 2] {
        let id = LaneId::parse(name).unwrap();
        let end = LaneEnd {
            status: CollectedStatus::Ok,
            reason: None,
            answer: "yes".into(),
            agent: "claude".to_owned(),
            model: None,
            usage: None,
            took: 0,
        };
        [
            Stamped { at: from, event: Event::LaneStarted(id.clone()) },
            Stamped { at: to, event: Event::LaneEnded(id, Box::new(end)) },
        ]
    }

    // A person's decision a week after the end has a lane of its own, and a run may wait over night.
    #[test]
    fn only_the_time_of_lanes_counts() {
        const WEEK: Millis = 7 * 24 * 3600 * 1000;
        let [first, first_end] = lane("sketch/claude-Arch", 1_000, 5_000);
        let [second, second_end] = lane("sketch/codex-Edge", 2_000, 7_000);
        let mut events = vec![first, second, first_end, second_end];
        assert_eq!(worked_for(&events), Some(6_000), "lanes beside each other count once");
        events.extend(lane("chair/plan/claude", 8_000, 9_000));
        events.extend(lane("chair/decided-1/claude", WEEK, WEEK + 500));
        assert_eq!(worked_for(&events), Some(7_500));
        assert_eq!(worked_for(&[]), None);
    }
}
