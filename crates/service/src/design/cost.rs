//! The cost of a run: a forecast before it begins, and its usage meanwhile.

use std::collections::BTreeSet;

use convoke_domain::design::forecast::{Forecast, Prospect, forecast};
use convoke_domain::lane::budget::{LaneBudget, dollars};
use convoke_domain::lane::event::Usage;
use convoke_domain::lane::forecast::Range;
use convoke_domain::lane::ledger::Sum;
use convoke_domain::run::{RunId, RunState};
use convoke_store::lane::LaneQuery;

use crate::failure::Failure;
use crate::lane::{UncountedLanes, is_paid};
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// Describes the cost of earlier runs of the project, and whether the budget is large enough.
pub(super) fn prospect(
    workspace: &Workspace,
    run: &RunId,
    budget: Option<LaneBudget>,
) -> Result<String, Failure> {
    let Workspace { store, scope } = workspace;
    let runs = store.runs(&scope.project).map_err(refused)?;
    // A fan-out asks about items, and says nothing about a design.
    let ended = runs.iter().filter(|run| run.state == RunState::Ended && !run.id.is_fan());
    let ended: BTreeSet<_> = ended.map(|run| run.id.as_str()).collect();
    let query = LaneQuery { project: Some(&scope.project), ..LaneQuery::default() };
    let entries = store.lanes(query).map_err(refused)?;
    let own = entries.iter().filter(|lane| lane.begun.purpose.run.as_deref() == Some(run.as_str()));
    let own = Sum::of_all(own).usage;
    let so_far = match own.tokens() {
        0 => String::new(),
        _ => format!("; spent so far: {}", amount(&own)),
    };
    let found = forecast(&entries, &ended);
    Ok(format!("forecast: {}{}{so_far}", said(found), compared(found, budget)))
}

/// Says what a run that has not begun will probably need.
pub fn forecast_of_run(
    session: &Session,
    run: &RunId,
    budget: Option<LaneBudget>,
) -> Result<String, Failure> {
    prospect(&Workspace::open(session, None)?, run, budget)
}

/// Returns the note that a budget does not include all that the lanes of a run used. A failing
/// store does not stop a run.
pub(super) fn usage_warning(
    workspace: &Workspace,
    run: &RunId,
    budget: LaneBudget,
) -> Option<String> {
    let query = LaneQuery { run: Some(run.as_str()), ..LaneQuery::default() };
    let lanes = workspace.store.lanes(query).ok()?;
    let sum = Sum::of_all(lanes.iter().filter(|lane| is_paid(lane)));
    let warnings: Vec<_> = UncountedLanes::of(budget, sum).warnings().collect();
    (!warnings.is_empty()).then(|| warnings.join("; "))
}

fn said(found: Option<Forecast>) -> String {
    let Some(Forecast { runs, tokens, micro_dollars, is_partial }) = found else {
        return "unknown, because no earlier run of this project reported its usage".to_owned();
    };
    let range = |Range { median, p90 }: Range, shown: fn(u64) -> String| {
        format!("{}, and nine of ten at most {}", shown(median), shown(p90))
    };
    let money =
        micro_dollars.map_or_else(String::new, |money| format!(" ({})", range(money, dollars)));
    let partial = if is_partial { " (not all lanes reported all usage)" } else { "" };
    let runs = if runs == 1 { "an earlier run".to_owned() } else { format!("{runs} earlier runs") };
    format!("{runs} needed {} tokens{money}{partial}", range(tokens, short))
}

fn compared(found: Option<Forecast>, budget: Option<LaneBudget>) -> String {
    let (Some(found), Some(budget)) = (found, budget) else { return String::new() };
    let words = match found.under(budget) {
        Prospect::Enough => "is probably enough",
        Prospect::Tight => "may be too small",
        Prospect::TooLittle => "is probably too small",
        Prospect::Unknown => "cannot be compared",
    };
    format!("; the budget of {budget} {words}")
}

/// Formats usage: tokens, and money where the client reported it.
pub fn amount(usage: &Usage) -> String {
    let tokens = short(usage.tokens());
    usage.micro_dollars.map_or(tokens.clone(), |money| format!("{tokens} {}", dollars(money)))
}

/// Formats usage in words: `303.2k tokens, $1.23`.
pub fn spent_in_words(usage: &Usage) -> String {
    let money =
        usage.micro_dollars.map_or_else(String::new, |money| format!(", {}", dollars(money)));
    format!("{} tokens{money}", short(usage.tokens()))
}

/// Shows a number in few digits: `950`, `12.3k`, `1.2M`.
fn short(tokens: u64) -> String {
    match tokens {
        0..1000 => tokens.to_string(),
        1000..1_000_000 => format!("{}.{}k", tokens / 1000, tokens % 1000 / 100),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [0, 999, 1000, 12_345, 999_999, 1_250_000].map(short);
        assert_eq!(shown, ["0", "999", "1.0k", "12.3k", "999.9k", "1.2M"]);
        let usage = Usage { input: 1500, micro_dollars: Some(20_000), ..Usage::default() };
        assert_eq!(amount(&usage), format!("1.5k {}", dollars(20_000)));
    }

    #[test]
    fn a_forecast_is_one_sentence() {
        let range = |median, p90| Range { median, p90 };
        let found = Some(Forecast {
            runs: 3,
            tokens: range(120_000, 180_000),
            micro_dollars: Some(range(1_200_000, 2_000_000)),
            is_partial: true,
        });
        assert_eq!(
            said(found) + &compared(found, LaneBudget::parse("150k").ok()),
            "3 earlier runs needed 120.0k, and nine of ten at most 180.0k tokens ($1.20, and nine of ten at most $2.00) (not all lanes reported all usage); the budget of 150000 \
             tokens may be too small"
        );
        assert_eq!(compared(None, LaneBudget::parse("$1").ok()), "");
    }
}
