//! `convoke hooks install` and `uninstall`: Convoke's entries in a client's settings, and the agent
//! that they wake.

use convoke_domain::scope::AgentName;
use convoke_service::failure::Failure;
use convoke_service::hooks::{
    DryRun, HooksChange, InstallHooksRequest, RemovedHooksReport, install_hooks, uninstall_hooks,
};

use super::{Target, status};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct UninstallArgs {
    #[command(flatten)]
    target: Target,

    /// Print the resulting file instead of writing it
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct InstallArgs {
    #[command(flatten)]
    target: Target,

    /// Deliver this agent's wake-ups [default: the configured agent, else `me`]
    #[arg(long = "as", value_name = "NAME", value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// Write the program's absolute path, even if it is on the PATH
    #[arg(long)]
    absolute: bool,

    /// Add the hooks even if the Claude Code plugin already provides them
    #[arg(long)]
    force: bool,

    /// Print the resulting file instead of writing it
    #[arg(long)]
    dry_run: bool,

    /// Split a long wake-up over this many hook entries
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(1..=16))]
    entries: u8,
}

const fn rehearsal(dry_run: bool) -> DryRun {
    if dry_run { DryRun::DryRun } else { DryRun::No }
}

fn print(change: HooksChange, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match change {
        HooksChange::DryRun(report) => match app.format {
            Format::Json => output.json(&report).map(|()| Exit::Done),
            Format::Text => output.data(&report.text).map(|()| Exit::Done),
        },
        HooksChange::Done(report) => status::print(&report, app, output),
        HooksChange::Removed(report) => {
            match app.format {
                Format::Json => output.json(&report)?,
                Format::Text => output.lines(&removed(&report), 2)?,
            }
            Ok(Exit::Done)
        }
    }
}

/// Says what was removed, and what still holds.
fn removed(report: &RemovedHooksReport) -> String {
    let path = &report.hooks.path;
    let mut lines = vec![match (report.removed_entries, report.removed_file) {
        (0, _) => format!("{path} has no hooks of Convoke's; nothing was removed"),
        (1, false) => format!("removed 1 hook entry from {path}"),
        (count, false) => format!("removed {count} hook entries from {path}"),
        (_, true) => format!("removed {path}, which held only Convoke's hooks"),
    }];
    if let Some(agent) = &report.removed_agent {
        lines.push(format!("sessions here no longer belong to @{agent}"));
    }
    if let (Some(agent), Some(place)) = (&report.hooks.agent, report.hooks.agent_from) {
        lines.push(format!("sessions here still belong to @{agent} ({place})"));
    }
    if let Some(plugin) = &report.hooks.plugin {
        lines.push(format!("the plugin {plugin} still provides hooks"));
    }
    lines.join("\n") + "\n"
}

impl InstallArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let request = InstallHooksRequest {
            target: self.target.target(),
            agent: self.agent.clone(),
            names_absolute_path: self.absolute,
            ignores_plugin: self.force,
            rehearsal: rehearsal(self.dry_run),
            entries: self.entries,
        };
        print(install_hooks(&app.session, &request)?, app, output)
    }
}

impl UninstallArgs {
    pub(super) fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let change = uninstall_hooks(&app.session, &self.target.target(), rehearsal(self.dry_run))?;
        print(change, app, output)
    }
}
