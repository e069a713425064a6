//! `convoke pin`: rules of the user that Convoke gives every agent again after a loss of memory.

use clap::{Subcommand, ValueEnum};
use convoke_domain::pin::PinText;
use convoke_domain::task::id::TaskId;
use convoke_service::failure::Failure;
use convoke_service::pin::{
    AddPinRequest, PinEnd, PinList, PinReport, PinScope, add_pin, list_pins, remove_pin,
};
use convoke_service::settings::wake;

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;

/// Pin rules that every agent of this project receives first
///
/// Convoke puts the rules at the start of every wake-up and of the prompt of every lane in the
/// project, and never shortens them. It keeps them in your store, not in a file of the project.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add a rule and print its number
    Add(AddArgs),
    /// List the rules in force here, and the last place each was delivered to
    List(ListArgs),
    /// Remove a rule
    Rm(RmArgs),
}

/// The scope of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Scope {
    /// On every branch of the project
    Project,
    /// On this branch
    Branch,
    /// On this branch, while the task of `--task` is open
    Task,
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// The rule, on one line of at most 2000 characters
    #[arg(value_name = "TEXT", value_parser = PinText::parse)]
    text: PinText,

    /// Where the rule applies [default: project, or task if `--task` is given]
    #[arg(long, value_enum)]
    scope: Option<Scope>,

    /// Apply the rule while this task is open
    #[arg(long, value_name = "ID", required_if_eq("scope", "task"), value_parser = TaskId::parse)]
    task: Option<TaskId>,

    /// The last day of the rule, such as `2026-12-31`, or `done` to end it with the task
    #[arg(long, value_name = "DATE|done", value_parser = until)]
    until: Option<PinEnd>,
}

fn rule_number(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "it must be a rule's number, as `convoke pin list` shows it")
}

fn until(text: &str) -> Result<PinEnd, &'static str> {
    if text == "done" {
        return Ok(PinEnd::TaskDone);
    }
    text.parse().map(PinEnd::Day).map_err(|_| "it must be a day such as 2026-12-31, or `done`")
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Also list rules of other branches and expired ones
    #[arg(long)]
    all: bool,
}

#[derive(Debug, clap::Args)]
struct RmArgs {
    /// The rule's number
    #[arg(value_name = "NUMBER", value_parser = rule_number)]
    id: i64,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Add(args) => print(&add_pin(&app.session, &args.request())?, app, output),
            Command::List(args) => {
                let list = if args.all { PinList::Everything } else { PinList::Here };
                print_all(&list_pins(&app.session, list)?, app, output)
            }
            Command::Rm(args) => {
                let removed = remove_pin(&app.session, args.id)?;
                match app.format {
                    Format::Json => output.json(&removed)?,
                    Format::Text => output.data(&format!("removed rule {}\n", args.id))?,
                }
                Ok(Exit::Done)
            }
        }
    }
}

impl AddArgs {
    fn request(&self) -> AddPinRequest {
        AddPinRequest {
            text: self.text.clone(),
            scope: self.scope.map(|scope| match scope {
                Scope::Project => PinScope::Project,
                Scope::Branch => PinScope::Branch,
                Scope::Task => PinScope::Task,
            }),
            task: self.task.clone(),
            until: self.until,
            branch: None,
        }
    }
}

/// Prints a rule that was added.
pub(super) fn print(report: &PinReport, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(report)?,
        Format::Text => output.data(&format!("{}\n", report.line()))?,
    }
    Ok(Exit::Done)
}

fn print_all(reports: &[PinReport], app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(&reports)?,
        Format::Text if reports.is_empty() => output.data("No pinned rules.\n")?,
        Format::Text => {
            let clock = wake::settings(&app.session)?.clock;
            for report in reports {
                let text = format!("{}\n    {}\n", report.line(), report.delivery(clock));
                output.lines(&text, 4)?;
            }
        }
    }
    Ok(Exit::Done)
}
