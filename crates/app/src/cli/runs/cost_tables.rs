//! What a run has cost, as tables.

use std::fmt::Write;

use convoke_domain::lane::cap::dollars;
use convoke_domain::lane::ledger::Sum;
use convoke_service::design::amount;
use convoke_service::run::{SpendingReport, SpendingRow};

use crate::cli::table::render;

/// Shows the sums.
pub(super) fn text(spending: &SpendingReport) -> String {
    let table = |head: &str, rows: &[SpendingRow]| {
        let rows = rows.iter().chain([&spending.total]).map(cells);
        render([head, "lanes", "in", "out", "cost"], rows, &[1, 2, 3, 4])
    };
    let Sum { uncounted, usage, .. } = spending.total.sum;
    let spent = if spending.is_recorded { "recorded" } else { "spent" };
    let mut text = format!(
        "\n{}\n{}\n{spent} in all: {}",
        table("step", &spending.steps),
        table("seat", &spending.seats),
        amount(&usage)
    );
    if let Some(tokens) = spending.tokens_per_accepted_finding {
        let money = spending.micro_dollars_per_accepted_finding;
        let money = money.map_or_else(String::new, |money| format!(" ({})", dollars(money)));
        let findings = spending.accepted_findings;
        write!(text, "; {tokens} tokens{money} per accepted finding ({findings})").ok();
    }
    let lanes = |count: u64| format!("{count} lane{}", if count == 1 { "" } else { "s" });
    if spending.recorded_lanes > 0 && !spending.is_recorded {
        write!(text, "; {} recorded, at no cost", lanes(spending.recorded_lanes)).ok();
    }
    if uncounted > 0 && !spending.is_recorded {
        write!(text, "; {} did not report usage", lanes(uncounted)).ok();
    }
    text
}

fn cells(row: &SpendingRow) -> [String; 5] {
    [
        row.name.clone(),
        row.lanes.to_string(),
        row.input_tokens.to_string(),
        row.output_tokens.to_string(),
        row.micro_dollars.map_or("-".to_owned(), dollars),
    ]
}
