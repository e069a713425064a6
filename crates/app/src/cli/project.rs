//! `convoke project`: the projects that the store knows, and their folders.

use std::path::Path;

use clap::Subcommand;
use convoke_domain::repository::RepositoryId;
use convoke_engine::git::identity::repository_id;
use convoke_store::project::{KnownProject, MergedProject};
use serde::Serialize;

use crate::app::{App, Format};
use crate::config::wake;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, project_folder, refused};

/// List the projects in the store, and keep their tasks when folders move
///
/// Convoke knows a project by its folder. A folder that moved is a new project until you attach the
/// earlier one to it. Two clones of one repository are two projects until you merge them.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List every project with its folder, repository, tasks and last use
    List,
    /// Make this folder the folder of an earlier project
    ///
    /// The project keeps its name, tasks, messages, agents and runs. What this folder has of its own
    /// becomes part of it.
    Attach(AttachArgs),
    /// Bring everything of another project into this folder's project
    ///
    /// Tasks whose ids are taken here get new ones. Where both projects have an agent of one name, its
    /// messages stay unread unless it has seen them in both.
    Merge(MergeArgs),
}

#[derive(Debug, clap::Args)]
struct AttachArgs {
    /// The project, as `convoke project list` calls it
    name: String,

    /// Attach it although its folder still exists, or is of another repository
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
struct MergeArgs {
    /// The project whose tasks and messages come here
    name: String,

    /// Merge it although it is another repository
    #[arg(long)]
    force: bool,
}

#[derive(Debug, thiserror::Error)]
enum ProjectError {
    #[error("cannot attach `{name}`: its folder `{folder}` still exists")]
    StillThere { name: String, folder: String },
    #[error("cannot attach `{name}`: it is another repository")]
    OtherRepository { name: String },
    #[error("cannot merge `{name}`: it is another repository")]
    MergeOther { name: String },
}

#[derive(Serialize)]
struct ProjectReport<'a> {
    name: &'a str,
    folder: String,
    exists: bool,
    here: bool,
    remote: Option<&'a str>,
    roots: Vec<&'a str>,
    tasks: u32,
    open_tasks: u32,
    last_used: Option<String>,
}

#[derive(Serialize)]
struct MergedReport<'a> {
    project: &'a str,
    tasks: usize,
    messages: usize,
    renamed: Vec<[String; 3]>,
}

/// Returns the folder of a project as a person knows it.
pub(super) fn folder(known: &KnownProject) -> &str {
    known.path.strip_suffix("/.git").unwrap_or(&known.path)
}

/// Tells whether the folder of a project is gone; one that cannot be looked at is not.
pub(super) fn is_gone(known: &KnownProject) -> bool {
    matches!(Path::new(&known.path).try_exists(), Ok(false))
}

impl Args {
    /// Runs the subcommand.
    pub fn run(&self, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let workspace = Workspace::open(app, None)?;
        let id = repository_id(&app.project);
        let Workspace { store, scope } = &workspace;
        if let Some(id) = &id {
            store.keep_repository(&scope.project, id).map_err(refused)?;
        }
        workspace.keep_repository(app);
        match &self.command {
            Command::List => list(&workspace, app, output),
            Command::Attach(args) => args.run(&workspace, app, id.as_ref(), output),
            Command::Merge(args) => args.run(&workspace, app, output),
        }
    }
}

fn list(workspace: &Workspace, app: &App, output: &mut Output) -> Result<Exit, Failure> {
    let Workspace { store, scope } = workspace;
    let projects = store.projects().map_err(refused)?;
    let count = |known: &KnownProject| store.count_tasks(&known.name).map_err(refused);
    let counts = projects.iter().map(count).collect::<Result<Vec<_>, _>>()?;
    let all = projects.iter().zip(counts);
    let reports = all.map(|(known, counts)| report(known, counts, *known.name == scope.project));
    let reports: Vec<_> = reports.collect();
    match app.format {
        Format::Json => output.json(&reports)?,
        Format::Text => {
            let clock = wake::settings(app)?.clock;
            for (report, known) in reports.iter().zip(&projects) {
                let used = known.last_used.map_or("unknown".to_owned(), |at| {
                    clock.to_datetime(at).strftime("%Y-%m-%d %H:%M").to_string()
                });
                output.data(&lines(report, &used))?;
            }
        }
    }
    Ok(Exit::Done)
}

fn report(known: &KnownProject, (tasks, open_tasks): (u32, u32), here: bool) -> ProjectReport<'_> {
    let repository = known.repository.as_ref();
    let roots = repository.map(|id| id.roots.iter().map(String::as_str).collect());
    ProjectReport {
        name: &known.name,
        folder: folder(known).to_owned(),
        exists: !is_gone(known),
        here,
        remote: repository.and_then(|id| id.remote.as_deref()),
        roots: roots.unwrap_or_default(),
        tasks,
        open_tasks,
        last_used: known.last_used.map(|at| at.to_string()),
    }
}

fn lines(report: &ProjectReport<'_>, used: &str) -> String {
    let here = if report.here { "  (here)" } else { "" };
    let gone = if report.exists { "" } else { "  (gone)" };
    let root = report.roots.first().map(|root| root.chars().take(12).collect::<String>());
    let repository = match (report.remote, root) {
        (Some(remote), Some(root)) => format!("{remote}, first commit {root}"),
        (Some(remote), None) => remote.to_owned(),
        (None, Some(root)) => format!("first commit {root}"),
        (None, None) => "unknown".to_owned(),
    };
    format!(
        "{}{here}\n  folder      {}{gone}\n  repository  {repository}\n  \
         tasks       {} open of {}\n  last used   {used}\n",
        report.name, report.folder, report.open_tasks, report.tasks
    )
}

impl AttachArgs {
    fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        id: Option<&RepositoryId>,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let Workspace { store, scope } = workspace;
        let projects = store.projects().map_err(refused)?;
        let known = projects.iter().find(|known| known.name == self.name);
        if let Some(known) = known.filter(|_| !self.force && self.name != scope.project) {
            refuse(known, id)?;
        }
        let folder = project_folder(app).display().to_string();
        let merged = store.attach_project(&self.name, &folder).map_err(refused)?;
        if let Some(id) = id {
            store.keep_repository(&self.name, id).map_err(refused)?;
        }
        say_renamed(&merged, output);
        print(&self.name, &merged, app, output, &format!("attached {} to this folder\n", self.name))
    }
}

/// Refuses what is more likely a mistake than a moved folder.
fn refuse(known: &KnownProject, id: Option<&RepositoryId>) -> Result<(), Failure> {
    let name = known.name.clone();
    if !is_gone(known) {
        let folder = folder(known).to_owned();
        let hint = format!(
            "`convoke project merge {name}` brings its tasks here; `--force` attaches it anyway"
        );
        let error = ProjectError::StillThere { name, folder };
        return Err(Failure::new(ErrorClass::Refused, error).hint(hint));
    }
    if is_other(known, id) {
        return Err(Failure::new(ErrorClass::Refused, ProjectError::OtherRepository { name })
            .hint("see `convoke project list`; `--force` attaches it anyway"));
    }
    Ok(())
}

/// Tells whether a project is known to be another repository than this one.
fn is_other(known: &KnownProject, id: Option<&RepositoryId>) -> bool {
    known.repository.as_ref().zip(id).is_some_and(|(one, two)| !one.is_same(two))
}

impl MergeArgs {
    fn run(&self, workspace: &Workspace, app: &App, output: &mut Output) -> Result<Exit, Failure> {
        let Workspace { store, scope } = workspace;
        let projects = store.projects().map_err(refused)?;
        let known = projects.iter().find(|known| known.name == self.name);
        let id = repository_id(&app.project);
        if !self.force && known.is_some_and(|known| is_other(known, id.as_ref())) {
            let error = ProjectError::MergeOther { name: self.name.clone() };
            return Err(Failure::new(ErrorClass::Refused, error)
                .hint("see `convoke project list`; `--force` merges it anyway"));
        }
        let merged = store.merge_projects(&self.name, &scope.project).map_err(refused)?;
        // A project without a folder and without anything in it is of no use.
        if projects.iter().any(|known| known.name == self.name && is_gone(known)) {
            store.forget_project(&self.name).map_err(refused)?;
        }
        say_renamed(&merged, output);
        let MergedProject { tasks, messages, .. } = &merged;
        let text = format!(
            "merged {} into {}: {tasks} tasks, {messages} messages\n",
            self.name, scope.project
        );
        print(&scope.project, &merged, app, output, &text)
    }
}

fn say_renamed(merged: &MergedProject, output: &Output) {
    for (branch, old, new) in &merged.renamed {
        output.say(&format!("note: `{old}` on {branch} was taken; the task is now `{new}`"));
    }
}

fn print(
    project: &str,
    merged: &MergedProject,
    app: &App,
    output: &mut Output,
    text: &str,
) -> Result<Exit, Failure> {
    match app.format {
        Format::Json => {
            let row = |(branch, old, new): &(String, _, _)| {
                [branch.clone(), ToString::to_string(old), ToString::to_string(new)]
            };
            let renamed = merged.renamed.iter().map(row).collect();
            let MergedProject { tasks, messages, .. } = *merged;
            output.json(&MergedReport { project, tasks, messages, renamed })?;
        }
        Format::Text => output.data(text)?,
    }
    Ok(Exit::Done)
}
