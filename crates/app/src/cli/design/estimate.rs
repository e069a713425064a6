//! `convoke design --estimate`: what a design will probably need.

use convoke_domain::design::progress::elapsed;
use convoke_domain::lane::budget::dollars;
use convoke_service::design::{
    DesignEstimateReport, DesignRequest, EstimateRangeReport, WayEstimateReport, estimate_design,
};
use convoke_service::failure::Failure;

use crate::app::{App, Format};
use crate::cli::table::grid;
use crate::exit::Exit;
use crate::output::Output;

/// Shows the estimate.
pub(super) fn show(
    app: &App,
    request: &DesignRequest,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let report = estimate_design(&app.session, request)?;
    match app.format {
        Format::Json => output.json(&report)?,
        Format::Text => {
            output.data(&format!("suggestion: {}\n\n", suggestion(&report)))?;
            let header = ["way", "earlier runs", "tokens", "cost", "time"];
            let rows = [
                row(&format!("panel ({})", report.kind), &report.panel),
                row("single pass", &report.single),
            ];
            output.table(&grid(header, rows, &[1]))?;
            output.data(
                "\nEach range is what half of them needed at most, and what nine of ten did. A range \
                 needs 3 runs.\n",
            )?;
        }
    }
    Ok(Exit::Done)
}

fn suggestion(report: &DesignEstimateReport) -> String {
    let words = match report.suggestion {
        "panel" => "a panel",
        "single-pass" => "a single pass",
        _ => "unknown",
    };
    format!("{words}: {}", report.why)
}

fn row(way: &str, estimate: &WayEstimateReport) -> [String; 5] {
    [
        way.to_owned(),
        estimate.runs.to_string(),
        range(estimate.tokens, |tokens| tokens.to_string()),
        range(estimate.micro_dollars, dollars),
        range(estimate.seconds, elapsed),
    ]
}

fn range(range: Option<EstimateRangeReport>, shown: impl Fn(u64) -> String) -> String {
    range.map_or("unknown".to_owned(), |range| {
        let (median, most) = (shown(range.median), shown(range.nine_of_ten));
        if median == most { median } else { format!("{median} to {most}") }
    })
}
