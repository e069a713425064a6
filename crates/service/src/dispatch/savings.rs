//! The savings of references over a tree of features, for dispatcher and agents.

use std::path::PathBuf;

use convoke_domain::dispatch::savings::{Cost, Costs};
use convoke_engine::dispatch::savings::{MeasuredParts, measure};
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::settings::dispatch::settings;

#[derive(Debug, thiserror::Error)]
#[error("cannot measure `{}`: no feature in it has spec, design, plan and tasks", path.display())]
struct NothingToMeasure {
    path: PathBuf,
}

/// The savings of references.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DispatchSavingsReport {
    /// The features that were measured.
    pub features: Vec<String>,
    /// Those that were left out, because a document is missing or gives no text.
    pub skipped: Vec<String>,
    /// How tokens were counted.
    pub tokenizer: &'static str,
    /// The sums of all dispatches.
    pub all: DispatchCostsReport,
    /// The sums, by feature.
    pub mean_per_feature: DispatchCostsReport,
    /// The sums for each role.
    pub roles: Vec<RoleSavingsReport>,
}

/// The savings of references for one role.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RoleSavingsReport {
    /// The role's name.
    pub role: String,
    /// The role's sums.
    #[serde(flatten)]
    pub costs: DispatchCostsReport,
}

/// The cost of dispatches, for each kind of prompt.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DispatchCostsReport {
    /// With every document pasted.
    pub pasted: DispatchCostReport,
    /// By reference, but for the document under review.
    pub seed: DispatchCostReport,
    /// All by reference.
    pub all_reference: DispatchCostReport,
}

/// The cost of dispatches.
#[derive(Debug, Clone, Copy, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DispatchCostReport {
    /// The dispatcher's prompts, in tenths of tokens.
    pub prompt_tokens_x10: u64,
    /// The agents' total, reading included, in tenths of tokens.
    pub total_tokens_x10: u64,
}

impl DispatchCostsReport {
    fn new(costs: &Costs, share: u64) -> Self {
        let cost = |cost: Cost| DispatchCostReport {
            prompt_tokens_x10: cost.prompt.tenths() / share,
            total_tokens_x10: cost.total.tenths() / share,
        };
        let Costs { pasted, seed, all_reference } = *costs;
        Self { pasted: cost(pasted), seed: cost(seed), all_reference: cost(all_reference) }
    }
}

/// Measures what references save over a folder of feature folders, by default the project's own.
pub fn savings(
    session: &Session,
    features: Option<PathBuf>,
    framing: MeasuredParts,
) -> Result<DispatchSavingsReport, Failure> {
    let settings = settings(session)?;
    let default = || session.project.join(&settings.artifacts_root).join("features");
    let path = features.unwrap_or_else(default);
    let savings = measure(&path, &session.project, &settings.roles, framing);
    if savings.measured.is_empty() {
        let hint = "name a folder of feature folders with `--features`";
        let is_there = path.is_dir();
        let error = NothingToMeasure { path };
        let failure = Failure::new(ErrorClass::Refused, error).hint(hint);
        return Err(if is_there { failure } else { failure.hint("there is no such folder") });
    }
    let role = |(role, costs): &(String, Costs)| RoleSavingsReport {
        role: role.clone(),
        costs: DispatchCostsReport::new(costs, 1),
    };
    Ok(DispatchSavingsReport {
        tokenizer: "estimate",
        all: DispatchCostsReport::new(&savings.all, 1),
        mean_per_feature: DispatchCostsReport::new(&savings.all, savings.measured.len() as u64),
        roles: savings.roles.iter().map(role).collect(),
        features: savings.measured,
        skipped: savings.skipped,
    })
}
