//! `convoke agent rm`: an agent that is no longer there.

use convoke_domain::scope::AgentName;
use convoke_service::agent::remove_agent;
use convoke_service::failure::Failure;
use convoke_store::agent::Removal;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct RmArgs {
    /// The agent
    #[arg(value_parser = AgentName::parse)]
    name: AgentName,

    /// Remove it even if it has open tasks, unread messages or sessions of this project
    #[arg(long)]
    force: bool,
}

impl RmArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let removal = if self.force { Removal::Anyway } else { Removal::IfIdle };
        let report = remove_agent(&app.session, &self.name, removal)?;
        match app.format {
            Format::Json => output.json(&report)?,
            Format::Text => {
                let left = left(report.freed_tasks, report.unread);
                output.data(&format!("removed @{}{left}\n", report.removed))?;
            }
        }
        Ok(Exit::Done)
    }
}

fn left(tasks: usize, unread: usize) -> String {
    let tasks = (tasks > 0).then(|| format!("; open tasks that are now unassigned: {tasks}"));
    let unread = (unread > 0).then(|| format!("; unread messages: {unread}"));
    tasks.unwrap_or_default() + &unread.unwrap_or_default()
}
