//! The notice before a lane begins: the usage of earlier lanes like it.

use convoke_domain::lane::budget::{LaneBudget, dollars};
use convoke_domain::lane::event::Usage;
use convoke_domain::lane::forecast::{LaneForecast, Range, forecast};
use convoke_domain::lane::ledger::LaneEntry;
use convoke_domain::lane::outlook::shortage;
use convoke_domain::text::counted;
use convoke_engine::lane::agent_ref::AgentRef;
use convoke_store::lane::LaneQuery;

use super::LaneRequest;
use super::ledger::seconds;
use crate::failure::Failure;
use crate::observer::Reporter;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// How many lanes of the project are searched for similar ones.
pub(crate) const LOOKED_THROUGH: u32 = 500;

/// How many of these a forecast is made of.
const LAST: usize = 20;

/// Says what a lane that has not begun will probably need. Without an agent, Convoke has not chosen one.
pub(crate) fn forecast_of_lane(
    session: &Session,
    agent: Option<&AgentRef>,
    role: Option<&str>,
    budget: Option<LaneBudget>,
) -> Result<String, Failure> {
    let unknown = |why: &str| format!("forecast: unknown, because {why}");
    let Some(agent) = agent else {
        return Ok(unknown("Convoke chooses the agent when the lane begins"));
    };
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let project = Some(scope.project.as_str());
    let query = LaneQuery { project, last: Some(LOOKED_THROUGH), ..LaneQuery::default() };
    let earlier = store.lanes(query).map_err(refused)?;
    let Some(found) = forecast(&alike(&earlier, &agent.to_string(), role), LAST) else {
        return Ok(unknown("no earlier lane like it answered and reported its usage"));
    };
    let short = budget.and_then(|budget| shortage(&found, budget, Usage::default()));
    let short = short.map(|short| format!("; the budget is probably too small: {short}"));
    Ok(sentence(&found) + &short.unwrap_or_default())
}

/// Returns the lanes of an agent in a role.
fn alike<'l>(earlier: &'l [LaneEntry], agent: &str, role: Option<&str>) -> Vec<&'l LaneEntry> {
    let is_alike =
        |lane: &&LaneEntry| lane.begun.agent == agent && lane.begun.purpose.role.as_deref() == role;
    earlier.iter().filter(is_alike).collect()
}

impl LaneRequest<'_> {
    /// Shows the usage of earlier lanes of the same agent and role, and warns if the remaining
    /// budget is probably too small.
    pub(super) fn foresee(&self, earlier: &[LaneEntry], already: Usage, reporter: &Reporter) {
        // A replay costs nothing.
        if matches!(self.agent, AgentRef::Replay(_)) {
            return;
        }
        let agent = self.agent.to_string();
        let alike = alike(earlier, &agent, self.purpose.role.as_deref());
        let Some(found) = forecast(&alike, LAST) else { return };
        reporter.note(sentence(&found));
        if let Some(short) = self.budget.and_then(|budget| shortage(&found, budget, already)) {
            reporter.warn(format!("the remaining budget is probably too small: {short}"));
        }
    }
}

/// Returns the amounts of a forecast: tokens, money and time, as far as they are known.
pub(crate) fn amounts_in_words(found: &LaneForecast) -> String {
    let between = |range: Range, shown: fn(u64) -> String| {
        let (median, p90) = (shown(range.median), shown(range.p90));
        if median == p90 { p90 } else { format!("{median} … {p90}") }
    };
    let money = found.micro_dollars.map(|range| between(range, dollars));
    let time = found.took_ms.map(|range| between(range, seconds));
    let tokens = between(found.tokens, |tokens| tokens.to_string()) + " tokens";
    let all: Vec<_> = [Some(tokens), money, time].into_iter().flatten().collect();
    all.join(", ")
}

fn sentence(found: &LaneForecast) -> String {
    let lanes = counted(found.lanes, "answered lane");
    format!("forecast: {}, by the last {lanes} like it", amounts_in_words(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_is_one_line() {
        let tokens = Range { median: 100, p90: 300 };
        let found = LaneForecast { lanes: 9, tokens, micro_dollars: None, took_ms: None };
        assert_eq!(
            sentence(&found),
            "forecast: 100 … 300 tokens, by the last 9 answered lanes like it"
        );
        let same = |amount| Some(Range { median: amount, p90: amount });
        let found =
            LaneForecast { lanes: 1, micro_dollars: same(250_000), took_ms: same(1500), ..found };
        assert_eq!(
            sentence(&found),
            "forecast: 100 … 300 tokens, $0.25, 1.5 s, by the last 1 answered lane like it"
        );
    }
}
