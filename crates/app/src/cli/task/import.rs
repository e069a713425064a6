//! Taking over the tasks of a plan.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use convoke_domain::design::walk::{Ending, Next};
use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::plan::{ParsedPlan, one_line, renamed_from};
use convoke_domain::run::RunId;
use convoke_domain::scope::Scope;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::{Task, TaskStatus};
use convoke_engine::file;
use convoke_store::foreign::{ForeignTask, is_database, read_tasks};
use convoke_store::task::NewTask;
use convoke_store::task_history::RemovedTask;

use super::{plan_file, print_ids};
use crate::app::App;
use crate::cli::runs::Known;
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::{ErrorClass, Failure};
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// No plan a person writes is larger.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// So many headings that are no tasks are named.
const NAMED: usize = 3;

/// Convoke's folder in a project.
const PLANS: &str = ".convoke";

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The plan, relative to this folder or to the project; or a database of june or otto
    #[arg(value_name = "FILE", required_unless_present = "run", conflicts_with = "run")]
    plan: Option<PathBuf>,

    /// The plan of a finished design: its run, or the beginning of the run's name
    ///
    /// Agents read the plan where the design left it in the feature's folder, or in `.convoke/plans`,
    /// which git ignores.
    #[arg(long, value_name = "RUN", value_parser = RunId::parse)]
    run: Option<RunId>,

    /// Give each task that is not begun and has no parts an implementation and two reviews
    #[arg(long)]
    reviews: bool,
}

/// The parts of a task that is reviewed twice.
const REVIEWED: [&str; 3] = ["Implementation", "Spec review", "Code quality review"];

#[derive(Debug, thiserror::Error)]
enum ImportError {
    #[error("cannot import `{}`: there is no such file", path.display())]
    Absent { path: PathBuf },
    #[error("cannot import `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
    #[error("cannot import `{}`: it has no `Task N` headings", path.display())]
    NoTasks { path: PathBuf },
    #[error("cannot import `{}`: two headings read `{title}`", path.display())]
    Repeated { path: PathBuf, title: String },
    #[error("cannot import the plan of `{run}`: {why}")]
    NoPlan { run: RunId, why: &'static str },
    #[error("cannot leave the plan in `{}`", path.display())]
    NotLeft { path: PathBuf, source: io::Error },
    #[error("cannot import `{}`: it has no tasks of {project} on {branch}", path.display())]
    NotHere { path: PathBuf, project: String, branch: String },
}

impl Args {
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
        let (plan_file, text) = match (&self.run, &self.plan) {
            (Some(run), _) => designed(app, run, output)?,
            (None, Some(path)) if is_database(path) => {
                return adopt(path, workspace, app, output);
            }
            (None, path) => {
                let plan_file = plan_file(app, path.as_deref().unwrap_or(Path::new("")))?;
                let text = read(&app.project.join(&plan_file))?;
                (plan_file, text)
            }
        };
        let plan = ParsedPlan::parse(&text);
        if plan.tasks.is_empty() {
            let path = app.project.join(plan_file);
            return Err(Failure::new(ErrorClass::Refused, ImportError::NoTasks { path })
                .hint("a task's heading reads `### Task 1: What is to be done`"));
        }
        if let Some(title) = plan.repeated_title() {
            let (path, title) = (app.project.join(plan_file), title.to_owned());
            return Err(Failure::new(ErrorClass::Refused, ImportError::Repeated { path, title })
                .hint("give each task's heading words of its own; nothing was imported"));
        }
        say_not_taken(&plan, output);
        let Workspace { store, scope } = workspace;
        let titles: Vec<_> = plan.tasks.iter().map(|section| one_line(section.title)).collect();
        let titles: Vec<_> = titles.iter().map(String::as_str).collect();
        let known = store.tasks_of_plan(scope, Some(&plan_file)).map_err(refused)?;
        say_changes(workspace, &plan_file, &titles, &known, output)?;
        let ids = store.import_tasks(scope, &plan_file, &titles, now()).map_err(refused)?;
        let skipped = plan.tasks.len() - ids.len();
        if skipped > 0 {
            output.say(&format!("note: {skipped} tasks of this plan are here already"));
        }
        if self.reviews {
            add_reviews(workspace, &plan_file, output)?;
        }
        print_ids(&ids, app, output)
    }
}

/// Says which headings are no tasks although they may be meant as such.
fn say_not_taken(plan: &ParsedPlan<'_>, output: &Output) {
    let names: Vec<_> =
        plan.not_taken.iter().take(NAMED).map(|title| format!("`{title}`")).collect();
    let more = if plan.not_taken.len() > NAMED { ", …" } else { "" };
    match plan.not_taken.len() {
        0 => {}
        count => output.say(&format!(
            "note: not taken as tasks: {count} headings ({}{more}); a task's heading reads \
             `### Task 1: What is to be done`",
            names.join(", ")
        )),
    }
}

/// Says which tasks have another title than the plan now gives them, and which were removed before.
fn say_changes(
    workspace: &Workspace,
    plan: &str,
    titles: &[&str],
    known: &[Task],
    output: &Output,
) -> Result<(), Failure> {
    let Workspace { store, scope } = workspace;
    let removed = store.removed_tasks(scope).map_err(refused)?;
    for title in titles.iter().filter(|title| !known.iter().any(|task| task.content == **title)) {
        if let Some(Task { id, content, .. }) = renamed_from(title, titles, known) {
            output.say(&format!(
                "note: {id} keeps its title `{content}`; the plan now says `{title}`: \
                 `convoke task edit {id} --title …` changes it"
            ));
        } else if let Some(RemovedTask { task, .. }) = removed.iter().find(|removed| {
            removed.task.plan_file.as_deref() == Some(plan) && removed.task.content == **title
        }) {
            let id = &task.id;
            output.say(&format!(
                "note: `{title}` was removed before and is added as a new task; to have the old \
                 one instead, run `convoke task undo` and `convoke task restore {id}`"
            ));
        }
    }
    Ok(())
}

/// Adds the parts of a reviewed task to every task of a plan that is not begun and has none.
fn add_reviews(workspace: &Workspace, plan: &str, output: &Output) -> Result<(), Failure> {
    let Workspace { store, scope } = workspace;
    let tasks = store.tasks_of_plan(scope, Some(plan)).map_err(refused)?;
    let has_parts = |id: &TaskId| tasks.iter().any(|task| task.parent.as_ref() == Some(id));
    let is_bare = |task: &&Task| {
        task.parent.is_none() && task.status == TaskStatus::Pending && !has_parts(&task.id)
    };
    let bare: Vec<_> = tasks.iter().filter(is_bare).collect();
    let part = |task: &'_ Task, title| (task.id.clone(), title);
    let parts: Vec<_> =
        bare.iter().flat_map(|task| REVIEWED.map(|title| part(task, title))).collect();
    let new: Vec<_> = parts
        .iter()
        .map(|(id, title)| NewTask { parent: Some(id), ..NewTask::titled(title) })
        .collect();
    store.add_tasks(scope, &new, now()).map_err(refused)?;
    let names = REVIEWED.join(", ");
    output.say(&format!("note: added to {} tasks each: {names}", bare.len()));
    Ok(())
}

/// Returns the plan of a finished design, and where agents find it in the project.
fn designed(app: &App, id: &RunId, output: &Output) -> Result<(String, String), Failure> {
    let known = Known::open(app, id)?;
    let run = known.run.id.clone();
    let (why, hint) = match &known.progress.next {
        Next::End(Ending::Complete { .. }) => ("it has none", format!("convoke show {run}")),
        Next::Need(_)
        | Next::End(Ending::OverBudget(_) | Ending::HeavyFailed(_) | Ending::NotExported(_)) => {
            ("the run is not at its end", format!("convoke resume {run}"))
        }
        Next::End(Ending::Refused(_) | Ending::DirtyTree | Ending::Failed(_)) => {
            ("the run ended without one", format!("convoke show {run}"))
        }
    };
    let is_complete = matches!(known.progress.next, Next::End(Ending::Complete { .. }));
    let plan = known.progress.results.plan.as_ref().filter(|_| is_complete).map(|plan| &plan.text);
    let Some(text) = plan else {
        return Err(Failure::new(ErrorClass::Refused, ImportError::NoPlan { run, why }).hint(hint));
    };
    let feature = known.facts.settings().and_then(|(_, settings)| settings.feature_dir.clone());
    let names = [format!("plan-{run}.md"), "plan.md".to_owned()];
    let mut handed_over =
        feature.iter().flat_map(|dir| names.iter().map(|it| Path::new(dir).join(it)));
    let in_project = |path: PathBuf| {
        let is_plain = path.symlink_metadata().is_ok_and(|found| found.is_file());
        plan_file(app, &path).ok().filter(|_| is_plain)
    };
    let place = match handed_over.find_map(in_project) {
        Some(place) => place,
        None => left(app, &run, text)?,
    };
    if known.is_rehearsal() {
        output.say("warning: the run is a rehearsal; its tasks are about its example project");
    }
    Ok((place, text.to_string()))
}

/// Leaves a plan where agents find it and git does not. One that is there already stays as it is.
fn left(app: &App, run: &RunId, text: &str) -> Result<String, Failure> {
    let place = format!("{PLANS}/plans/{run}.md");
    for (name, text) in [(format!("{PLANS}/.gitignore"), "*\n"), (place.clone(), text)] {
        let path = app.project.join(name);
        let written = path
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| File::options().write(true).create_new(true).open(&path))
            .and_then(|mut file| file.write_all(text.as_bytes()));
        match written {
            Err(source) if source.kind() != ErrorKind::AlreadyExists => {
                return Err(Failure::new(
                    ErrorClass::Prerequisite,
                    ImportError::NotLeft { path, source },
                ));
            }
            Ok(()) | Err(_) => {}
        }
    }
    Ok(place)
}

/// Takes over the tasks that another program kept for this project and branch.
fn adopt(
    path: &Path,
    workspace: &Workspace,
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Workspace { store, scope } = workspace;
    let all = read_tasks(path, now()).map_err(|error| Failure::new(ErrorClass::Refused, error))?;
    let is_here = |found: &&ForeignTask| {
        // A program that knew no projects or branches kept everything together.
        let folder = found.project.as_deref().and_then(|it| it.rsplit('/').next());
        folder.is_none_or(|folder| folder == scope.project)
            && found.branch.as_ref().is_none_or(|branch| *branch == scope.branch)
    };
    let here: Vec<_> = all.iter().filter(is_here).map(|found| found.task.clone()).collect();
    if here.is_empty() {
        let Scope { project, branch } = scope.clone();
        let error = ImportError::NotHere { path: path.to_owned(), project, branch };
        return Err(Failure::new(ErrorClass::Refused, error).maybe_hint(elsewhere(&all)));
    }
    let count = here.len();
    let ids = store.adopt_tasks(scope, here).map_err(refused)?;
    if ids.len() < count {
        output.say(&format!("note: {} of its tasks are here already", count - ids.len()));
    }
    print_ids(&ids, app, output)
}

/// Says what a database has instead.
fn elsewhere(all: &[ForeignTask]) -> Option<String> {
    let place = |found: &ForeignTask| {
        let name = |it: &Option<String>| it.clone().unwrap_or_else(|| "any".to_owned());
        format!("{} on {}", name(&found.project), name(&found.branch))
    };
    let places: BTreeSet<_> = all.iter().map(place).collect();
    let list = places.into_iter().take(5).collect::<Vec<_>>().join(", ");
    (!list.is_empty()).then(|| format!("it has tasks of {list}; `--branch` names another branch"))
}

fn read(path: &Path) -> Result<String, Failure> {
    let path = path.to_owned();
    match file::read(&path, MAX_BYTES) {
        FileFinding::Text(text) => Ok(text),
        FileFinding::Absent => {
            Err(Failure::new(ErrorClass::Prerequisite, ImportError::Absent { path }))
        }
        FileFinding::Unreadable(reason) => {
            Err(Failure::new(ErrorClass::Prerequisite, ImportError::Unreadable { path, reason }))
        }
    }
}
