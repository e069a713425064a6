//! Other folders in which tasks, rules or messages of this project wait.

use std::path::Path;

use convoke_domain::repository::RepositoryId;
use convoke_domain::text::{counted, shell_word};
use convoke_engine::git::checkout;
use convoke_store::project::{KnownProject, WaitingCounts};

use super::open_tasks;
use crate::failure::Failure;
use crate::project::{is_gone, is_other};
use crate::session::Session;
use crate::workspace::{Workspace, own_repository_id, project_folder, refused};

/// How another project belongs to this folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    /// It is another folder of the same repository.
    Clone,
    /// It was in this folder, which another repository has now.
    Replaced,
    /// It was in this folder before that was a repository, or while it was one.
    Before,
    /// Its folder is gone, and it is the same repository.
    Gone,
    /// It took over everything of this folder's project.
    Merged,
}

/// Another project in which something waits.
pub(crate) struct WaitingFolder {
    relation: Relation,
    waiting: WaitingCounts,
    place: String,
    /// Brings everything here.
    pub(crate) command: String,
}

impl WaitingFolder {
    /// Says what waits where, and how it is brought here.
    pub(crate) fn line(&self) -> String {
        let Self { relation, waiting, place, command } = self;
        let things = things(*waiting);
        // Only the user moves rules.
        let who = if waiting.rules > 0 { "the user takes" } else { "take" };
        let terminal = if waiting.rules > 0 { " in a terminal" } else { "" };
        let brings = format!("{who} them over{terminal} with `{command}`");
        match relation {
            Relation::Gone => format!(
                "this repository was in `{place}`, which is gone, and has {things} there; if it was \
                 moved here, {brings}"
            ),
            Relation::Before => {
                format!("this folder was another project before, which has {things}; {brings}")
            }
            Relation::Replaced => format!(
                "another repository was in this folder before, and its project has {things}; if it \
                 is the same project, {brings}"
            ),
            Relation::Merged => format!(
                "everything of this folder was merged into the project in `{place}`, which has \
                 {things}; {brings}"
            ),
            Relation::Clone => format!(
                "`{place}` is a folder of the same repository with {things}; bring them here with \
                 `{command}`"
            ),
        }
    }
}

fn things(waiting: WaitingCounts) -> String {
    let WaitingCounts { tasks, rules, messages } = waiting;
    let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let tasks = (tasks > 0).then(|| open_tasks(tasks));
    let rules = (rules > 0).then(|| counted(size(rules), "rule"));
    let messages = (messages > 0).then(|| counted(size(messages), "unread message"));
    let mut things: Vec<_> = [tasks, rules, messages].into_iter().flatten().collect();
    match things.pop() {
        Some(last) if things.is_empty() => last,
        Some(last) => format!("{} and {last}", things.join(", ")),
        None => String::new(),
    }
}

/// Returns the command that attaches a project here. Another repository needs its user's word.
pub(crate) fn attach_command(known: &KnownProject, id: Option<&RepositoryId>) -> String {
    let force = if is_other(known, id) { " --force" } else { "" };
    format!("convoke project attach {}{force}", shell_word(&known.name))
}

/// Says where else something waits.
pub(super) fn line(session: &Session, workspace: &Workspace) -> Result<Option<String>, Failure> {
    let own = match workspace.store.repository_of(&workspace.scope.project).map_err(refused)? {
        Some(own) => Some(own),
        None => own_repository_id(session),
    };
    let found = search(session, workspace, own.as_ref())?;
    Ok(found.map(|folder| folder.line()))
}

/// Returns a project of this folder's that would be missed: its folder is gone, or it was merged. Git
/// is not asked.
pub(crate) fn missed_folder(
    session: &Session,
    workspace: &Workspace,
) -> Result<Option<WaitingFolder>, Failure> {
    let own = workspace.store.repository_of(&workspace.scope.project).map_err(refused)?;
    let found = search(session, workspace, own.as_ref())?;
    Ok(found.filter(|folder| folder.relation >= Relation::Before))
}

/// Names the list of projects in a folder without git and tasks while the folder of a project without
/// git is gone. Nothing proves that one is the other, so the line offers no command that moves tasks.
pub(super) fn moved_without_git(
    session: &Session,
    workspace: &Workspace,
) -> Result<Option<String>, Failure> {
    let Workspace { store, scope } = workspace;
    let (tasks, _) = store.count_tasks(&scope.project).map_err(refused)?;
    if tasks > 0 || checkout(&session.project).is_some() {
        return Ok(None);
    }
    let mut found: Option<(KnownProject, u32)> = None;
    let mut more = 0_usize;
    let others = store.projects().map_err(refused)?.into_iter();
    for known in others.filter(|known| known.name != scope.project) {
        if !is_without_git(&known) || !is_gone(&known) {
            continue;
        }
        let waiting = store.waiting(&known.name, session.now()).map_err(refused)?.tasks;
        match &found {
            _ if waiting == 0 => {}
            // The store lists the project that was used last first.
            Some(_) => more += 1,
            None => found = Some((known, waiting)),
        }
    }
    Ok(found.map(|(known, tasks)| {
        let more = match more {
            0 => String::new(),
            more => format!(" (and {})", counted(more, "more such folder")),
        };
        format!(
            "no task is in this folder, and `{}`{more}, a folder without git that is gone, has {}; if \
             it was moved here, see `convoke project list`",
            known.folder(),
            open_tasks(tasks)
        )
    }))
}

/// Tells whether a project was a folder of no repository, as far as the store knows.
fn is_without_git(known: &KnownProject) -> bool {
    let path = Path::new(&known.path);
    let is_gits_folder = path.ends_with(".git") || path.extension() == Some("git".as_ref());
    let is_of_git = is_gits_folder || known.folder_id.is_some();
    known.repository.is_none() && !is_of_git && !known.is_replaced()
}

fn search(
    session: &Session,
    workspace: &Workspace,
    own: Option<&RepositoryId>,
) -> Result<Option<WaitingFolder>, Failure> {
    let Workspace { store, scope } = workspace;
    let projects = store.projects().map_err(refused)?;
    let here = projects.iter().find(|known| known.name == scope.project);
    let merged_into = here.and_then(|here| here.merged_into.as_deref());
    let path = project_folder(session).display().to_string();
    let folder = path.strip_suffix("/.git").unwrap_or(&path);
    let relation = |known: &KnownProject| {
        let is_same =
            || known.repository.as_ref().zip(own).is_some_and(|(one, two)| one.is_same(two));
        if merged_into == Some(known.name.as_str()) {
            Some(Relation::Merged)
        } else if known.folder() == folder {
            Some(if known.is_replaced() { Relation::Replaced } else { Relation::Before })
        } else if is_same() {
            Some(if is_gone(known) { Relation::Gone } else { Relation::Clone })
        } else {
            None
        }
    };
    let mut best: Option<WaitingFolder> = None;
    for known in projects.iter().filter(|known| known.name != scope.project) {
        let Some(relation) = relation(known) else { continue };
        let waiting = store.waiting(&known.name, session.now()).map_err(refused)?;
        let rank = (relation, waiting.tasks, waiting.rules, waiting.messages);
        let is_better = best.as_ref().is_none_or(|best| {
            rank > (best.relation, best.waiting.tasks, best.waiting.rules, best.waiting.messages)
        });
        if waiting.is_empty() || !is_better {
            continue;
        }
        let command = match relation {
            Relation::Gone | Relation::Replaced => attach_command(known, own),
            Relation::Before if is_gone(known) => attach_command(known, own),
            Relation::Before | Relation::Clone | Relation::Merged => {
                let force = if is_other(known, own) { " --force" } else { "" };
                format!("convoke project merge {}{force}", shell_word(&known.name))
            }
        };
        best = Some(WaitingFolder { relation, waiting, place: known.folder().to_owned(), command });
    }
    Ok(best)
}
