//! `convoke pin`: rules of the user that every agent is told again after it forgot.

use clap::{Subcommand, ValueEnum};
use convoke_domain::pin::{MOST, Pin, PinText};
use convoke_domain::task::id::TaskId;
use convoke_store::pin::{NewPin, PinReceipt, Reach};
use jiff::civil::Date;
use jiff::{Timestamp, ToSpan};
use serde::Serialize;

use crate::app::{App, Format};
use crate::clock::now;
use crate::config::wake;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// Pin rules that every agent of the project is told first, after every loss of memory
///
/// Rules are kept in your store, never in a file of the project. They begin every wake-up and the
/// prompt of every lane that works on the project; Convoke never shortens them.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add a rule and print its number
    Add(AddArgs),
    /// List the rules that hold here, with where each arrived last
    List(ListArgs),
    /// Remove a rule
    Rm(RmArgs),
}

/// Where a rule holds.
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

    /// Where it holds [default: project, or task if `--task` is given]
    #[arg(long, value_enum)]
    scope: Option<Scope>,

    /// The task while which is open the rule holds
    #[arg(long, value_name = "ID", required_if_eq("scope", "task"), value_parser = TaskId::parse)]
    task: Option<TaskId>,

    /// The last day on which it holds, such as `2026-12-31`, or `done` for the end of the task
    #[arg(long, value_name = "DATE|done", value_parser = until)]
    until: Option<Until>,
}

/// When a rule ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    Day(Date),
    TaskDone,
}

fn rule_number(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "it must be a rule's number, as `convoke pin list` shows it")
}

fn until(text: &str) -> Result<Until, &'static str> {
    if text == "done" {
        return Ok(Until::TaskDone);
    }
    text.parse().map(Until::Day).map_err(|_| "it must be a day such as 2026-12-31, or `done`")
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Also list the rules of other branches, and those that have ended
    #[arg(long)]
    all: bool,
}

#[derive(Debug, clap::Args)]
struct RmArgs {
    /// The rule's number
    #[arg(value_name = "NUMBER", value_parser = rule_number)]
    id: i64,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum PinError {
    #[error("cannot change your rules: this process works for @{agent}")]
    Agent { agent: String },
    #[error("cannot change your rules: this process runs inside a lane")]
    Lane,
    #[error("cannot change your rules: this process runs in a session of {client}")]
    Session { client: &'static str },
    #[error("cannot add the rule: `--until done` needs `--task ID`")]
    NoTask,
    #[error("cannot add the rule: that day is over")]
    Past,
    #[error("cannot add the rule: {MOST} rules hold here already")]
    Many,
    #[error("there is no rule {id} in this project")]
    NoPin { id: i64 },
}

/// A rule for programs.
#[derive(Debug, Serialize)]
pub(super) struct PinReport {
    id: i64,
    text: String,
    branch: Option<String>,
    task: Option<String>,
    plan: Option<String>,
    until: Option<String>,
    holds: bool,
    created_at: String,
    last_delivery: Option<ReceiptReport>,
}

/// Where a rule arrived last, for programs.
#[derive(Debug, Serialize)]
struct ReceiptReport {
    client: String,
    session: String,
    delivered_at: String,
    arrived_at: Option<String>,
}

impl PinReport {
    fn new(pin: &Pin, holds: &[Pin], receipt: Option<PinReceipt>) -> Self {
        Self {
            id: pin.id,
            text: pin.text.as_str().to_owned(),
            branch: pin.branch.clone(),
            task: pin.task.as_ref().map(ToString::to_string),
            plan: pin.plan.clone(),
            until: pin.until.map(|at| at.to_string()),
            holds: holds.iter().any(|other| other.id == pin.id),
            created_at: pin.created_at.to_string(),
            last_delivery: receipt.map(|receipt| ReceiptReport {
                client: receipt.client,
                session: receipt.session,
                delivered_at: receipt.at.to_string(),
                arrived_at: receipt.arrived_at.map(|at| at.to_string()),
            }),
        }
    }

    /// Says in a line what the rule says and where it holds.
    fn line(&self) -> String {
        let branch = self.branch.as_ref().map(|branch| format!("on {branch}"));
        let task = self.task.as_ref().map(|task| format!("while {task} is open"));
        let until = self.until.as_ref().map(|until| format!("until {until}"));
        let ended = (!self.holds).then(|| "does not hold here now".to_owned());
        let limits: Vec<_> = [branch, task, until, ended].into_iter().flatten().collect();
        let limits =
            if limits.is_empty() { String::new() } else { format!("  ({})", limits.join(", ")) };
        format!("{}  {}{limits}", self.id, self.text)
    }

    /// Says in a line of a status where it arrived last.
    pub(super) fn status(&self) -> String {
        format!("rule {}: {}\n", self.id, self.delivery())
    }

    /// Says where it arrived last.
    fn delivery(&self) -> String {
        match &self.last_delivery {
            None => "not delivered yet".to_owned(),
            Some(ReceiptReport { client, session, delivered_at, arrived_at }) => {
                let arrived = if arrived_at.is_some() {
                    "; arrived: seen in the client's record"
                } else {
                    ""
                };
                format!("last delivered {delivered_at} to {client}, session {session}{arrived}")
            }
        }
    }
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Add(args) => args.run(app, output),
            Command::List(args) => list(app, args, output),
            Command::Rm(args) => {
                refuse_agents(app)?;
                let Workspace { store, scope } = Workspace::open(app, None)?;
                if !store.remove_pin(&scope.project, args.id, now()).map_err(refused)? {
                    let error = PinError::NoPin { id: args.id };
                    return Err(Failure::new(ErrorClass::Refused, error)
                        .hint("run `convoke pin list --all`"));
                }
                match app.format {
                    Format::Json => output.json(&serde_json::json!({ "removed": args.id }))?,
                    Format::Text => output.data(&format!("removed rule {}\n", args.id))?,
                }
                Ok(Exit::Done)
            }
        }
    }
}

impl AddArgs {
    fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        refuse_agents(app)?;
        if self.until == Some(Until::TaskDone) && self.task.is_none() {
            let hint = "name the task: `convoke pin add TEXT --task ID`";
            return Err(Failure::new(ErrorClass::Usage, PinError::NoTask).hint(hint));
        }
        let workspace = Workspace::open(app, None)?;
        let reach = match (self.scope, &self.task) {
            (Some(Scope::Project), _) | (None, None) => Reach::Project,
            (Some(Scope::Branch | Scope::Task), _) | (None, Some(_)) => Reach::Branch,
        };
        let until = self.last_moment(app)?;
        let new = NewPin { text: &self.text, reach, task: self.task.as_ref(), plan: None, until };
        add(app, &workspace, &new, output)
    }

    /// Returns the end of the last day, by the clock that times are shown by.
    fn last_moment(&self, app: &App) -> Result<Option<Timestamp>, Failure> {
        let Some(Until::Day(day)) = self.until else { return Ok(None) };
        let clock = wake::settings(app)?.clock;
        let next = day.saturating_add(1.day()).at(0, 0, 0, 0);
        let end = clock.to_timestamp(next).ok();
        match end.filter(|end| *end > now()) {
            Some(end) => Ok(Some(end)),
            None => Err(Failure::new(ErrorClass::Usage, PinError::Past)),
        }
    }
}

/// Adds a rule and shows it.
pub(super) fn add(
    app: &App,
    workspace: &Workspace,
    new: &NewPin<'_>,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Workspace { store, scope } = workspace;
    // Cancelling a plan must always be possible.
    let holding = store.pins(scope, now()).map_err(refused)?;
    let rules = holding.iter().filter(|pin| pin.plan.is_none()).count();
    if rules >= MOST && new.plan.is_none() {
        return Err(
            Failure::new(ErrorClass::Refused, PinError::Many).hint("remove some: `convoke pin rm`")
        );
    }
    let pin = store.add_pin(scope, new, now()).map_err(refused)?;
    let holds = store.pins(scope, now()).map_err(refused)?;
    let report = PinReport::new(&pin, &holds, None);
    if !report.holds {
        output.say("note: the task is closed, so the rule does not hold now");
    }
    match app.format {
        Format::Json => output.json(&report)?,
        Format::Text => output.data(&format!("{}\n", report.line()))?,
    }
    Ok(Exit::Done)
}

/// Only the user changes rules: an agent could otherwise remove what it must not do.
pub(super) fn refuse_agents(app: &App) -> Result<(), Failure> {
    if app.environment.is_in_lane() {
        let hint = "run it in your own shell, outside of a lane";
        return Err(Failure::new(ErrorClass::Refused, PinError::Lane).hint(hint));
    }
    if let Some(agent) = app.environment.agent() {
        let error = PinError::Agent { agent: agent.to_string_lossy().into_owned() };
        let hint = "run it in your own shell, without CONVOKE_AGENT";
        return Err(Failure::new(ErrorClass::Refused, error).hint(hint));
    }
    let Some((client, _)) = app.environment.client_sessions().pop() else { return Ok(()) };
    let error = PinError::Session { client: client.name() };
    Err(Failure::new(ErrorClass::Refused, error)
        .hint("only the user does this, in their own terminal"))
}

/// Reads the rules that hold here, or all, with where each arrived last.
pub(super) fn reports(workspace: &Workspace, all: All) -> Result<Vec<PinReport>, Failure> {
    let Workspace { store, scope } = workspace;
    let holds = store.pins(scope, now()).map_err(refused)?;
    let shown = match all {
        All::Here => holds.clone(),
        All::Everything => store.all_pins(&scope.project).map_err(refused)?,
    };
    let report = |pin: &Pin| {
        let receipt = store.last_receipt(pin.id).map_err(refused)?;
        Ok(PinReport::new(pin, &holds, receipt))
    };
    shown.iter().map(report).collect()
}

/// Which rules are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum All {
    /// Those that hold here.
    Here,
    /// Those of the whole project, also those that have ended.
    Everything,
}

fn list(app: &App, args: &ListArgs, output: &mut Output) -> Result<Exit, Failure> {
    let workspace = Workspace::open(app, None)?;
    let all = if args.all { All::Everything } else { All::Here };
    let reports = reports(&workspace, all)?;
    match app.format {
        Format::Json => output.json(&reports)?,
        Format::Text if reports.is_empty() => output.data("No pinned rules.\n")?,
        Format::Text => {
            for report in &reports {
                output.data(&format!("{}\n    {}\n", report.line(), report.delivery()))?;
            }
        }
    }
    Ok(Exit::Done)
}
