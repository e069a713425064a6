//! Taking over the tasks of a plan.

use std::path::{Path, PathBuf};

use convoke_domain::finding::{Finding, Unreadable};
use convoke_domain::plan::Plan;
use convoke_engine::file;
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
    /// The plan, relative to the project
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
}

impl Args {
    pub(super) fn run(
        &self,
        workspace: &Workspace,
        app: &App,
        output: &mut Output,
    ) -> Result<Exit, Failure> {
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
