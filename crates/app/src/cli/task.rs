//! `convoke task`: the work tree of the current branch.

mod change;
mod import;
mod list;
mod report;
mod tree;

use clap::Subcommand;
use convoke_domain::scope::AgentName;
use convoke_domain::task::Status;
use convoke_domain::task::id::TaskId;
use convoke_store::task::{Change, NewTask, TaskStore};

use crate::app::{App, Format};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, agent_name, refused};

/// Keep a tree of tasks that outlives every session
///
/// Tasks belong to a project and a branch; worktrees of one repository share the project. Ids are
/// short: `t-` and five digits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Work on another branch's tasks
    #[arg(long, global = true, value_name = "NAME")]
    branch: Option<String>,

    /// Who is doing this [default: `CONVOKE_AGENT`, else human]
    #[arg(long = "as", global = true, value_name = "AGENT", value_parser = agent_name)]
    actor: Option<AgentName>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add tasks and print their ids, one per title
    Add(AddArgs),
    /// List the tasks at the top
    List,
    /// Show all tasks as a tree, with the current one marked
    Tree,
    /// Show one task with its parts
    Show(OneTask),
    #[command(flatten)]
    Change(ChangeCommand),
    /// Remove a task with everything below it
    Rm(OneTask),
    /// Add the `### Task N` sections of a plan as tasks
    Import(import::Args),
}

/// Commands that change one task.
#[derive(Debug, Subcommand)]
enum ChangeCommand {
    /// Begin a task
    Start(OneTask),
    /// Complete a task
    Done(OneTask),
    /// Leave a task out
    Skip(OneTask),
    /// Put a remark on a task
    Note(NoteArgs),
    /// Make a task part of another, or of none
    Move(MoveArgs),
    /// Give a task to an agent, or to nobody
    Assign(AssignArgs),
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// What is to be done; each title is a task
    #[arg(required = true, value_name = "TITLE", value_parser = title)]
    titles: Vec<String>,

    /// The task they are part of
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    parent: Option<TaskId>,

    /// The plan they come from, relative to the project [default: the parent's]
    #[arg(long, value_name = "FILE")]
    plan: Option<String>,

    /// Who does them
    #[arg(long, value_name = "AGENT", value_parser = agent_name)]
    agent: Option<AgentName>,

    /// The skill to work by; further ones after commas are only referred to
    #[arg(long)]
    skill: Option<String>,
}

#[derive(Debug, clap::Args)]
struct OneTask {
    /// The task
    #[arg(value_name = "ID", value_parser = TaskId::parse)]
    id: TaskId,
}

#[derive(Debug, clap::Args)]
struct NoteArgs {
    #[command(flatten)]
    task: OneTask,

    /// The remark
    text: String,
}

#[derive(Debug, clap::Args)]
struct MoveArgs {
    #[command(flatten)]
    task: OneTask,

    /// The task it becomes part of [default: none, it goes to the top]
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    under: Option<TaskId>,
}

#[derive(Debug, clap::Args)]
struct AssignArgs {
    #[command(flatten)]
    task: OneTask,

    /// The agent [default: nobody]
    #[arg(value_parser = agent_name)]
    agent: Option<AgentName>,
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::open(app, self.branch.as_deref())?;
        let actor = self.actor.as_ref();
        match &self.command {
            Command::Add(args) => args.run(&workspace, app, output),
            Command::Tree => tree::tree(&workspace, app, output),
            Command::Show(args) => list::show(&workspace, app, &args.id, output),
            Command::Change(command) => {
                let (id, change) = command.change();
                change::apply(&workspace, app, actor, id, &change, output)
            }
            Command::Rm(args) => change::remove(&workspace, app, actor, &args.id, output),
            Command::Import(args) => args.run(&workspace, app, output),
            Command::List => list::list(&workspace, app, output),
        }
    }
}

impl ChangeCommand {
    /// Returns the task and the change to it.
    fn change(&self) -> (&TaskId, Change<'_>) {
        match self {
            Self::Start(args) => (&args.id, Change::Status(Status::InProgress)),
            Self::Done(args) => (&args.id, Change::Status(Status::Completed)),
            Self::Skip(args) => (&args.id, Change::Status(Status::Skipped)),
            Self::Note(args) => (&args.task.id, Change::Note(&args.text)),
            Self::Move(args) => (&args.task.id, Change::Parent(args.under.as_ref())),
            Self::Assign(args) => (&args.task.id, Change::Agent(args.agent.as_ref())),
        }
    }
}

impl AddArgs {
    fn run(&self, workspace: &Workspace, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let add = |title: &String| {
            let task = NewTask {
                parent: self.parent.as_ref(),
                plan_file: self.plan.as_deref(),
                content: title,
                agent: self.agent.as_ref(),
                skill: self.skill.as_deref(),
            };
            workspace.store.add_task(&workspace.scope, &task, now()).map_err(refused)
        };
        let ids = self.titles.iter().map(add).collect::<Result<Vec<_>, _>>()?;
        print_ids(&ids, app, output)
    }
}

/// Prints new ids: one per line, or as JSON objects.
fn print_ids(ids: &[TaskId], app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let objects: Vec<_> = ids.iter().map(|id| report::NewId { id: id.as_str() }).collect();
    match (app.format, objects.as_slice()) {
        (Format::Json, [one]) => output.json(one)?,
        (Format::Json, many) => output.json(&many)?,
        (Format::Text, _) => ids.iter().try_for_each(|id| output.data(&format!("{id}\n")))?,
    }
    Ok(Exit::Done)
}

/// A title is one filled line.
fn title(text: &str) -> Result<String, &'static str> {
    let title = text.trim();
    if title.is_empty() {
        Err("a title must not be empty")
    } else if title.contains(char::is_control) {
        Err("a title is one line")
    } else {
        Ok(title.to_owned())
    }
}
