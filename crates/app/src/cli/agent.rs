//! `convoke agent`: who works on this branch.

mod removal;
mod rename;
mod session;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::agent::{Agent, AgentStatus};
use convoke_domain::client::Client;
use convoke_domain::scope::AgentName;
use convoke_store::agent::AgentChange;
use convoke_store::error::StoreError;
use serde::Serialize;

use self::removal::RmArgs;
use self::rename::RenameArgs;
use self::session::UseArgs;
use crate::app::{App, Format};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused};

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
    /// Say what an agent is doing
    Status(StatusArgs),
    /// Put an agent away; prompting it takes it out again
    Archive(OneAgent),
    /// Bind the present session to an agent
    Use(UseArgs),
    /// Give an agent another name, on all branches of the project
    Rename(RenameArgs),
    /// Remove an agent from this branch; its messages stay readable
    Rm(RmArgs),
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// Its name
    #[arg(value_parser = AgentName::parse)]
    name: AgentName,

    /// The program that runs it
    #[arg(long, default_value = Client::Claude.name(), value_parser = word)]
    client: String,

    /// The client's session that resumes it
    #[arg(long, value_name = "ID", value_parser = word)]
    session: Option<String>,
}

#[derive(Debug, clap::Args)]
struct OneAgent {
    /// Its name
    #[arg(value_parser = AgentName::parse)]
    name: AgentName,
}

#[derive(Debug, clap::Args)]
struct StatusArgs {
    #[command(flatten)]
    agent: OneAgent,

    /// What it is doing; an open task of a blocked or failed agent counts as blocked or failed
    #[arg(value_parser = status())]
    status: AgentStatus,
}

fn status() -> impl TypedValueParser<Value = AgentStatus> {
    PossibleValuesParser::new(AgentStatus::ALL.map(AgentStatus::name))
        .try_map(|name| AgentStatus::parse(&name).ok_or("no such status"))
}

#[derive(Debug, thiserror::Error)]
#[error("cannot add `human`: it is the person at the keyboard")]
struct HumanAgent;

#[derive(Serialize)]
struct Report<'a> {
    name: &'a str,
    client: &'a str,
    status: &'static str,
    session_id: Option<&'a str>,
    last_seen_message_id: Option<i64>,
    compacted_at: Option<String>,
    archived_at: Option<String>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::open(app, None)?;
        let Workspace { store, scope } = &workspace;
        match &self.command {
            Command::Add(args) if args.name.is_human() => {
                Err(Failure::new(ErrorClass::Usage, HumanAgent)
                    .hint("`@human` reaches a person as it is"))
            }
            Command::Add(args) => {
                store.add_agent(scope, &args.name, &args.client).map_err(refused)?;
                if let Some(session) = &args.session {
                    let change = AgentChange::Session(session);
                    store.change_agent(scope, &args.name, &change).map_err(refused)?;
                }
                show(&workspace, &args.name, app, output)
            }
            Command::Show(args) => show(&workspace, &args.name, app, output),
            Command::Status(args) => {
                let change = AgentChange::Status(args.status);
                store.change_agent(scope, &args.agent.name, &change).map_err(refused)?;
                show(&workspace, &args.agent.name, app, output)
            }
            Command::Archive(args) => {
                let change = AgentChange::Archived(Some(now()));
                store.change_agent(scope, &args.name, &change).map_err(refused)?;
                show(&workspace, &args.name, app, output)
            }
            Command::Use(args) => args.run(&workspace, app, output),
            Command::Rename(args) => args.run(&workspace, app, output),
            Command::Rm(args) => args.run(&workspace, app, output),
            Command::List => {
                let agents = store.agents(scope).map_err(refused)?;
                match app.format {
                    Format::Json => output.json(&agents.iter().map(report).collect::<Vec<_>>())?,
                    Format::Text if agents.is_empty() => output.data("No agents.\n")?,
                    Format::Text => agents.iter().try_for_each(|it| output.data(&line(it)))?,
                }
                Ok(Exit::Done)
            }
        }
    }
}

fn show(
    workspace: &Workspace,
    name: &AgentName,
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let found = workspace.store.agent(&workspace.scope, name).map_err(refused)?;
    let agent = found.ok_or_else(|| refused(StoreError::NoAgent { name: name.clone() }))?;
    match app.format {
        Format::Json => output.json(&report(&agent))?,
        Format::Text => output.data(&line(&agent))?,
    }
    Ok(Exit::Done)
}

/// Programs and sessions are named on command lines, so their names need no quotes.
fn word(text: &str) -> Result<String, &'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-:/".contains(c);
    let usable = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '/')
        && text.chars().all(plain);
    if usable { Ok(text.to_owned()) } else { Err("it must be one plain word") }
}

fn line(agent: &Agent) -> String {
    let session = agent.session_id.as_ref().map_or(String::new(), |id| format!("  session {id}"));
    let away = if agent.archived_at.is_some() { "  archived" } else { "" };
    format!("@{}  {}  [{}]{session}{away}\n", agent.name, agent.client, agent.status.name())
}

fn report(agent: &Agent) -> Report<'_> {
    Report {
        name: agent.name.as_str(),
        client: &agent.client,
        status: agent.status.name(),
        session_id: agent.session_id.as_deref(),
        last_seen_message_id: agent.last_seen,
        compacted_at: agent.compacted_at.map(|at| at.to_string()),
        archived_at: agent.archived_at.map(|at| at.to_string()),
    }
}
