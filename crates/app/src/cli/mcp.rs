//! `convoke mcp`: tools for agents, over the Model Context Protocol.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::client::Client;
use convoke_engine::client::adapter;
use convoke_engine::hooks::HooksLevel;
use convoke_engine::hooks::server_entry::ServerNeed;
use convoke_service::failure::Failure;
use convoke_service::hooks::DryRun;
use convoke_service::mcp_entry::{
    McpApprovalReport, McpEntryChange, McpEntryReport, McpEntryTarget, become_mcp_server,
    install_mcp_entry, mcp_entry_status, uninstall_mcp_entry,
};
use convoke_service::mcp_listen::{ListenReach, McpListenRequest};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Serve Convoke's tools to agents over MCP
///
/// A client starts this command and calls its tools: `wake`, `brief`, `tasks`, `task_update`, `say`,
/// `run_start`, `run_status` and `run_result`. The section `[mcp]` of your configuration switches
/// off tools that change something. `install` tells a client to start it.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct McpArgs {
    /// Serve over HTTP at this address, such as 127.0.0.1:4711, instead of stdin and stdout
    ///
    /// Every request needs the header `Authorization: Bearer TOKEN`. Without `--token-file` and
    /// `CONVOKE_MCP_TOKEN`, Convoke makes a token and prints it on stderr.
    #[arg(long, value_name = "ADDRESS:PORT")]
    listen: Option<SocketAddr>,

    /// Read the token from this file, which no other user may read
    #[arg(long, value_name = "FILE", requires = "listen")]
    token_file: Option<PathBuf>,

    /// Allow an address that other machines can reach; the connection is not encrypted
    #[arg(long, requires = "listen")]
    any_address: bool,

    #[command(subcommand)]
    command: Option<McpCommand>,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    /// Add Convoke's server to a client's settings
    ///
    /// Leaves every other byte of the settings unchanged. Codex also gets the settings that make it
    /// call the tools in `codex exec`. Other clients wait for a server that starts slowly; for Codex,
    /// see `--wait`.
    Install(InstallArgs),
    /// Show whether a client's settings have Convoke's server
    ///
    /// Also says what you still have to do before the client starts it, such as trusting the folder,
    /// as far as the client's files tell. Exits 1 if the settings have none, or if the program that the
    /// entry names does not exist.
    Status(TargetArgs),
    /// Remove Convoke's server from a client's settings
    Uninstall(ChangeArgs),
}

#[derive(Debug, clap::Args)]
struct TargetArgs {
    /// The client whose settings name the server
    #[arg(value_parser = client_with_servers())]
    client: Client,

    /// Use the settings of your user account instead of the project's
    #[arg(long)]
    user: bool,
}

#[derive(Debug, clap::Args)]
struct ChangeArgs {
    #[command(flatten)]
    target: TargetArgs,

    /// Print the resulting file instead of writing it
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
struct InstallArgs {
    #[command(flatten)]
    change: ChangeArgs,

    /// Make Codex wait up to 20 seconds for the server, and not start without it
    ///
    /// By default, Codex starts without the tools if the server needs more than about a second, or is
    /// missing. With this, Codex refuses to start where Convoke is not installed: leave it out of
    /// settings that you commit.
    #[arg(long)]
    wait: bool,
}

fn client_with_servers() -> impl TypedValueParser<Value = Client> {
    let known = Client::ALL.into_iter().filter(|client| adapter(*client).server.is_some());
    PossibleValuesParser::new(known.map(Client::name))
        .try_map(|name| Client::parse(&name).ok_or("no such client"))
}

impl McpArgs {
    fn listening(&self) -> Option<McpListenRequest> {
        let reach = if self.any_address { ListenReach::Any } else { ListenReach::Loopback };
        let token_file = self.token_file.clone();
        self.listen.map(|address| McpListenRequest { address, token_file, reach })
    }

    /// Runs the command.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let session = &app.session;
        let change = match &self.command {
            None => return Err(become_mcp_server(session, self.listening().as_ref())),
            Some(McpCommand::Status(args)) => {
                let report = mcp_entry_status(session, args.target())?;
                let works = report.installed && report.missing_program.is_none();
                let exit = if works { Exit::Done } else { Exit::No };
                return print(&report, app, output).map(|()| exit);
            }
            Some(McpCommand::Install(args)) => {
                let target = args.change.target.target();
                install_mcp_entry(session, target, args.need(), args.change.rehearsal())?
            }
            Some(McpCommand::Uninstall(args)) => {
                uninstall_mcp_entry(session, args.target.target(), args.rehearsal())?
            }
        };
        match (change, app.format) {
            (McpEntryChange::Done(report), _) => print(&report, app, output)?,
            (McpEntryChange::DryRun(report), Format::Json) => output.json(&report)?,
            (McpEntryChange::DryRun(report), Format::Text) => output.data(&report.text)?,
        }
        Ok(Exit::Done)
    }
}

fn print(report: &McpEntryReport, app: &App, output: &mut Output) -> Result<(), Failure> {
    let state = match &report.missing_program {
        Some(program) => format!("installed, but `{program}` does not exist"),
        None if report.installed => "installed".to_owned(),
        None => "not installed".to_owned(),
    };
    if app.format == Format::Json {
        return output.json(report);
    }
    output.data(&format!("{}  {state}\n", report.path))?;
    if let Some(words) = report.approval.as_ref().and_then(McpApprovalReport::sentence) {
        output.flush()?;
        output.say(&format!("note: {words}"));
    }
    Ok(())
}

impl TargetArgs {
    const fn target(&self) -> McpEntryTarget {
        let level = if self.user { HooksLevel::User } else { HooksLevel::Project };
        McpEntryTarget { client: self.client, level }
    }
}

impl InstallArgs {
    const fn need(&self) -> ServerNeed {
        if self.wait { ServerNeed::Required } else { ServerNeed::Optional }
    }
}

impl ChangeArgs {
    const fn rehearsal(&self) -> DryRun {
        if self.dry_run { DryRun::DryRun } else { DryRun::No }
    }
}
