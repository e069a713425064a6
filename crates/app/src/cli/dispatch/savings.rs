//! `convoke dispatch savings`.

use std::path::PathBuf;

use convoke_domain::dispatch::savings::change_per_mille;
use convoke_domain::token::Tokens;
use convoke_engine::dispatch::savings::MeasuredParts;
use convoke_service::dispatch::{
    DispatchCostReport, DispatchCostsReport, DispatchSavingsReport, RoleSavingsReport, savings,
};
use convoke_service::failure::Failure;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// How long the longest bar is.
const BAR: u64 = 40;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A folder that contains feature folders [default: `docs/features`]
    #[arg(long, value_name = "DIR")]
    features: Option<PathBuf>,

    /// Count only documents and reference lists, without rubrics and answer formats
    #[arg(long)]
    bare: bool,
}

impl Args {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let framing = if self.bare { MeasuredParts::Bare } else { MeasuredParts::Whole };
        let report = savings(&app.session, self.features.clone(), framing)?;
        match app.format {
            Format::Text => output.lines(&table(&report), 4)?,
            Format::Json => output.json(&report)?,
        }
        Ok(Exit::Done)
    }
}

/// Both sums, because one of them alone is half of the truth.
fn table(report: &DispatchSavingsReport) -> String {
    let DispatchCostsReport { pasted, seed, all_reference } = report.all;
    let count = report.features.len() as u64;
    let mean = |tokens: Tokens| Tokens::from_tenths(tokens.tenths() / count).to_string();
    let rows = |name: &str, of: fn(DispatchCostReport) -> Tokens| {
        let before = of(pasted);
        let row = |label: &str, cost: DispatchCostReport| {
            let tokens = of(cost);
            let bar = "█".repeat(length(tokens, before));
            let change = match change_per_mille(before, tokens) {
                Some(change) if label != "pasted" => percent(change),
                _ => String::new(),
            };
            format!("  {label:<14}{:>12} {change:>9}  {bar}\n", mean(tokens))
        };
        let rows =
            [row("pasted", pasted), row("by reference", seed), row("all reference", all_reference)];
        format!("{name}\n{}", rows.concat())
    };
    let roles = report.roles.iter().map(|RoleSavingsReport { role, costs }| {
        let (before, after) = (total(costs.pasted), total(costs.seed));
        let change = change_per_mille(before, after).map_or(String::new(), percent);
        let prompts = (mean(prompt(costs.pasted)), mean(prompt(costs.seed)));
        format!("  {role:<34}{:>11} →{:>10}  in all {change:>9}\n", prompts.0, prompts.1)
    });
    let skipped = match report.skipped.len() {
        0 => String::new(),
        skipped => format!(", {skipped} left out because a document is missing or gives no text"),
    };
    format!(
        "{count} measured{skipped}; tokens per feature, an estimate\n\n{}{}\nprompts, by role\n{}",
        rows("tokens that the dispatcher sends", prompt),
        rows("tokens that the agents use, including reading", total),
        roles.collect::<Vec<_>>().concat()
    )
}

const fn prompt(cost: DispatchCostReport) -> Tokens {
    Tokens::from_tenths(cost.prompt_tokens_x10)
}

const fn total(cost: DispatchCostReport) -> Tokens {
    Tokens::from_tenths(cost.total_tokens_x10)
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
