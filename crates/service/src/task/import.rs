//! Taking over the tasks of a plan.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::markdown::hidden::HiddenBlock;
use convoke_domain::plan::{ParsedPlan, one_line, renamed_from};
use convoke_domain::run::RunId;
use convoke_domain::scope::Scope;
use convoke_domain::task::id::TaskId;
use convoke_domain::task::{Task, TaskStatus};
use convoke_domain::text::counted;
use convoke_engine::file;
use convoke_store::foreign::{ForeignTask, is_database, read_tasks};
use convoke_store::task::{ActivePlan, NewTask};
use convoke_store::task_history::RemovedTask;

use super::designed::designed_plan;
use super::{AddedTasksReport, TaskDesk, plan_file};
use crate::failure::{ErrorClass, Failure};
use crate::hooks::DryRun;
use crate::run::last_run;
use crate::session::Session;
use crate::workspace::{Workspace, refused};

/// No plan a person writes is larger.
pub(super) const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// So many headings that are no tasks are named.
const NAMED: usize = 3;

/// The parts of a task that is reviewed twice.
pub(super) const REVIEWED: [&str; 3] = ["Implementation", "Spec review", "Code quality review"];

#[derive(Debug, thiserror::Error)]
enum ImportError {
    #[error("cannot import `{}`: there is no such file", path.display())]
    Absent { path: PathBuf },
    #[error("cannot import `{}`: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: Unreadable },
    #[error(
        "cannot import `{}`: it has no `Task N` headings and no list with boxes or numbers",
        path.display()
    )]
    NoTasks { path: PathBuf },
    #[error("cannot import `{}`: two tasks read `{title}`", path.display())]
    Repeated { path: PathBuf, title: String },
    #[error("cannot import `{}`: it has no tasks of {project} on {branch}", path.display())]
    NotHere { path: PathBuf, project: String, branch: String },
}

/// The source of the tasks.
#[derive(Debug, Clone)]
pub enum ImportSource {
    /// A plan, from this folder or from the project's; or a database of june or otto.
    File(PathBuf),
    /// The plan of a finished design, named by its run or the beginning of the run's name; without a
    /// name, that of the newest run.
    Run(Option<RunId>),
}

/// Tasks to take over.
#[derive(Debug, Clone)]
pub struct ImportRequest {
    /// The source of the tasks.
    pub source: ImportSource,
    /// Whether each task that is not begun and has no parts gets an implementation and two reviews.
    pub adds_reviews: bool,
}

/// Takes over the tasks of a plan, or those of another program. The report names those that are new.
pub fn import_tasks(
    desk: &TaskDesk<'_>,
    request: &ImportRequest,
) -> Result<AddedTasksReport, Failure> {
    let ids = take_over(desk, request)?;
    let Workspace { store, scope } = &desk.workspace;
    let mut titles = Vec::new();
    for id in &ids {
        let task = store.task(scope, id).map_err(refused)?;
        titles.extend(task.map(|task| one_line(&task.content)));
    }
    Ok(AddedTasksReport { titles, ..AddedTasksReport::new(&ids) })
}

fn take_over(desk: &TaskDesk<'_>, request: &ImportRequest) -> Result<Vec<TaskId>, Failure> {
    let TaskDesk { session, workspace: Workspace { store, scope }, .. } = desk;
    if let ImportSource::File(path) = &request.source
        && is_database(path)
    {
        return adopt(desk, path);
    }
    let (plan_file, text) = source_plan(session, &request.source, DryRun::No)?;
    let plan = ParsedPlan::parse(&text);
    check(&plan, session.project.join(&plan_file))?;
    note_not_taken(session, &plan);
    let titles: Vec<_> = plan.tasks.iter().map(|section| one_line(section.title)).collect();
    let titles: Vec<_> = titles.iter().map(String::as_str).collect();
    follow_moved_plan(desk, &plan_file, &titles)?;
    let known = store.tasks_of_plan(scope, Some(&plan_file)).map_err(refused)?;
    note_changes(desk, &plan_file, &titles, &known)?;
    let checked = plan.tasks.iter().zip(&titles).filter(|(section, _)| section.is_done());
    let checked: Vec<_> = checked.map(|(_, title)| *title).collect();
    let ids =
        store.import_tasks(scope, &plan_file, &titles, &checked, session.now()).map_err(refused)?;
    note_done(desk, &ids)?;
    if !ids.is_empty() {
        note_current_plan(desk, &plan_file)?;
    }
    let skipped = plan.tasks.len() - ids.len();
    if skipped > 0 {
        let verb = if skipped == 1 { "is" } else { "are" };
        let tasks = counted(skipped, "task");
        session.reporter().remark(format!("{tasks} of this plan {verb} here already"));
    }
    if request.adds_reviews {
        add_reviews(desk, &plan_file)?;
    }
    Ok(ids)
}

/// Returns the plan of a source, relative to the project, and its text.
pub(super) fn source_plan(
    session: &Session,
    source: &ImportSource,
    rehearsal: DryRun,
) -> Result<(String, String), Failure> {
    match source {
        ImportSource::Run(Some(run)) => designed_plan(session, run, rehearsal),
        ImportSource::Run(None) => designed_plan(session, &last_run(session)?, rehearsal),
        ImportSource::File(path) => {
            let plan_file = plan_file(session, path)?;
            let text = read(&session.project.join(&plan_file))?;
            Ok((plan_file, text))
        }
    }
}

/// Lets the tasks of a plan whose file is gone follow it to this one, if they are the same tasks:
/// otherwise each would be there twice.
fn follow_moved_plan(desk: &TaskDesk<'_>, plan_file: &str, titles: &[&str]) -> Result<(), Failure> {
    let TaskDesk { session, workspace: Workspace { store, scope }, .. } = desk;
    if let Some(plan) = moved_plan(desk, plan_file, titles)? {
        store.rename_plan(scope, &plan, plan_file, session.now()).map_err(refused)?;
        let words = format!("its tasks belong to `{plan_file}` now");
        session.reporter().remark(format!("`{plan}` is gone and has the same tasks; {words}"));
    }
    Ok(())
}

/// Returns the plan whose file is gone and whose tasks are those of this one.
pub(super) fn moved_plan(
    desk: &TaskDesk<'_>,
    plan_file: &str,
    titles: &[&str],
) -> Result<Option<String>, Failure> {
    let TaskDesk { session, workspace: Workspace { store, scope }, .. } = desk;
    let plans = store.plans(scope).map_err(refused)?;
    if plans.iter().any(|plan| plan == plan_file) {
        return Ok(None);
    }
    let is_gone = |plan: &&String| matches!(session.project.join(plan).try_exists(), Ok(false));
    for plan in plans.iter().filter(is_gone) {
        let known = store.tasks_of_plan(scope, Some(plan)).map_err(refused)?;
        let known = contents(&known);
        if titles.iter().all(|title| known.contains(title)) {
            return Ok(Some(plan.clone()));
        }
    }
    Ok(None)
}

fn contents(tasks: &[Task]) -> HashSet<&str> {
    tasks.iter().map(|task| task.content.as_str()).collect()
}

/// Refuses a plan without tasks, and one with tasks of the same title.
pub(super) fn check(plan: &ParsedPlan<'_>, path: PathBuf) -> Result<(), Failure> {
    if plan.tasks.is_empty() {
        return Err(Failure::new(ErrorClass::Refused, ImportError::NoTasks { path })
            .hint("a task reads `### Task 1: What is to be done`, `- [ ] …` or `1. …`"));
    }
    if let Some(title) = plan.repeated_title() {
        let title = title.to_owned();
        return Err(Failure::new(ErrorClass::Refused, ImportError::Repeated { path, title })
            .hint("give each task a different title; nothing was imported"));
    }
    Ok(())
}

/// Reports how many tasks the plan marks as done.
fn note_done(desk: &TaskDesk<'_>, ids: &[TaskId]) -> Result<(), Failure> {
    let Workspace { store, scope } = &desk.workspace;
    let mut done = Vec::new();
    for id in ids {
        let task = store.task(scope, id).map_err(refused)?;
        done.extend(task.filter(|task| task.status == TaskStatus::Completed).map(|task| task.id));
    }
    let Some(first) = done.first() else { return Ok(()) };
    let (count, all) = (done.len(), ids.len());
    desk.session.reporter().remark(format!(
        "{count} of {all} imported as done, because every box of theirs is checked; \
         `convoke task start {first}` opens one again"
    ));
    Ok(())
}

/// Reports that the imported plan waits, where a task of another plan is in progress.
fn note_current_plan(desk: &TaskDesk<'_>, imported: &str) -> Result<(), Failure> {
    let Workspace { store, scope } = &desk.workspace;
    let current = match store.active_plan(scope, None).map_err(refused)? {
        ActivePlan::File(plan) if plan != imported => format!("`{plan}` stays the current plan"),
        ActivePlan::WithoutFile => "a task outside this plan stays the current one".to_owned(),
        ActivePlan::File(_) | ActivePlan::Nothing => return Ok(()),
    };
    desk.session.reporter().remark(format!(
        "{current}, because a task is in progress there; the imported tasks come after it"
    ));
    Ok(())
}

/// Reports headings that look like tasks and are not imported.
pub(super) fn note_not_taken(session: &Session, plan: &ParsedPlan<'_>) {
    let names: Vec<_> =
        plan.not_taken.iter().take(NAMED).map(|title| format!("`{title}`")).collect();
    let more = if plan.not_taken.len() > NAMED { ", …" } else { "" };
    if let Some((block, line)) = plan.open_block {
        let block = match block {
            HiddenBlock::Code => "code fence",
            HiddenBlock::Comment => "comment",
        };
        session.reporter().remark(format!(
            "the {block} in line {line} is never closed; Convoke takes no task after it"
        ));
    }
    match plan.not_taken.len() {
        0 => {}
        count => session.reporter().remark(format!(
            "not taken as tasks: {} ({}{more}); a task's heading reads \
             `### Task 1: What is to be done`",
            counted(count, "heading"),
            names.join(", ")
        )),
    }
}

/// Tells which tasks have another title than the plan now gives them, and which were removed before.
pub(super) fn note_changes(
    desk: &TaskDesk<'_>,
    plan: &str,
    titles: &[&str],
    known: &[Task],
) -> Result<(), Failure> {
    let Workspace { store, scope } = &desk.workspace;
    let reporter = desk.session.reporter();
    let removed = store.removed_tasks(scope).map_err(refused)?;
    let here = contents(known);
    for title in titles.iter().filter(|title| !here.contains(*title)) {
        if let Some(Task { id, content, .. }) = renamed_from(title, titles, known) {
            reporter.remark(format!(
                "{id} keeps its title `{content}`; the plan now says `{title}`: \
                 `convoke task edit {id} --title …` changes it"
            ));
        } else if let Some(RemovedTask { task, .. }) = removed.iter().find(|removed| {
            removed.task.plan_file.as_deref() == Some(plan) && removed.task.content == **title
        }) {
            let id = &task.id;
            reporter.remark(format!(
                "`{title}` was removed before and is added as a new task; to have the old \
                 one instead, run `convoke task undo` and `convoke task restore {id}`"
            ));
        }
    }
    Ok(())
}

/// Adds the parts of a reviewed task to every task of a plan that is not begun and has none.
fn add_reviews(desk: &TaskDesk<'_>, plan: &str) -> Result<(), Failure> {
    let TaskDesk { session, workspace: Workspace { store, scope }, .. } = desk;
    let tasks = store.tasks_of_plan(scope, Some(plan)).map_err(refused)?;
    let bare = bare_tasks(&tasks);
    let part = |task: &'_ Task, title| (task.id.clone(), title);
    let parts: Vec<_> =
        bare.iter().flat_map(|task| REVIEWED.map(|title| part(task, title))).collect();
    let new: Vec<_> = parts
        .iter()
        .map(|(id, title)| NewTask { parent: Some(id), ..NewTask::titled(title) })
        .collect();
    store.add_tasks(scope, &new, session.now()).map_err(refused)?;
    let names = REVIEWED.join(", ");
    let tasks = counted(bare.len(), "task");
    session.reporter().remark(format!("added to {tasks} each: {names}"));
    Ok(())
}

/// Returns the tasks of a plan that are not begun and have no parts.
pub(super) fn bare_tasks(tasks: &[Task]) -> Vec<&Task> {
    let has_parts = |id: &TaskId| tasks.iter().any(|task| task.parent.as_ref() == Some(id));
    let is_bare = |task: &&Task| {
        task.parent.is_none() && task.status == TaskStatus::Pending && !has_parts(&task.id)
    };
    tasks.iter().filter(is_bare).collect()
}

/// Takes over the tasks that another program kept for this project and branch.
fn adopt(desk: &TaskDesk<'_>, path: &Path) -> Result<Vec<TaskId>, Failure> {
    let TaskDesk { session, workspace: Workspace { store, scope }, .. } = desk;
    let here = foreign_tasks(desk, path)?;
    let count = here.len();
    let ids = store.adopt_tasks(scope, here).map_err(refused)?;
    if ids.len() < count {
        let known = count - ids.len();
        session.reporter().remark(format!("{known} of its tasks are here already"));
    }
    Ok(ids)
}

/// Returns the tasks that another program kept for this project and branch.
pub(super) fn foreign_tasks(desk: &TaskDesk<'_>, path: &Path) -> Result<Vec<Task>, Failure> {
    let TaskDesk { session, workspace: Workspace { scope, .. }, .. } = desk;
    let all = read_tasks(path, session.now())
        .map_err(|error| Failure::new(ErrorClass::Refused, error))?;
    let is_here = |found: &&ForeignTask| {
        // A program without projects or branches kept all tasks together.
        let folder = found.project.as_deref().and_then(|project| project.rsplit('/').next());
        folder.is_none_or(|folder| folder == scope.project)
            && found.branch.as_ref().is_none_or(|branch| *branch == scope.branch)
    };
    let here: Vec<_> = all.iter().filter(is_here).map(|found| found.task.clone()).collect();
    if here.is_empty() {
        let Scope { project, branch } = scope.clone();
        let error = ImportError::NotHere { path: path.to_owned(), project, branch };
        return Err(Failure::new(ErrorClass::Refused, error).maybe_hint(elsewhere(&all)));
    }
    Ok(here)
}

/// Describes the projects that a database has instead.
fn elsewhere(all: &[ForeignTask]) -> Option<String> {
    let place = |found: &ForeignTask| {
        let name = |word: &Option<String>| word.clone().unwrap_or_else(|| "any".to_owned());
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
            let most = format!("a plan has at most {} MB", MAX_BYTES / 1024 / 1024);
            let large = (reason == Unreadable::TooLarge).then_some(most);
            let other = (reason == Unreadable::InvalidUtf8).then_some("save it as UTF-8");
            let error = ImportError::Unreadable { path, reason };
            Err(Failure::new(ErrorClass::Prerequisite, error)
                .maybe_hint(large)
                .maybe_hint(other.map(str::to_owned)))
        }
    }
}
