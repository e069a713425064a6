//! `convoke agent`: who works on this branch.

mod removal;
mod rename;
mod session;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::agent::AgentStatus;
use convoke_domain::client::Client;
use convoke_domain::scope::AgentName;
use convoke_service::agent::{
    AgentProfileReport, add_agent, archive_agent, list_agents, set_agent_status, show_agent,
};
use convoke_service::failure::Failure;

use self::removal::RmArgs;
use self::rename::RenameArgs;
use self::session::UseArgs;
use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Manage this branch's agents
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add an agent, or change the program or session of one that exists
    Add(AddArgs),
    /// List all agents
    List,
    /// Show one agent
    Show(OneAgent),
    /// Set an agent's status
    Status(StatusArgs),
    /// Archive an agent; prompting it restores it
    Archive(OneAgent),
    Use(UseArgs),
    /// Rename an agent on all branches of the project
    Rename(RenameArgs),
    /// Remove an agent from this branch; its messages stay readable
    Rm(RmArgs),
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// The agent's name
    #[arg(value_parser = AgentName::parse)]
    name: AgentName,

    /// The client that runs the agent
    #[arg(long, default_value = Client::Claude.name(), value_parser = word)]
    client: String,

    /// The client's session to resume for this agent
    #[arg(long, value_name = "ID", value_parser = word)]
    session: Option<String>,
}

#[derive(Debug, clap::Args)]
struct OneAgent {
    /// The agent's name
    #[arg(value_parser = AgentName::parse)]
    name: AgentName,
}

#[derive(Debug, clap::Args)]
struct StatusArgs {
    #[command(flatten)]
    agent: OneAgent,

    /// The status; `blocked` and `failed` also apply to the agent's open task
    #[arg(value_parser = status())]
    status: AgentStatus,
}

fn status() -> impl TypedValueParser<Value = AgentStatus> {
    PossibleValuesParser::new(AgentStatus::ALL.map(AgentStatus::name))
        .try_map(|name| AgentStatus::parse(&name).ok_or("no such status"))
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let agent = match &self.command {
            Command::Add(args) => {
                add_agent(&app.session, &args.name, &args.client, args.session.as_deref())?
            }
            Command::Show(args) => show_agent(&app.session, &args.name)?,
            Command::Status(args) => set_agent_status(&app.session, &args.agent.name, args.status)?,
            Command::Archive(args) => archive_agent(&app.session, &args.name)?,
            Command::Use(args) => return args.run(app, output),
            Command::Rename(args) => return args.run(app, output),
            Command::Rm(args) => return args.run(app, output),
            Command::List => return list(app, output),
        };
        match app.format {
            Format::Json => output.json(&agent)?,
            Format::Text => output.data(&line(&agent))?,
        }
        Ok(Exit::Done)
    }
}

fn list(app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let agents = list_agents(&app.session)?;
    match app.format {
        Format::Json => output.json(&agents)?,
        Format::Text if agents.is_empty() => output.data("No agents.\n")?,
        Format::Text => agents.iter().try_for_each(|agent| output.data(&line(agent)))?,
    }
    Ok(Exit::Done)
}

/// Programs and sessions are named on command lines, so their names need no quotes.
fn word(text: &str) -> Result<String, &'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-:/".contains(c);
    let usable = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
        && text.chars().all(plain);
    if usable { Ok(text.to_owned()) } else { Err("it must be one word without spaces or quotes") }
}

fn line(agent: &AgentProfileReport) -> String {
    let session = agent.session_id.as_ref().map_or(String::new(), |id| format!("  session {id}"));
    let away = if agent.archived_at.is_some() { "  archived" } else { "" };
    format!("@{}  {}  [{}]{session}{away}\n", agent.name, agent.client, agent.status)
}
