//! `convoke dispatch rate`.

use convoke_domain::dispatch::rate::{Rate, rates};
use convoke_store::dispatch::DispatchStore;
use serde::Serialize;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Only this feature
    #[arg(long, value_name = "NAME")]
    feature: Option<String>,
}

#[derive(Serialize)]
struct Report {
    roles: Vec<Row>,
    features: Vec<Row>,
    first_three_features: Row,
    all: Row,
    escalate: bool,
}

#[derive(Serialize)]
struct Row {
    name: String,
    dispatches: u64,
    warnings: u64,
    warning_per_mille: Option<u64>,
    recorded: u64,
    unproven: u64,
}

impl Row {
    fn new(name: impl Into<String>, rate: Rate) -> Self {
        let Rate { dispatches, warnings, recorded, unproven } = rate;
        let warning_per_mille = rate.per_mille();
        Self { name: name.into(), dispatches, warnings, warning_per_mille, recorded, unproven }
    }

    fn line(&self) -> String {
        let share = self
            .warning_per_mille
            .map_or("-".to_owned(), |it| format!("{}.{} %", it / 10, it % 10));
        let Self { name, dispatches, warnings, recorded, unproven, .. } = self;
        format!(
            "{name:<32} {dispatches:>10} {warnings:>12} {share:>8} {unproven:>9} of {recorded}\n"
        )
    }
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let Workspace { store, scope } = Workspace::open(app, None)?;
        let mut ledger = store.ledger(&scope.project).map_err(refused)?;
        if let Some(feature) = &self.feature {
            ledger.retain(|entry| entry.feature == *feature);
        }
        let rates = rates(&ledger);
        let report = Report {
            escalate: rates.first_features.escalates(),
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

fn table(report: &Report) -> String {
    let head = |name: &str| format!("{name:<32} dispatches  unconfirmed    share  unproven\n");
    let rows = |rows: &[Row]| rows.iter().map(Row::line).collect::<Vec<_>>().concat();
    let verdict = if report.escalate {
        "More than a fifth did not confirm: look at the approach, not at the roles.\n"
    } else {
        ""
    };
    format!(
        "{}{}\n{}{}\n{}{}{verdict}",
        head("role"),
        rows(&report.roles),
        head("feature"),
        rows(&report.features),
        report.first_three_features.line(),
        report.all.line(),
    )
}
