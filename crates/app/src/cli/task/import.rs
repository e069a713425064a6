//! Taking over the tasks of a plan.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use convoke_domain::finding::{Finding, Unreadable};
use convoke_domain::plan::Plan;
use convoke_domain::scope::Scope;
use convoke_engine::file;
use convoke_store::foreign::{ForeignTask, is_database, read_tasks};
use convoke_store::task::TaskStore;

use super::{plan_file, print_ids};
use crate::app::App;
use crate::clock::now;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::workspace::{Workspace, refused};

/// No plan a person writes is larger.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The plan, relative to the project; or a database of june or otto
    #[arg(value_name = "FILE")]
    plan: PathBuf,
}

#[derive(Debug, thiserror::Error)]
enum ImportError {
    #[error("cannot import `{}`: there is no such file", path.display())]
    Absent { path: PathBuf },
    #[error("cannot import `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
    #[error("cannot import `{}`: it has no `Task N` headings", path.display())]
    NoTasks { path: PathBuf },
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
        if is_database(&self.plan) {
            return adopt(&self.plan, workspace, app, output);
        }
        let plan_file = plan_file(app, &self.plan)?;
        let path = app.project.join(&plan_file);
        let text = read(&path)?;
        let plan = Plan::parse(&text);
        if plan.tasks.is_empty() {
            return Err(Failure::new(Exit::No, ImportError::NoTasks { path })
                .hint("a task's heading reads `### Task 1: What is to be done`"));
        }
        let Workspace { store, scope } = workspace;
        let one_line = |title: &str| title.replace(char::is_control, " ");
        let titles: Vec<_> = plan.tasks.iter().map(|section| one_line(section.title)).collect();
        let titles: Vec<_> = titles.iter().map(String::as_str).collect();
        let ids = store.import_tasks(scope, &plan_file, &titles, now()).map_err(refused)?;
        let skipped = plan.tasks.len() - ids.len();
        if skipped > 0 {
            output.say(&format!("note: {skipped} tasks of this plan are here already"));
        }
        print_ids(&ids, app, output)
    }
}

/// Takes over the tasks that another program kept for this project and branch.
fn adopt(
    path: &Path,
    workspace: &Workspace,
    app: &App,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let Workspace { store, scope } = workspace;
    let all = read_tasks(path, now()).map_err(|error| Failure::new(Exit::No, error))?;
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
        return Err(Failure::new(Exit::No, error).maybe_hint(elsewhere(&all)));
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
        Finding::Text(text) => Ok(text),
        Finding::Absent => Err(Failure::new(Exit::Surroundings, ImportError::Absent { path })),
        Finding::Unreadable(reason) => {
            Err(Failure::new(Exit::Surroundings, ImportError::Unreadable { path, reason }))
        }
    }
}
