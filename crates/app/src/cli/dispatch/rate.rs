//! `convoke dispatch rate`.

use convoke_service::dispatch::{
    DispatchRateReport, DispatchRateRow, HistoryRateReport, HistoryRateRow, history_rates,
    ledger_rates,
};
use convoke_service::failure::Failure;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Count only this feature, by name or number
    #[arg(long, value_name = "NAME", conflicts_with = "histories")]
    feature: Option<String>,

    /// Count the features' review histories instead of the ledger; they hold at most one entry per
    /// round, also from before the ledger existed
    #[arg(long)]
    histories: bool,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if self.histories {
            return show_histories(app, output);
        }
        let report = ledger_rates(&app.session, self.feature.as_deref())?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text if report.roles.is_empty() => output.data("No dispatches yet.\n")?,
            Format::Text => output.lines(&table(&report), 4)?,
        }
        Ok(Exit::Done)
    }
}

fn show_histories(app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let report = history_rates(&app.session)?;
    match app.format {
        Format::Json => output.json(&report)?,
        Format::Text if report.features.is_empty() => output.data("No review histories.\n")?,
        Format::Text => output.lines(&history_table(&report), 4)?,
    }
    Ok(Exit::Done)
}

fn history_line(row: &HistoryRateRow) -> String {
    let HistoryRateRow { name, rounds, warnings, warning_per_mille, fallbacks } = row;
    let share = share(*warning_per_mille);
    format!("{name:<40} {rounds:>6} {warnings:>12} {share:>8} {fallbacks:>10}\n")
}

fn line(row: &DispatchRateRow) -> String {
    let share = share(row.warning_per_mille);
    let DispatchRateRow { name, dispatches, warnings, recorded, unproven, .. } = row;
    format!("{name:<32} {dispatches:>10} {warnings:>12} {share:>8} {unproven:>9} of {recorded}\n")
}

/// Shows tenths of a percent.
fn share(per_mille: Option<u64>) -> String {
    per_mille.map_or("-".to_owned(), |share| format!("{}.{} %", share / 10, share % 10))
}

fn history_table(report: &HistoryRateReport) -> String {
    let head = |name: &str| format!("{name:<40} rounds  unconfirmed    share  fallbacks\n");
    let rows = |rows: &[HistoryRateRow]| rows.iter().map(history_line).collect::<String>();
    format!(
        "{}{}\n{}{}\n{}",
        head("role"),
        rows(&report.roles),
        head("feature"),
        rows(&report.features),
        history_line(&report.all)
    )
}

fn table(report: &DispatchRateReport) -> String {
    let head = |name: &str| format!("{name:<32} dispatches  unconfirmed    share  unproven\n");
    let rows = |rows: &[DispatchRateRow]| rows.iter().map(line).collect::<Vec<_>>().concat();
    let verdict = if report.escalate {
        "More than a fifth of the dispatches did not confirm: change the approach, not the roles.\n"
    } else {
        ""
    };
    let DispatchRateRow { resumed, fallbacks, .. } = report.all;
    let resumes = match (resumed + fallbacks, report.resumes_badly) {
        (0, _) => String::new(),
        (tries, false) => format!("resumed {resumed} of {tries} tries\n"),
        (tries, true) => {
            format!("resumed only {resumed} of {tries} tries; consider fresh sessions\n")
        }
    };
    format!(
        "{}{}\n{}{}\n{}{}{verdict}{resumes}",
        head("role"),
        rows(&report.roles),
        head("feature"),
        rows(&report.features),
        line(&report.first_three_features),
        line(&report.all),
    )
}
