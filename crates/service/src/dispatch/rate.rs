//! How often roles did not confirm, or did not prove, that they read.

use std::collections::BTreeMap;

use convoke_domain::dispatch::history::{HistoryCounts, count};
use convoke_domain::dispatch::rate::{Rate, rates};
use convoke_engine::dispatch::review_history::histories;
use serde::Serialize;

use crate::failure::Failure;
use crate::session::Session;
use crate::settings::dispatch::settings;
use crate::workspace::{Workspace, refused};

/// The rates by the features' own histories.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryRateReport {
    /// By feature.
    pub features: Vec<HistoryRateRow>,
    /// By role.
    pub roles: Vec<HistoryRateRow>,
    /// In all.
    pub all: HistoryRateRow,
}

/// The rates of a feature or a role by histories.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryRateRow {
    /// The feature or role.
    pub name: String,
    /// How many rounds were logged.
    pub rounds: u64,
    /// How many of them did not confirm.
    pub warnings: u64,
    /// At most this share: rounds that passed were often not logged.
    pub warning_per_mille: Option<u64>,
    /// How many fell back to a fresh session because resuming failed.
    pub fallbacks: u64,
}

impl HistoryRateRow {
    fn new(name: impl Into<String>, counts: HistoryCounts) -> Self {
        let HistoryCounts { rounds, warnings, fallbacks } = counts;
        let warning_per_mille = counts.per_mille();
        Self { name: name.into(), rounds, warnings, warning_per_mille, fallbacks }
    }
}

/// The rates by the ledger.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DispatchRateReport {
    /// By role.
    pub roles: Vec<DispatchRateRow>,
    /// By feature.
    pub features: Vec<DispatchRateRow>,
    /// Of the first three features together.
    pub first_three_features: DispatchRateRow,
    /// In all.
    pub all: DispatchRateRow,
    /// Whether more than a fifth of the first dispatches did not confirm.
    pub escalate: bool,
    /// Whether more than a fifth of the tries to resume ended in a fresh start.
    pub resumes_badly: bool,
}

/// The rates of a feature or a role by the ledger.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DispatchRateRow {
    /// The feature or role.
    pub name: String,
    /// How many dispatches there were.
    pub dispatches: u64,
    /// How many of them did not confirm.
    pub warnings: u64,
    /// Their share, in tenths of a percent.
    pub warning_per_mille: Option<u64>,
    /// How many have a record of the agent's reading.
    pub recorded: u64,
    /// How many of those do not prove it.
    pub unproven: u64,
    /// How many were resumed.
    pub resumed: u64,
    /// How many fell back to a fresh session because resuming failed.
    pub fallbacks: u64,
}

impl DispatchRateRow {
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
}

/// Counts what the ledger says, of all features or of one by its name or number.
pub fn ledger_rates(
    session: &Session,
    feature: Option<&str>,
) -> Result<DispatchRateReport, Failure> {
    let Workspace { store, scope } = Workspace::open(session, None)?;
    let mut ledger = store.ledger(&scope.project).map_err(refused)?;
    if let Some(feature) = feature {
        let numbered = format!("{feature}-");
        ledger.retain(|entry| entry.feature == feature || entry.feature.starts_with(&numbered));
    }
    let rates = rates(&ledger);
    let row = |(name, rate): (String, Rate)| DispatchRateRow::new(name, rate);
    Ok(DispatchRateReport {
        escalate: rates.first_features.escalates(),
        resumes_badly: rates.all.resumes_badly(),
        roles: rates.roles.into_iter().map(row).collect(),
        features: rates.features.into_iter().map(row).collect(),
        first_three_features: DispatchRateRow::new("first three features", rates.first_features),
        all: DispatchRateRow::new("all", rates.all),
    })
}

/// Counts what the features' own histories say.
pub fn history_rates(session: &Session) -> Result<HistoryRateReport, Failure> {
    let folder = session.project.join(settings(session)?.artifacts_root).join("features");
    let mut features = Vec::new();
    let mut by_role: BTreeMap<String, HistoryCounts> = BTreeMap::new();
    let mut all = HistoryCounts::default();
    for (feature, text) in histories(&folder) {
        let (counts, roles) = count(&text);
        features.push(HistoryRateRow::new(feature, counts));
        all = all.plus(counts);
        for (role, counts) in roles {
            let sum = by_role.entry(role).or_default();
            *sum = sum.plus(counts);
        }
    }
    let row = |(role, counts): (String, HistoryCounts)| HistoryRateRow::new(role, counts);
    let roles = by_role.into_iter().map(row).collect();
    Ok(HistoryRateReport { features, roles, all: HistoryRateRow::new("all", all) })
}
