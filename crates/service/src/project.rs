//! The projects that the store knows, and their folders.

use std::path::Path;

use convoke_domain::repository::RepositoryId;
use convoke_engine::git::folder_id::folder_id;
use convoke_store::Store;
use convoke_store::project::{KnownProject, MergedProject};
use jiff::Timestamp;
use serde::Serialize;

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;
use crate::user_only::{UserOnly, refuse_agents};
use crate::workspace::{Workspace, own_repository_id, project_folder, refused};

/// Whether a project is taken over that is more likely another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectTakeover {
    /// Only if it is the same repository, and its folder is gone where that matters.
    IfSame,
    /// In any case.
    Anyway,
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

/// A project for programs.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProjectReport {
    /// The project's name.
    pub name: String,
    /// The project's folder.
    pub folder: String,
    /// Whether the folder is there.
    pub exists: bool,
    /// Whether it is the project of the session.
    pub here: bool,
    /// The repository's remote.
    pub remote: Option<String>,
    /// The repository's first commits.
    pub roots: Vec<String>,
    /// How many tasks it has.
    pub tasks: u32,
    /// How many of them are open.
    pub open_tasks: u32,
    /// When it was last used.
    pub last_used: Option<String>,
    /// When it was last used, to be shown by a clock.
    #[serde(skip)]
    pub last_used_at: Option<Timestamp>,
}

/// The records that moved to a project.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MergedProjectReport {
    /// The project that has it now.
    pub project: String,
    /// How many tasks came.
    pub tasks: usize,
    /// How many messages came.
    pub messages: usize,
    /// How many rules of the user came.
    pub rules: usize,
    /// How many agents came.
    pub agents: usize,
    /// Tasks whose ids were taken: the branch, the old id and the new one.
    pub renamed: Vec<[String; 3]>,
}

impl MergedProjectReport {
    fn new(project: &str, merged: &MergedProject) -> Self {
        let row = |(branch, old, new): &(String, _, _)| {
            [branch.clone(), ToString::to_string(old), ToString::to_string(new)]
        };
        let renamed = merged.renamed.iter().map(row).collect();
        let MergedProject { tasks, messages, pins, agents, .. } = *merged;
        Self { project: project.to_owned(), tasks, messages, rules: pins, agents, renamed }
    }
}

/// Tells whether the folder of a project is gone; an inaccessible one is not.
pub(crate) fn is_gone(known: &KnownProject) -> bool {
    matches!(Path::new(&known.path).try_exists(), Ok(false))
}

/// Opens the workspace, and keeps which repository the project is.
fn open(session: &Session) -> Result<(Workspace, Option<RepositoryId>), Failure> {
    let workspace = Workspace::open(session, None)?;
    let id = own_repository_id(session);
    let Workspace { store, scope } = &workspace;
    if let Some(id) = &id {
        store.keep_repository(&scope.project, id).map_err(refused)?;
    }
    workspace.keep_repository(session);
    Ok((workspace, id))
}

/// Lists the projects of the store. A folder that is gone and left nothing, as that of a rehearsal, is
/// not one that a user would look for.
pub fn list_projects(session: &Session) -> Result<Vec<ProjectReport>, Failure> {
    let (Workspace { store, scope }, _) = open(session)?;
    let report = |known: &KnownProject| {
        let counts = store.count_tasks(&known.name).map_err(refused)?;
        Ok(report(known, counts, &scope.project))
    };
    let is_kept = |project: &Result<ProjectReport, Failure>| {
        let is_trace = |project: &ProjectReport| {
            !project.exists && !project.here && project.tasks == 0 && project.last_used.is_none()
        };
        !project.as_ref().is_ok_and(is_trace)
    };
    store.projects().map_err(refused)?.iter().map(report).filter(is_kept).collect()
}

fn report(known: &KnownProject, (tasks, open_tasks): (u32, u32), here: &str) -> ProjectReport {
    let repository = known.repository.as_ref();
    let roots = repository.map(|id| id.roots.iter().map(ToString::to_string).collect());
    ProjectReport {
        name: known.name.clone(),
        folder: known.folder().to_owned(),
        exists: !is_gone(known),
        here: known.name == here,
        remote: repository.and_then(|id| id.remote.clone()),
        roots: roots.unwrap_or_default(),
        tasks,
        open_tasks,
        last_used: known.last_used.map(|at| at.to_string()),
        last_used_at: known.last_used,
    }
}

/// Makes the session's folder the folder of an earlier project.
pub fn attach_project(
    session: &Session,
    name: &str,
    takeover: ProjectTakeover,
) -> Result<MergedProjectReport, Failure> {
    let (Workspace { store, scope }, id, known) = open_and_find(session, name)?;
    let is_checked = takeover == ProjectTakeover::IfSame && name != scope.project;
    if let Some(known) = known.as_ref().filter(|_| is_checked) {
        refuse(known, id.as_ref())?;
    }
    refuse_moving_rules(session, &*store, name)?;
    let folder = project_folder(session);
    let merged = store.attach_project(name, &folder.display().to_string()).map_err(refused)?;
    if let Some(id) = folder_id(&folder) {
        store.keep_folder_id(name, &id).map_err(refused)?;
    }
    if let Some(id) = &id {
        store.keep_repository(name, id).map_err(refused)?;
    }
    note_renamed(session, &merged);
    Ok(MergedProjectReport::new(name, &merged))
}

/// Opens the store, and finds a project in it by its name.
fn open_and_find(
    session: &Session,
    name: &str,
) -> Result<(Workspace, Option<RepositoryId>, Option<KnownProject>), Failure> {
    let (workspace, id) = open(session)?;
    let projects = workspace.store.projects().map_err(refused)?;
    let known = projects.into_iter().find(|known| known.name == name);
    Ok((workspace, id, known))
}

/// Refuses a merge that is more likely a mistake than a moved folder.
fn refuse(known: &KnownProject, id: Option<&RepositoryId>) -> Result<(), Failure> {
    let name = known.name.clone();
    if !is_gone(known) {
        let folder = known.folder().to_owned();
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

/// Lets only the user take rules to another folder: an agent could otherwise be rid of them.
fn refuse_moving_rules(session: &Session, store: &dyn Store, name: &str) -> Result<(), Failure> {
    if store.all_pins(name).map_err(refused)?.is_empty() {
        return Ok(());
    }
    refuse_agents(session, UserOnly::Rules)
}

/// Tells whether a project is known to be another repository than this one.
pub(crate) fn is_other(known: &KnownProject, id: Option<&RepositoryId>) -> bool {
    known.repository.as_ref().zip(id).is_some_and(|(one, two)| !one.is_same(two))
}

/// Moves all records of another project into the session's.
pub fn merge_project(
    session: &Session,
    name: &str,
    takeover: ProjectTakeover,
) -> Result<MergedProjectReport, Failure> {
    let (Workspace { store, scope }, id, known) = open_and_find(session, name)?;
    let known = known.as_ref();
    let is_checked = takeover == ProjectTakeover::IfSame;
    if is_checked && known.is_some_and(|known| is_other(known, id.as_ref())) {
        let error = ProjectError::MergeOther { name: name.to_owned() };
        return Err(Failure::new(ErrorClass::Refused, error)
            .hint("see `convoke project list`; `--force` merges it anyway"));
    }
    refuse_moving_rules(session, &*store, name)?;
    let merged = store.merge_projects(name, &scope.project).map_err(refused)?;
    // A project without a folder and without records is of no use.
    if known.is_some_and(is_gone) {
        store.forget_project(name).map_err(refused)?;
    }
    note_renamed(session, &merged);
    Ok(MergedProjectReport::new(&scope.project, &merged))
}

fn note_renamed(session: &Session, merged: &MergedProject) {
    let reporter = session.reporter();
    for (branch, old, new) in &merged.renamed {
        reporter.remark(format!("`{old}` on {branch} was taken; the task is now `{new}`"));
    }
}
