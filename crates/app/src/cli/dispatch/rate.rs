//! `convoke dispatch rate`.

use std::collections::BTreeMap;

use convoke_domain::dispatch::history::{HistoryCounts, count};
use convoke_domain::dispatch::rate::{Rate, rates};
use convoke_engine::dispatch::review_history::histories;
use serde::Serialize;

use crate::app::{App, Format};
use crate::config::dispatch::settings;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this feature, by name or number
    #[arg(long, value_name = "NAME", conflicts_with = "histories")]
    feature: Option<String>,

    /// Count the features' review histories instead of the ledger: what was logged before there was
    /// one, which is at most one entry for each round
    #[arg(long)]
    histories: bool,
}

#[derive(Serialize)]
struct HistoryReport {
    features: Vec<HistoryRow>,
    roles: Vec<HistoryRow>,
    all: HistoryRow,
}

#[derive(Serialize)]
struct HistoryRow {
    name: String,
    rounds: u64,
    warnings: u64,
    /// At most this share: rounds that passed were often not logged.
    warning_per_mille: Option<u64>,
    fallbacks: u64,
}

impl HistoryRow {
    fn new(name: impl Into<String>, counts: HistoryCounts) -> Self {
        let HistoryCounts { rounds, warnings, fallbacks } = counts;
        let warning_per_mille = counts.per_mille();
        Self { name: name.into(), rounds, warnings, warning_per_mille, fallbacks }
    }

    fn line(&self) -> String {
        let Self { name, rounds, warnings, warning_per_mille, fallbacks } = self;
        let share = share(*warning_per_mille);
        format!("{name:<40} {rounds:>6} {warnings:>12} {share:>8} {fallbacks:>10}\n")
    }
}

/// Shows tenths of a percent.
fn share(per_mille: Option<u64>) -> String {
    per_mille.map_or("-".to_owned(), |share| format!("{}.{} %", share / 10, share % 10))
}

#[derive(Serialize)]
struct Report {
    roles: Vec<Row>,
    features: Vec<Row>,
    first_three_features: Row,
    all: Row,
    escalate: bool,
    /// Whether more than a fifth of the tries to resume ended in a fresh start.
    resumes_badly: bool,
}

#[derive(Serialize)]
struct Row {
    name: String,
    dispatches: u64,
    warnings: u64,
    warning_per_mille: Option<u64>,
    recorded: u64,
    unproven: u64,
    resumed: u64,
    fallbacks: u64,
}

impl Row {
    fn new(name: impl Into<String>, rate: Rate) -> Self {
        let Rate { dispatches, warnings, recorded, unproven, resumed, fallbacks } = rate;
        let (name, warning_per_mille) = (name.into(), rate.per_mille());
        Self {
            name,
            dispatches,
            warnings,
            warning_per_mille,
            recorded,
            unproven,
            resumed,
            fallbacks,
        }
    }

    fn line(&self) -> String {
        let share = share(self.warning_per_mille);
        let Self { name, dispatches, warnings, recorded, unproven, .. } = self;
        format!(
            "{name:<32} {dispatches:>10} {warnings:>12} {share:>8} {unproven:>9} of {recorded}\n"
        )
    }
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        if self.histories {
            return count_histories(app, output);
        }
        let Workspace { store, scope } = Workspace::open(app, None)?;
        let mut ledger = store.ledger(&scope.project).map_err(refused)?;
        if let Some(feature) = &self.feature {
            // By its name, or by its number.
            let numbered = format!("{feature}-");
            ledger.retain(|it| it.feature == *feature || it.feature.starts_with(&numbered));
        }
        let rates = rates(&ledger);
        let report = Report {
            escalate: rates.first_features.escalates(),
            resumes_badly: rates.all.resumes_badly(),
            roles: rates.roles.into_iter().map(|(name, rate)| Row::new(name, rate)).collect(),
            features: rates.features.into_iter().map(|(name, rate)| Row::new(name, rate)).collect(),
            first_three_features: Row::new("first three features", rates.first_features),
            all: Row::new("all", rates.all),
        };
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text if ledger.is_empty() => output.data("No dispatches yet.\n")?,
            Format::Text => output.data(&table(&report))?,
        }
        Ok(Exit::Done)
    }
}

/// Counts what the features' own histories say.
fn count_histories(app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let folder = app.project.join(settings(app)?.artifacts_root).join("features");
    let mut features = Vec::new();
    let mut by_role: BTreeMap<String, HistoryCounts> = BTreeMap::new();
    let mut all = HistoryCounts::default();
    for (feature, text) in histories(&folder) {
        let (counts, roles) = count(&text);
        features.push(HistoryRow::new(feature, counts));
        all = all.plus(counts);
        for (role, counts) in roles {
            let sum = by_role.entry(role).or_default();
            *sum = sum.plus(counts);
        }
    }
    let roles = by_role.into_iter().map(|(role, counts)| HistoryRow::new(role, counts)).collect();
    let report = HistoryReport { features, roles, all: HistoryRow::new("all", all) };
    match app.format {
        Format::Json => output.json(&report)?,
        Format::Text if report.features.is_empty() => output.data("No review histories.\n")?,
        Format::Text => output.data(&history_table(&report))?,
    }
    Ok(Exit::Done)
}

fn history_table(report: &HistoryReport) -> String {
    let head = |name: &str| format!("{name:<40} rounds  unconfirmed    share  fallbacks\n");
    let rows = |rows: &[HistoryRow]| rows.iter().map(HistoryRow::line).collect::<String>();
    format!(
        "{}{}\n{}{}\n{}",
        head("role"),
        rows(&report.roles),
        head("feature"),
        rows(&report.features),
        report.all.line()
    )
}

fn table(report: &Report) -> String {
    let head = |name: &str| format!("{name:<32} dispatches  unconfirmed    share  unproven\n");
    let rows = |rows: &[Row]| rows.iter().map(Row::line).collect::<Vec<_>>().concat();
    let verdict = if report.escalate {
        "More than a fifth did not confirm: look at the approach, not at the roles.\n"
    } else {
        ""
    };
    let Row { resumed, fallbacks, .. } = report.all;
    let resumes = match (resumed + fallbacks, report.resumes_badly) {
        (0, _) => String::new(),
        (tries, false) => format!("resumed {resumed} of {tries} tries\n"),
        (tries, true) => format!("resumed only {resumed} of {tries} tries: is it worth it?\n"),
    };
    format!(
        "{}{}\n{}{}\n{}{}{verdict}{resumes}",
        head("role"),
        rows(&report.roles),
        head("feature"),
        rows(&report.features),
        report.first_three_features.line(),
        report.all.line(),
    )
}
