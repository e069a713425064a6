//! `convoke agent rename`: renames an agent in all records of the store.

use convoke_domain::scope::AgentName;
use convoke_service::agent::rename_agent;
use convoke_service::failure::Failure;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct RenameArgs {
    /// The agent
    #[arg(value_name = "OLD", value_parser = AgentName::parse)]
    from: AgentName,

    /// The new name
    #[arg(value_name = "NEW", value_parser = AgentName::parse)]
    to: AgentName,
}

impl RenameArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let report = rename_agent(&app.session, &self.from, &self.to)?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                output.data(&format!("renamed @{} to @{}\n", report.from, report.to))?;
            }
        }
        Ok(Exit::Done)
    }
}
