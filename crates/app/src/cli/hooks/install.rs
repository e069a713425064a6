//! `convoke hooks install` and `uninstall`: our entries in a client's settings, and whose sessions
//! they wake.

use convoke_domain::scope::AgentName;
use convoke_service::failure::Failure;
use convoke_service::hooks::{
    HooksChange, InstallHooksRequest, Rehearsal, install_hooks, uninstall_hooks,
};

use super::{Target, status};
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

#[derive(Debug, clap::Args)]
pub(super) struct UninstallArgs {
    #[command(flatten)]
    target: Target,

    /// Only print what the file would hold
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct InstallArgs {
    #[command(flatten)]
    target: Target,

    /// The agent whose wake-ups the sessions get [default: the one that is set, else me]
    #[arg(long = "as", value_name = "NAME", value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// Name the program by its absolute path, even if it is on the PATH
    #[arg(long)]
    absolute: bool,

    /// Write the entries even if the plugin for Claude Code brings them along
    #[arg(long)]
    force: bool,

    /// Only print what the file would hold
    #[arg(long)]
    dry_run: bool,

    /// How many entries share a long wake-up
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(1..=16))]
    entries: u8,
}

const fn rehearsal(dry_run: bool) -> Rehearsal {
    if dry_run { Rehearsal::DryRun } else { Rehearsal::No }
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
