//! `convoke upgrade --check`: parts that are older than this version.

use convoke_service::failure::Failure;
use convoke_service::upgrade::{UpgradeReport, check_upgrade};

use super::init::release;
use super::sheet::{hung, row};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Check whether store, hooks and clients fit this version
///
/// Reads only this machine, never the network. Exits 0 if nothing is behind, and 1 if something is.
#[derive(Debug, clap::Args)]
pub struct UpgradeArgs {
    /// Only check; this is also what the command does without the flag
    #[arg(long)]
    check: bool,
}

impl UpgradeArgs {
    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = check_upgrade(&app.session)?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => output.data(&sheet(&report, output.page_size().0))?,
        }
        Ok(if report.behind.is_empty() { Exit::Done } else { Exit::No })
    }
}

fn sheet(report: &UpgradeReport, columns: usize) -> String {
    let row = |name: &str, value: &str| row(name, value, columns);
    let store = match (report.store_schema, report.known_schema) {
        (Some(found), Some(known)) => format!("schema {found} of {known}"),
        _ => "not there yet; the first command makes it".to_owned(),
    };
    let hooks: Vec<_> = report
        .hooks
        .iter()
        .map(|hooks| {
            let state = if hooks.is_current { "current" } else { "behind" };
            format!("{} {state}", hooks.client)
        })
        .collect();
    let clients: Vec<_> = report
        .clients
        .iter()
        .map(|client| {
            format!("{} {}", client.client, client.version.as_deref().map_or("(unknown)", release))
        })
        .collect();
    let list = |words: &[String], none: &str| {
        if words.is_empty() { none.to_owned() } else { words.join(", ") }
    };
    let mut text = [
        row("program", &format!("convoke {} ({})", report.version, report.program)),
        row("store", &store),
        row("hooks", &list(&hooks, "none installed; `convoke init` installs them")),
        row("clients", &list(&clients, "none on the PATH")),
    ]
    .concat();
    text += "\n";
    if report.behind.is_empty() {
        return text + "Nothing is behind.\n";
    }
    text += "Behind\n";
    report.behind.iter().fold(text, |text, line| text + &hung("  - ", line, columns))
}
