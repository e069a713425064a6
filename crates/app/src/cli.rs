//! The command line. Doc comments on arguments are the help texts.

pub mod acp_bridge;
pub mod agent;
pub mod agents;
pub mod attend;
pub mod brief;
pub mod compare;
pub mod completions;
pub mod config;
pub mod decide;
pub mod design;
pub mod dispatch;
pub mod doctor;
pub mod fan;
pub mod fleet;
pub mod guard;
pub mod help;
#[cfg(test)]
mod hint_flags;
pub mod hook;
pub mod hooks;
pub mod inbox;
pub mod init;
pub mod lane;
pub mod man;
pub mod manifest;
pub mod mcp;
pub mod mermaid;
mod otel;
pub mod pack;
pub mod pin;
pub mod plan;
pub mod plumbing;
pub mod project;
pub mod prompt;
pub mod runs;
mod sarif;
pub mod say;
pub mod serve;
mod sheet;
pub mod skill;
pub mod status;
pub mod statusline;
pub mod store;
pub mod subagent;
pub mod sync;
mod table;
pub mod task;
pub mod team;
pub mod tree;
pub mod upgrade;
pub mod usage;
pub mod verify;
pub mod wake;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use convoke_service::environment::Environment;
use convoke_service::replica::{is_refresh_due, refresh_after};
use convoke_service::session::project_root;

use crate::app::{App, Format, Verbosity};
use crate::env;
use crate::exit::Exit;
use crate::log;
use crate::output::Output;
use convoke_service::failure::Failure;
use convoke_service::settings::SessionSettings;
use convoke_service::settings::remark::remarks;

/// Keep coding agents on task, prove what they read, plan with several
#[derive(Debug, Parser)]
#[command(name = "convoke", version, propagate_version = true, after_help = AFTER_HELP)]
pub struct Cli {
    /// Work on the project in this folder [default: the nearest folder at or above the current one
    /// that holds `.moai`, `convoke.toml` or `.git`]
    #[arg(short = 'C', long, value_name = "DIR", global = true)]
    project: Option<PathBuf>,

    /// Print one JSON document on stdout; a command that keeps running, such as `attend`, prints
    /// one per line
    #[arg(long, global = true)]
    json: bool,

    /// Show diagnostics: configuration remarks, dropped documents
    #[arg(short, long, global = true)]
    verbose: bool,

    /// Write a log to stderr: a level (error, warn, info, debug, trace), or levels of areas such as
    /// `info,engine::lane=debug` [default: `CONVOKE_LOG`, or no log]
    #[arg(long, value_name = "FILTER", global = true, hide_short_help = true, display_order = 900)]
    log: Option<OsString>,

    /// Append the log to this file instead, at level info unless a filter is given [default:
    /// `CONVOKE_LOG_FILE`]
    #[arg(long, value_name = "PATH", global = true, hide_short_help = true, display_order = 901)]
    log_file: Option<PathBuf>,

    /// Shared by the command and the remarks on the configuration after it.
    #[arg(skip)]
    settings: SessionSettings,

    #[command(subcommand)]
    command: Command,
}

// A command line needs the options of one command, so clap builds no other's.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    Brief(brief::Args),
    Pack(pack::PackArgs),
    Dispatch(Box<dispatch::Args>),
    Design(Box<design::Args>),
    Fan(Box<fan::FanArgs>),
    Runs(runs::RunsArgs),
    Show(runs::ShowArgs),
    Resume(runs::ResumeArgs),
    Replay(runs::ReplayArgs),
    Recount(runs::RecountArgs),
    Verify(verify::VerifyArgs),
    Decide(Box<decide::Args>),
    Compare(compare::Args),
    Manifest(manifest::Args),
    Task(task::Args),
    Project(project::Args),
    Plan(plan::Args),
    Pin(pin::Args),
    Say(say::Args),
    Inbox(inbox::Args),
    Agent(agent::Args),
    Wake(wake::Args),
    Prompt(prompt::Args),
    Attend(attend::Args),
    Subagent(subagent::Args),
    Skill(skill::Args),
    Hook(hook::Args),
    Hooks(hooks::Args),
    Mcp(mcp::McpArgs),
    Init(init::InitArgs),
    Status(status::StatusArgs),
    Serve(serve::ServeArgs),
    Statusline(statusline::StatuslineArgs),
    Config(config::ConfigArgs),
    Upgrade(upgrade::UpgradeArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
    Lane(lane::Args),
    Fleet(fleet::FleetArgs),
    Usage(usage::Args),
    Agents(agents::Args),
    Doctor(doctor::Args),
    Tree(tree::Args),
    Mermaid(mermaid::Args),
    Plumbing(plumbing::Args),
    Store(store::Args),
    Sync(sync::SyncArgs),
    Team(team::TeamArgs),
}

const AFTER_HELP: &str = "\
Results go to stdout, messages to stderr. Exit codes: 0 success, 1 the check \
failed, 2 wrong usage or configuration, 3 a prerequisite is missing, 4 an agent \
gave no answer, 5 the budget is spent, 6 a read-only agent modified the working \
tree, 70 a bug in Convoke, 130 interrupted.

Settings come from flags, CONVOKE_* variables, convoke.local.toml, convoke.toml, \
.moai/config/sections/design.yaml and your config.toml, in this order.";

impl Cli {
    /// Runs the chosen command.
    pub fn run(&self, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Brief(args) => args.run(&self.app()?, output),
            Command::Pack(args) => args.run(&self.app()?, output),
            Command::Dispatch(args) => args.run(&self.app()?, output),
            Command::Design(args) => args.run(&self.app()?, output),
            Command::Fan(args) => args.run(&self.app()?, output),
            Command::Runs(args) => args.run(&self.app()?, output),
            Command::Show(args) => args.run(&self.app()?, output),
            Command::Resume(args) => args.run(&self.app()?, output),
            Command::Replay(args) => args.run(&self.app()?, output),
            Command::Recount(args) => args.run(&self.app()?, output),
            Command::Verify(args) => args.run(&self.app()?, output),
            Command::Decide(args) => args.run(&self.app()?, output),
            Command::Compare(args) => args.run(&self.app()?, output),
            Command::Manifest(args) => args.run(&self.app()?, output),
            Command::Task(args) => args.run(&self.app()?, output),
            Command::Project(args) => args.run(&self.app()?, output),
            Command::Plan(args) => args.run(&self.app()?, output),
            Command::Pin(args) => args.run(&self.app()?, output),
            Command::Say(args) => args.run(&self.app()?, output),
            Command::Inbox(args) => args.run(&self.app()?, output),
            Command::Agent(args) => args.run(&self.app()?, output),
            Command::Wake(args) => args.run(&self.app()?, output),
            Command::Prompt(args) => args.run(&self.app()?, output),
            Command::Attend(args) => args.run(&self.app()?, output),
            Command::Subagent(args) => args.run(&self.app()?, output),
            Command::Skill(args) => args.run(&self.app()?, output),
            Command::Hooks(args) => args.run(&self.app()?, output),
            Command::Mcp(args) => args.run(&self.app()?, output),
            Command::Init(args) => args.run(&self.app()?, output),
            Command::Status(args) => args.run(&self.app()?, output),
            Command::Serve(args) => args.run(&self.app()?, output),
            // A client shows no line after an error, so no step here may fail.
            Command::Statusline(_) => statusline::run(self.project.clone(), self.format(), output),
            Command::Config(args) => args.run(&self.app()?, output),
            Command::Upgrade(args) => args.run(&self.app()?, output),
            Command::Completions(args) => args.run(output),
            Command::Man(args) => args.run(output),
            Command::Lane(args) => args.run(&self.app()?, output),
            Command::Fleet(args) => args.run(&self.app()?, output),
            Command::Usage(args) => args.run(&self.app()?, output),
            Command::Agents(args) => args.run(&self.app()?, output),
            Command::Doctor(args) => args.run(&self.app()?, output),
            Command::Tree(args) => args.run(&self.app()?, output),
            Command::Mermaid(args) => args.run(&self.app()?, output),
            Command::Plumbing(args) => args.run(&self.app_anywhere(), output),
            Command::Store(args) => args.run(&self.app()?, output),
            Command::Sync(args) => args.run(&self.app()?, output),
            Command::Team(args) => args.run(&self.app()?, output),
            // The client names the project, and no step here may fail.
            Command::Hook(args) => args.run(self.verbosity(), output),
        }
    }

    /// Starts the requested log.
    pub fn start_log(&self, output: &mut Output) -> Result<(), Failure> {
        let wish = log::LogWish::new(self.log.clone(), self.log_file.clone(), &env::captured());
        if self.is_hook() {
            wish.start_for_hook(output);
            return Ok(());
        }
        wish.start(output)
    }

    /// Warns the user of errors in the configuration files, whether or not the command reads that
    /// part of them. Not for hooks, whose output the client shows its agent, nor for the doctor,
    /// which has its own check.
    pub fn remark_on_configuration(&self, told: Option<&Failure>, output: &Output) {
        if matches!(self.command, Command::Hook(_) | Command::Statusline(_) | Command::Doctor(_)) {
            return;
        }
        let Ok(app) = self.app() else { return };
        for line in remarks(&app.session, told) {
            output.say(&format!("warning: {line}"));
        }
    }

    /// Refreshes the copy of the server's store that hooks use, if the command had that server open.
    pub fn refresh_copy(&self) {
        if is_refresh_due(&self.settings)
            && let Ok(app) = self.app()
        {
            refresh_after(&app.session);
        }
    }

    /// Tells whether a client called.
    pub const fn is_hook(&self) -> bool {
        matches!(self.command, Command::Hook(_))
    }

    /// Tells whether a command line that cannot be parsed calls `hook`. Only the word in the place of
    /// the command counts, after options, known or not.
    pub fn names_hook(words: &[OsString]) -> bool {
        let mut words = words.iter().skip(1).map(|word| word.to_string_lossy());
        while let Some(word) = words.next() {
            if word == "--" || !word.starts_with('-') {
                return word == "hook";
            }
            // `-C DIR`, also as `-vC DIR`; in `-CDIR` the folder is part of the word.
            let is_short = !word.starts_with("--") && word.find('C') == Some(word.len() - 1);
            if is_short || word == "--project" {
                words.next();
            }
        }
        false
    }

    /// Returns the environment; a worker process receives the log's flags through it.
    fn environment(&self) -> Environment {
        env::captured().logging(self.log.as_deref(), self.log_file.as_deref())
    }

    fn app(&self) -> Result<App, Failure> {
        let environment = self.environment();
        let project = project_root(self.project.as_deref(), &environment)?;
        Ok(self.app_in(project, environment))
    }

    /// A script's step may run where no folder is any more, and has answers of its own for that.
    fn app_anywhere(&self) -> App {
        let environment = self.environment();
        let named = || self.project.clone().unwrap_or_else(|| PathBuf::from("."));
        let project =
            project_root(self.project.as_deref(), &environment).unwrap_or_else(|_| named());
        self.app_in(project, environment)
    }

    fn app_in(&self, project: PathBuf, environment: Environment) -> App {
        let mut app = App::new(project, environment, self.format(), self.verbosity());
        app.session = app.session.with_settings(self.settings.clone());
        app
    }

    const fn format(&self) -> Format {
        if self.json { Format::Json } else { Format::Text }
    }

    fn verbosity(&self) -> Verbosity {
        if self.verbose { Verbosity::Verbose } else { Verbosity::Normal }
    }
}

/// Reads a count on the command line.
fn at_least_one(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "it must be a whole number from 1 on")
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
