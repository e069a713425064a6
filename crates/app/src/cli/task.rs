//! `convoke task`: the work tree of the current branch.

mod edit;
mod history;
mod import;
mod list;
mod moving;
mod tree;
pub(super) mod verdict;

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::scope::AgentName;
use convoke_domain::skill::{InvalidSkillId, SkillId};
use convoke_domain::task::Task;
use convoke_domain::task::deed::DeedKind;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::priority::TaskPriority;
use convoke_service::failure::Failure;
use convoke_service::task::{
    AddTasksRequest, AddedTasksReport, NextTask, TaskDesk, TaskPlace, TaskReport, TaskStep,
    add_tasks, change_current_task, filled_line, next_task, remove_task, show_task, start_task,
    task_report,
};

use crate::app::{App, Format};
use crate::exit::Exit;
use crate::output::Output;
use crate::terminal::styled::StyledLine;

/// Manage a tree of tasks that outlives every session
///
/// Tasks belong to a project and a branch; worktrees of one repository share the project. An id is
/// `t-` and five hexadecimal digits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Work on another branch's tasks
    #[arg(long, global = true, value_name = "NAME", value_parser = filled_line)]
    branch: Option<String>,

    /// The agent that makes the change [default: `CONVOKE_AGENT`, else the agent of the client's
    /// session, else human]
    #[arg(long = "as", global = true, value_name = "AGENT", value_parser = AgentName::parse)]
    actor: Option<AgentName>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add tasks and print their ids, one per title
    Add(AddArgs),
    /// List the top-level tasks, or every task that matches the filters
    List(list::ListArgs),
    /// List tasks that contain all of these words
    ///
    /// Searches titles, descriptions, notes, ids, and the tasks' sections in their plans.
    Search(list::SearchArgs),
    /// Show all tasks as a tree, with the current one marked
    Tree,
    /// Show one task with its subtasks
    Show(OneTask),
    /// Show the next task to start
    ///
    /// Shows the first task of the highest priority that is not started, waits for no open task and
    /// has no open subtasks. Offers an agent its own tasks and unassigned ones. Exits 1 if there is
    /// no such task.
    Next,
    /// Start a task; without an id, the next one
    Start(StartArgs),
    #[command(flatten)]
    Change(ChangeCommand),
    /// Change a task's title, body, priority or prerequisites
    Edit(edit::EditArgs),
    /// Move a task before or after its siblings
    Reorder(edit::ReorderArgs),
    /// Move tasks below another task, to the top level or to another branch
    ///
    /// With `--branch NAME` the tasks go to that branch; with `--from-branch NAME` they come from there.
    Move(moving::MoveArgs),
    /// Record that a role approved a task
    Pass(verdict::Args),
    /// Record that a role rejected a task, which then has to be redone
    Fail(verdict::Args),
    /// Remove a task and its subtasks
    Rm(OneTask),
    /// Restore a removed task; without an id, list the removed tasks
    Restore(history::RestoreArgs),
    /// Undo the last change to this branch's tasks; repeat to undo more
    Undo,
    /// List who changed which task and when, oldest first
    Log(history::LogArgs),
    /// Import tasks from a plan's `### Task N` sections or another program
    Import(import::Args),
}

/// Commands that change one task.
#[derive(Debug, Subcommand)]
enum ChangeCommand {
    /// Complete a task, and skip its open subtasks
    Done(CurrentTaskArgs),
    /// Skip a task and its open subtasks
    Skip(OneTask),
    /// Add a note to a task
    Note(NoteArgs),
    /// Assign a task to an agent, or unassign it
    Assign(AssignArgs),
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// The title of a task; may be repeated
    #[arg(required = true, value_name = "TITLE", value_parser = filled_line)]
    titles: Vec<String>,

    /// Add them as subtasks of this task
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    parent: Option<TaskId>,

    /// The plan that describes them, relative to the project [default: the parent's]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    /// Assign them to this agent
    #[arg(long, value_name = "AGENT", value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// The skill for the work; the wake-up only names further skills after commas
    #[arg(long, value_parser = skills)]
    skill: Option<String>,

    /// The version of that skill
    #[arg(long, value_name = "VERSION", requires = "skill", value_parser = filled_line)]
    skill_version: Option<String>,

    /// A description of the tasks
    #[arg(long, value_name = "TEXT")]
    body: Option<String>,

    /// A task that must be finished before them; may be repeated
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    after: Vec<TaskId>,

    /// Their priority among their siblings
    #[arg(long, value_parser = priority(), default_value = TaskPriority::Normal.name())]
    priority: TaskPriority,
}

#[derive(Debug, clap::Args)]
struct OneTask {
    /// The task
    #[arg(value_name = "ID", value_parser = TaskId::parse)]
    id: TaskId,
}

#[derive(Debug, clap::Args)]
struct StartArgs {
    /// The task [default: the one that `convoke task next` shows]
    #[arg(value_name = "ID", value_parser = TaskId::parse)]
    id: Option<TaskId>,
}

#[derive(Debug, clap::Args)]
struct CurrentTaskArgs {
    /// The task [default: the one that is in progress]
    #[arg(value_name = "ID", value_parser = TaskId::parse)]
    id: Option<TaskId>,
}

#[derive(Debug, clap::Args)]
struct NoteArgs {
    #[command(flatten)]
    task: OneTask,

    /// The note, on one line
    #[arg(value_parser = filled_line)]
    text: String,
}

#[derive(Debug, clap::Args)]
struct AssignArgs {
    #[command(flatten)]
    task: OneTask,

    /// The agent; without one, the task is unassigned
    #[arg(value_parser = AgentName::parse)]
    agent: Option<AgentName>,
}

impl Command {
    /// Tells whether the command changes no task.
    const fn only_reads(&self) -> bool {
        match self {
            Self::List(_)
            | Self::Search(_)
            | Self::Tree
            | Self::Show(_)
            | Self::Next
            | Self::Log(_) => true,
            Self::Restore(args) => args.only_lists(),
            Self::Add(_)
            | Self::Start(_)
            | Self::Change(_)
            | Self::Edit(_)
            | Self::Reorder(_)
            | Self::Move(_)
            | Self::Pass(_)
            | Self::Fail(_)
            | Self::Rm(_)
            | Self::Undo
            | Self::Import(_) => false,
        }
    }
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let place = TaskPlace { branch: self.branch.clone(), actor: self.actor.clone() };
        let run = |desk: &TaskDesk<'_>| self.run_at(desk, app, output);
        if self.command.only_reads() {
            TaskDesk::open_to_read(&app.session, &place, run)
        } else {
            TaskDesk::open(&app.session, &place, run)
        }
    }

    fn run_at(&self, desk: &TaskDesk<'_>, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        match &self.command {
            Command::Add(args) => print_added(&add_tasks(desk, &args.request())?, app, output),
            Command::List(args) => args.run(desk, app, output),
            Command::Search(args) => args.run(desk, app, output),
            Command::Tree => tree::tree(desk, app, output),
            Command::Show(args) => list::print_detail(&show_task(desk, &args.id)?, app, output),
            Command::Next => print_next(next_task(desk)?, desk, app, output),
            Command::Start(args) => {
                print_changed(&start_task(desk, args.id.as_ref())?, desk, app, output)
            }
            Command::Change(command) => {
                let (id, step) = command.step();
                print_changed(&change_current_task(desk, id, &step)?, desk, app, output)
            }
            Command::Edit(args) => args.run(desk, app, output),
            Command::Reorder(args) => args.run(desk, app, output),
            Command::Move(args) => args.run(desk, app, self.branch.as_deref(), output),
            Command::Rm(args) => {
                let count = remove_task(desk, &args.id)?;
                match app.format {
                    Format::Json => output.json(&count)?,
                    Format::Text => output.data(&format!("removed {}\n", count.removed))?,
                }
                Ok(Exit::Done)
            }
            Command::Restore(args) => args.run(desk, app, output),
            Command::Undo => history::undo(desk, app, output),
            Command::Log(args) => args.run(desk, app, output),
            Command::Pass(args) => args.run(DeedKind::Pass, desk, app, output),
            Command::Fail(args) => args.run(DeedKind::Fail, desk, app, output),
            Command::Import(args) => args.run(desk, app, output),
        }
    }
}

impl ChangeCommand {
    /// Returns the task, if one is named, and what happens to it.
    fn step(&self) -> (Option<&TaskId>, TaskStep) {
        match self {
            Self::Done(args) => (args.id.as_ref(), TaskStep::Done),
            Self::Skip(args) => (Some(&args.id), TaskStep::Skip),
            Self::Note(args) => (Some(&args.task.id), TaskStep::Note(args.text.clone())),
            Self::Assign(args) => (Some(&args.task.id), TaskStep::Assign(args.agent.clone())),
        }
    }
}

impl AddArgs {
    fn request(&self) -> AddTasksRequest {
        AddTasksRequest {
            titles: self.titles.clone(),
            parent: self.parent.clone(),
            plan: self.plan.clone(),
            agent: self.agent.clone(),
            skill: self.skill.clone(),
            skill_version: self.skill_version.clone(),
            body: self.body.clone(),
            after: self.after.clone(),
            priority: self.priority,
        }
    }
}

/// Prints a task as it is after a change.
fn print_changed(
    task: &Task,
    desk: &TaskDesk<'_>,
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(&task_report(desk, task)?)?,
        Format::Text => output.data(&format!("{}\n", list::line(task)))?,
    }
    Ok(Exit::Done)
}

fn print_next(
    next: NextTask,
    desk: &TaskDesk<'_>,
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    match next {
        NextTask::Task(task) => print_changed(&task, desk, app, output),
        NextTask::Nothing(why) => {
            match app.format {
                Format::Json => output.json(&None::<TaskReport>)?,
                Format::Text => output.data("No task can be started.\n")?,
            }
            output.say(&format!("note: {why}"));
            Ok(Exit::No)
        }
    }
}

/// Prints new ids, one per line.
fn print_added(added: &AddedTasksReport, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => output.json(added)?,
        // A person reads which tasks are new; a program reads ids.
        Format::Text if output.is_terminal() && added.titles.len() == added.ids.len() => {
            let lines = added.ids.iter().zip(&added.titles);
            let lines = lines.map(|(id, title)| StyledLine::plain(&format!("{id}  {title}")));
            output.page(&lines.collect::<Vec<_>>())?;
        }
        Format::Text => added.ids.iter().try_for_each(|id| output.data(&format!("{id}\n")))?,
    }
    Ok(Exit::Done)
}

fn priority() -> impl TypedValueParser<Value = TaskPriority> {
    PossibleValuesParser::new(TaskPriority::ALL.map(TaskPriority::name))
        .try_map(|name| TaskPriority::parse(&name).ok_or("no such priority"))
}

/// Reads skills separated by commas.
fn skills(text: &str) -> Result<String, InvalidSkillId> {
    text.split(',').try_for_each(|id| SkillId::parse(id.trim()).map(drop))?;
    Ok(text.to_owned())
}
