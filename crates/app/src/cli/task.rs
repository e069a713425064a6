//! `convoke task`: the work tree of the current branch.

mod change;
mod edit;
mod history;
mod import;
mod list;
mod moving;
mod next;
mod parent;
mod report;
mod tree;
pub(super) mod verdict;

use std::path::{Component, Path, PathBuf};

use clap::Subcommand;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use convoke_domain::scope::AgentName;
use convoke_domain::skill::{InvalidSkillId, SkillId};
use convoke_domain::task::TaskStatus;
use convoke_domain::task::deed::DeedKind;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::priority::TaskPriority;
use convoke_domain::text::is_disruptive;
use convoke_store::task::{Change, NewTask};

use super::elsewhere;
use super::say::note_stranger;
use crate::app::{App, Format};
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused, speaker};

/// Keep a tree of tasks that outlives every session
///
/// Tasks belong to a project and a branch; worktrees of one repository share the project. Ids are
/// short: `t-` and five digits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Work on another branch's tasks
    #[arg(long, global = true, value_name = "NAME", value_parser = line)]
    branch: Option<String>,

    /// Who is doing this [default: `CONVOKE_AGENT`, else the agent of the client's session, else human]
    #[arg(long = "as", global = true, value_name = "AGENT", value_parser = AgentName::parse)]
    actor: Option<AgentName>,

    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add tasks and print their ids, one per title
    Add(AddArgs),
    /// List the top tasks, or every task that matches the filters
    List(list::ListArgs),
    /// List tasks that contain all of these words
    Search(list::SearchArgs),
    /// Show all tasks as a tree, with the current one marked
    Tree,
    /// Show one task with its parts
    Show(OneTask),
    /// Show the next task to start
    ///
    /// That is the first task of the highest priority that is not begun, waits for no open task and has
    /// no open parts. An agent is offered its own tasks and those that no agent holds. Exits 1 if there
    /// is no such task.
    Next,
    /// Start a task; without an id, the next one
    Start(next::StartArgs),
    #[command(flatten)]
    Change(ChangeCommand),
    /// Change a task's title, body, priority or prerequisites
    Edit(edit::EditArgs),
    /// Give a task another place among its siblings
    Reorder(edit::ReorderArgs),
    /// Move tasks below another task, to the top, or to another branch
    ///
    /// With `--branch NAME` the tasks go to that branch; with `--from-branch NAME` they come from there.
    Move(moving::MoveArgs),
    /// Record that a role found a task done
    Pass(verdict::Args),
    /// Record that a role found that a task has to be done again
    Fail(verdict::Args),
    /// Remove a task with everything below it
    Rm(OneTask),
    /// Restore a removed task; without an id, list the removed tasks
    Restore(history::RestoreArgs),
    /// Undo the last change to this branch's tasks; repeat to go further
    Undo,
    /// List who changed which task and when, oldest first
    Log(history::LogArgs),
    /// Add the `### Task N` sections of a plan as tasks, or take over another program's tasks
    Import(import::Args),
}

/// Commands that change one task.
#[derive(Debug, Subcommand)]
enum ChangeCommand {
    /// Complete a task; what is still open below it is left out
    Done(OneTask),
    /// Leave a task out, with what is still open below it
    Skip(OneTask),
    /// Put a remark on a task
    Note(NoteArgs),
    /// Assign a task to an agent, or unassign it
    Assign(AssignArgs),
}

#[derive(Debug, clap::Args)]
struct AddArgs {
    /// What is to be done; each title is a task
    #[arg(required = true, value_name = "TITLE", value_parser = line)]
    titles: Vec<String>,

    /// The task they are part of
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    parent: Option<TaskId>,

    /// The plan they come from, relative to the project [default: the parent's]
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,

    /// Who does them
    #[arg(long, value_name = "AGENT", value_parser = AgentName::parse)]
    agent: Option<AgentName>,

    /// The skill to work by; further ones after commas are only referred to
    #[arg(long, value_parser = skills)]
    skill: Option<String>,

    /// The version of that skill
    #[arg(long, value_name = "VERSION", requires = "skill", value_parser = line)]
    skill_version: Option<String>,

    /// What else there is to say about them
    #[arg(long, value_name = "TEXT")]
    body: Option<String>,

    /// A task that comes before them; may be repeated
    #[arg(long, value_name = "ID", value_parser = TaskId::parse)]
    after: Vec<TaskId>,

    /// How urgent they are among their siblings
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
struct NoteArgs {
    #[command(flatten)]
    task: OneTask,

    /// The remark, on one line
    #[arg(value_parser = line)]
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

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let mut workspace = Workspace::open(app, self.branch.as_deref())?;
        let actor = speaker(self.actor.as_ref(), app)?;
        workspace.store = workspace.store.acting_for(actor.clone());
        workspace.keep_repository(app);
        let done = self.run_in(&workspace, app, &actor, output);
        done.map_err(|failure| elsewhere::name_branch(failure, &workspace))
    }

    fn run_in(
        &self,
        workspace: &Workspace,
        app: &App,
        actor: &AgentName,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        match &self.command {
            Command::Add(args) => args.run(workspace, app, output),
            Command::List(args) => args.run(workspace, app, output),
            Command::Search(args) => args.run(workspace, app, output),
            Command::Tree => tree::tree(workspace, app, output),
            Command::Show(args) => list::show(workspace, app, &args.id, output),
            Command::Next => next::show(workspace, app, actor, output),
            Command::Start(args) => args.run(workspace, app, actor, output),
            Command::Change(command) => {
                let (id, change) = command.change();
                if let Change::Agent(Some(agent)) = &change {
                    note_stranger(workspace, &workspace.scope, agent, output)?;
                }
                change::apply(workspace, app, actor, id, &change, output)
            }
            Command::Edit(args) => args.run(workspace, app, output),
            Command::Reorder(args) => args.run(workspace, app, output),
            Command::Move(args) => args.run(workspace, app, actor, self.branch.as_deref(), output),
            Command::Rm(args) => change::remove(workspace, app, actor, &args.id, output),
            Command::Restore(args) => args.run(workspace, app, actor, output),
            Command::Undo => history::undo(workspace, app, actor, output),
            Command::Log(args) => args.run(workspace, app, output),
            Command::Pass(args) => {
                args.run(DeedKind::Pass, workspace, app, self.actor.as_ref(), output)
            }
            Command::Fail(args) => {
                args.run(DeedKind::Fail, workspace, app, self.actor.as_ref(), output)
            }
            Command::Import(args) => args.run(workspace, app, output),
        }
    }
}

impl ChangeCommand {
    /// Returns the task and the change to it.
    fn change(&self) -> (&TaskId, Change<'_>) {
        match self {
            Self::Done(args) => (&args.id, Change::Status(TaskStatus::Completed)),
            Self::Skip(args) => (&args.id, Change::Status(TaskStatus::Skipped)),
            Self::Note(args) => (&args.task.id, Change::Note(&args.text)),
            Self::Assign(args) => (&args.task.id, Change::Agent(args.agent.as_ref())),
        }
    }
}

impl AddArgs {
    fn run(&self, workspace: &Workspace, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let plan = self.plan.as_deref().map(|plan| plan_file(app, plan)).transpose()?;
        let body = self.body.as_deref().map(edit::body).transpose()?;
        let task = |title| NewTask {
            parent: self.parent.as_ref(),
            plan_file: plan.as_deref(),
            content: title,
            body: body.as_deref(),
            priority: self.priority,
            after: &self.after,
            agent: self.agent.as_ref(),
            skill: self.skill.as_deref(),
            skill_version: self.skill_version.as_deref(),
        };
        let tasks: Vec<_> = self.titles.iter().map(|title| task(title)).collect();
        let ids = workspace.store.add_tasks(&workspace.scope, &tasks, now()).map_err(refused)?;
        print_ids(&ids, app, output)
    }
}

/// Prints new ids: one per line, or as JSON objects.
fn print_ids(ids: &[TaskId], app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let object = |id: &TaskId| format!("{{\"id\":\"{id}\"}}");
    match (app.format, ids) {
        (Format::Json, [id]) => output.data(&format!("{}\n", object(id)))?,
        (Format::Json, many) => {
            let objects: Vec<_> = many.iter().map(object).collect();
            output.data(&format!("[{}]\n", objects.join(",")))?;
        }
        (Format::Text, _) => ids.iter().try_for_each(|id| output.data(&format!("{id}\n")))?,
    }
    Ok(Exit::Done)
}

/// Reads one filled line; a second one could pass for somebody else's words.
pub(super) fn line(text: &str) -> Result<String, &'static str> {
    let line = text.trim();
    if line.is_empty() {
        Err("it must not be empty")
    } else if line.contains(is_disruptive) {
        Err("it must be one line")
    } else {
        Ok(line.to_owned())
    }
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

/// A plan that is not in the project.
#[derive(Debug, thiserror::Error)]
#[error("cannot take `{}` for a plan: it is not in the project", path.display())]
struct PlanOutside {
    path: PathBuf,
}

/// Returns a plan's path relative to the project, written one way only. It is given from this folder, or
/// from the project's.
pub(super) fn plan_file(app: &App, given: &Path) -> Result<String, Failure> {
    let outside = || Failure::new(ErrorClass::Usage, PlanOutside { path: given.to_owned() });
    let root = std::path::absolute(&app.project).unwrap_or_else(|_| app.project.clone());
    let from_here = app.environment.current_dir().ok().map(|here| here.join(given));
    // As every program does, a path is read from this folder; one that is not there may be the
    // project's own name for it.
    let is_there = |path: &PathBuf| path.starts_with(&root) && path.exists();
    let is_above = given.components().any(|part| part == Component::ParentDir);
    let from_here = from_here.filter(|path| is_there(path) || is_above);
    let path = from_here.as_deref().unwrap_or(given);
    let relative = path.strip_prefix(&root).unwrap_or(given);
    let mut names = Vec::new();
    for part in relative.components() {
        match part {
            Component::Normal(name) => names.push(name.to_str().ok_or_else(outside)?),
            Component::CurDir => {}
            Component::ParentDir => drop(names.pop().ok_or_else(outside)?),
            Component::RootDir | Component::Prefix(_) => return Err(outside()),
        }
    }
    let path = names.join("/");
    if path.is_empty() || path.contains(char::is_control) { Err(outside()) } else { Ok(path) }
}
