//! `convoke dispatch savings`.

use std::path::PathBuf;

use convoke_domain::dispatch::savings::{Cost, Costs, change_per_mille};
use convoke_domain::token::Tokens;
use convoke_engine::dispatch::savings::{Framing, Savings, measure};
use serde::Serialize;

use crate::app::{App, Format};
use crate::config::dispatch::settings;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;

/// How long the longest bar is.
const BAR: u64 = 40;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A folder of feature folders [default: `docs/features`]
    #[arg(long, value_name = "DIR")]
    features: Option<PathBuf>,

    /// Count the documents and the lists of references alone, without rubrics and return formats
    #[arg(long)]
    bare: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot measure `{}`: no feature in it has spec, design, plan and tasks", path.display())]
struct NothingToMeasure {
    path: PathBuf,
}

#[derive(Serialize)]
struct Report<'a> {
    features: &'a [String],
    skipped: &'a [String],
    tokenizer: &'static str,
    all: CostsReport,
    mean_per_feature: CostsReport,
    roles: Vec<RoleReport<'a>>,
}

#[derive(Serialize)]
struct RoleReport<'a> {
    role: &'a str,
    #[serde(flatten)]
    costs: CostsReport,
}

#[derive(Serialize)]
struct CostsReport {
    pasted: CostReport,
    seed: CostReport,
    all_reference: CostReport,
}

#[derive(Serialize)]
struct CostReport {
    prompt_tokens_x10: u64,
    total_tokens_x10: u64,
}

impl CostsReport {
    fn new(costs: &Costs, share: u64) -> Self {
        let cost = |cost: Cost| CostReport {
            prompt_tokens_x10: cost.prompt.tenths() / share,
            total_tokens_x10: cost.total.tenths() / share,
        };
        let Costs { pasted, seed, all_reference } = *costs;
        Self { pasted: cost(pasted), seed: cost(seed), all_reference: cost(all_reference) }
    }
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let settings = settings(app)?;
        let default = app.project.join(&settings.artifacts_root).join("features");
        let path = self.features.clone().unwrap_or(default);
        let framing = if self.bare { Framing::Bare } else { Framing::Whole };
        let savings = measure(&path, &app.project, &settings.roles, framing);
        if savings.measured.is_empty() {
            let hint = "name a folder of feature folders with `--features`";
            let is_there = path.is_dir();
            let error = NothingToMeasure { path };
            let failure = Failure::new(ErrorClass::Refused, error).hint(hint);
            return Err(if is_there { failure } else { failure.hint("there is no such folder") });
        }
        let count = savings.measured.len() as u64;
        match app.format {
            Format::Text => output.data(&table(&savings, count))?,
            Format::Json => output.json(&Report {
                features: &savings.measured,
                skipped: &savings.skipped,
                tokenizer: "estimate",
                all: CostsReport::new(&savings.all, 1),
                mean_per_feature: CostsReport::new(&savings.all, count),
                roles: savings
                    .roles
                    .iter()
                    .map(|(role, costs)| RoleReport { role, costs: CostsReport::new(costs, 1) })
                    .collect(),
            })?,
        }
        Ok(Exit::Done)
    }
}

/// Both sums, because one of them alone is half of the truth.
fn table(savings: &Savings, count: u64) -> String {
    let Costs { pasted, seed, all_reference } = savings.all;
    let mean = |tokens: Tokens| Tokens::from_tenths(tokens.tenths() / count);
    let rows = |name: &str, of: fn(Cost) -> Tokens| {
        let before = of(pasted);
        let row = |label: &str, cost: Cost| {
            let tokens = of(cost);
            let bar = "█".repeat(length(tokens, before));
            let change = match change_per_mille(before, tokens) {
                Some(change) if label != "pasted" => percent(change),
                _ => String::new(),
            };
            format!("  {label:<14}{:>12} {change:>9}  {bar}\n", mean(tokens).to_string())
        };
        let rows =
            [row("pasted", pasted), row("by reference", seed), row("all reference", all_reference)];
        format!("{name}\n{}", rows.concat())
    };
    let roles = savings.roles.iter().map(|(role, costs)| {
        let (before, after) = (costs.pasted.total, costs.seed.total);
        let change = change_per_mille(before, after).map_or(String::new(), percent);
        let prompts = (mean(costs.pasted.prompt).to_string(), mean(costs.seed.prompt).to_string());
        format!("  {role:<34}{:>11} →{:>10}  in all {change:>9}\n", prompts.0, prompts.1)
    });
    let skipped = match savings.skipped.len() {
        0 => String::new(),
        skipped => format!(", {skipped} left out because a document is missing or gives no text"),
    };
    format!(
        "{count} measured{skipped}; tokens per feature, an estimate\n\n{}{}\nprompts, by role\n{}",
        rows("what the dispatcher sends", |cost| cost.prompt),
        rows("what the agents pay, reading included", |cost| cost.total),
        roles.collect::<Vec<_>>().concat()
    )
}

fn length(tokens: Tokens, most: Tokens) -> usize {
    let length = (tokens.tenths() * BAR).checked_div(most.tenths()).unwrap_or(0);
    usize::try_from(length.clamp(1, 2 * BAR)).unwrap_or(1)
}

fn percent(change: i64) -> String {
    let sign = if change < 0 { "−" } else { "+" };
    let size = change.unsigned_abs();
    format!("{sign}{}.{} %", size / 10, size % 10)
}
