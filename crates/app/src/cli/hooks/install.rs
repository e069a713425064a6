//! `convoke hooks install` and `uninstall`: Convoke's entries in a client's settings, and the agent
//! that they wake.

use convoke_domain::scope::AgentName;
use convoke_service::failure::Failure;
use convoke_service::hooks::{
    DryRun, HooksChange, InstallHooksRequest, install_hooks, uninstall_hooks,
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
    }
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
        // Here it is good news that nothing is installed.
        print(change, app, output).map(|_| Exit::Done)
    }
}
