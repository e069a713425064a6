//! `convoke hooks`: writing hook entries into clients' settings, and taking them out again.

mod install;
mod status;

use clap::Subcommand;
use convoke_domain::client::Client;
use convoke_engine::hooks::HooksLevel;
use convoke_service::failure::Failure;
use convoke_service::hooks::{HooksTarget, hooks_status};
use convoke_service::status::hooks_of_clients;

use self::install::{InstallArgs, UninstallArgs};
use super::hook::client;
use crate::app::App;
use crate::exit::Exit;
use crate::output::Output;

/// Install, check and remove hooks in a client's settings
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add hooks to a client's settings and bind its sessions to an agent
    ///
    /// Leaves every other byte of the settings unchanged. Writes the agent's name to
    /// `convoke.local.toml`, which git ignores, or with `--user` to your own `config.toml`.
    Install(InstallArgs),
    /// Show whether hooks are installed and called, and their texts arrive
    Status(HooksStatusArgs),
    /// Remove the hooks, and the agent's name if `install` wrote it
    Uninstall(UninstallArgs),
}

#[derive(Debug, clap::Args)]
struct HooksStatusArgs {
    /// The client [default: every client that is on the PATH or has hooks]
    #[arg(value_parser = client())]
    client: Option<Client>,

    /// The user's settings instead of the project's
    #[arg(long, requires = "client")]
    user: bool,
}

impl HooksStatusArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let Some(client) = self.client else {
            return status::print_all(&hooks_of_clients(&app.session), app, output);
        };
        let target = Target { client, user: self.user }.target();
        status::print(&hooks_status(&app.session, &target)?, app, output)
    }
}

#[derive(Debug, clap::Args)]
struct Target {
    /// The client whose settings have the hooks
    #[arg(value_parser = client())]
    client: Client,

    /// Use the settings of your user account instead of the project's
    #[arg(long)]
    user: bool,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Install(args) => args.run(app, output),
            Command::Status(args) => args.run(app, output),
            Command::Uninstall(args) => args.run(app, output),
        }
    }
}

impl Target {
    const fn target(&self) -> HooksTarget {
        let level = if self.user { HooksLevel::User } else { HooksLevel::Project };
        HooksTarget { client: self.client, level }
    }
}
