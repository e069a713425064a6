//! Which project a folder is.
//!
//! A project is known by its path and by the id that Convoke keeps in git's folder. As long as both
//! agree, Convoke reads one file. Where they do not, the folder was moved, copied or replaced: then
//! Convoke asks git which repository it is, even in a hook, and records the answer.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use convoke_engine::git::folder_id::{add_folder_id, folder_id, new_folder_id, replace_folder_id};
use convoke_engine::git::identity::repository_id;
use convoke_engine::git::{Checkout, is_unborn};
use convoke_store::Store;
use convoke_store::project::KnownProject;

use crate::elsewhere::attach_command;
use crate::failure::Failure;
use crate::project::is_gone;
use crate::session::Session;
use crate::workspace::{folder_of, refused, wanted_name};

/// The project of a folder, and a note to its user about how it got there.
pub(crate) struct ProjectHere {
    pub(crate) name: String,
    pub(crate) note: Option<String>,
}

impl ProjectHere {
    fn known(project: KnownProject) -> Self {
        Self { name: project.name, note: None }
    }
}

/// Finds the project of the session's folder, or makes one.
pub(crate) fn project_here(
    store: &dyn Store,
    session: &Session,
    checkout: Option<&Checkout>,
) -> Result<ProjectHere, Failure> {
    let folder = folder_of(session, checkout);
    let search = Search { store, session, folder: &folder, path: folder.display().to_string() };
    match checkout {
        Some(checkout) => search.repository(checkout),
        None => search.fresh().map(|name| ProjectHere { name, note: None }),
    }
}

/// Returns the project of the session's folder, if that is certain without asking git or changing the
/// store.
pub(crate) fn known_here(
    store: &dyn Store,
    session: &Session,
    checkout: Option<&Checkout>,
) -> Result<Option<String>, Failure> {
    let folder = folder_of(session, checkout);
    let id = checkout.and_then(|_| folder_id(&folder));
    let at_path = store.project_at(&folder.display().to_string()).map_err(refused)?;
    if let Some(known) = &at_path
        && known.folder_id == id
    {
        return Ok(Some(known.name.clone()));
    }
    let Some(id) = id else { return Ok(None) };
    let of_id = store.projects_with_folder_id(&id).map_err(refused)?;
    // A folder that was moved here, and one that another path leads to.
    let is_here = |known: &KnownProject| {
        let is_there = folder_id(Path::new(&known.path)).as_deref() == Some(&id);
        !is_there || is_one_folder(&known.path, &folder)
    };
    let name = match (of_id.as_slice(), at_path) {
        ([], Some(known)) if known.folder_id.is_none() => Some(known.name),
        ([known], None) if is_here(known) => Some(known.name.clone()),
        _ => None,
    };
    Ok(name)
}

struct Search<'a> {
    store: &'a dyn Store,
    session: &'a Session,
    /// The folder that the project is known by.
    folder: &'a Path,
    /// The same as the store keeps it.
    path: String,
}

impl Search<'_> {
    fn repository(&self, checkout: &Checkout) -> Result<ProjectHere, Failure> {
        let id = folder_id(self.folder);
        let known = self.store.project_at(&self.path).map_err(refused)?;
        match (known, id) {
            (Some(known), Some(id)) if known.folder_id.as_ref() == Some(&id) => {
                Ok(ProjectHere::known(known))
            }
            (Some(known), id) => self.doubtful(known, id),
            (None, Some(id)) => self.arrived(&id),
            (None, None) => self.unmarked(checkout),
        }
    }

    /// Decides about a project at the right path whose id is missing or another one.
    fn doubtful(&self, known: KnownProject, id: Option<String>) -> Result<ProjectHere, Failure> {
        // An empty project has nothing to protect, and looking at one writes nothing.
        let waiting = self.store.waiting(&known.name, self.session.now()).map_err(refused)?;
        if known.folder_id.is_none() && id.is_none() && waiting.is_empty() {
            return Ok(ProjectHere::known(known));
        }
        let is_others = match &id {
            Some(id) => !self.store.projects_with_folder_id(id).map_err(refused)?.is_empty(),
            None => false,
        };
        if !is_others && self.is_same(&known, id.as_deref()) {
            return self.mark_again(known, id);
        }
        self.store.replace_project(&known).map_err(refused)?;
        let here = match id {
            Some(id) => self.arrived(&id)?,
            None => ProjectHere { name: self.fresh()?, note: None },
        };
        let (name, command) = (&known.name, attach_command(&known, self.identity().as_ref()));
        let replaced = format!(
            "another repository is in this folder than before, so the tasks, rules and messages of \
             the project {name} are not used here; if it is the same project, run `{command}`"
        );
        let note = [Some(replaced), here.note].into_iter().flatten().collect::<Vec<_>>().join("; ");
        Ok(ProjectHere { name: here.name, note: Some(note) })
    }

    /// Tells whether the repository at the path is still the project's. One that Convoke never marked
    /// is another one only if that is certain; one whose mark is gone is the same only if git says so.
    fn is_same(&self, known: &KnownProject, id: Option<&str>) -> bool {
        let present = self.identity();
        let both = known.repository.as_ref().zip(present.as_ref());
        match (&known.folder_id, id) {
            (None, _) => !both.is_some_and(|(before, now)| before.is_certainly_other(now)),
            (Some(_), _) => both.is_some_and(|(before, now)| before.is_same(now)),
        }
    }

    fn identity(&self) -> Option<convoke_domain::repository::RepositoryId> {
        repository_id(&self.session.project)
    }

    /// Lets path and id agree again.
    fn mark_again(&self, known: KnownProject, id: Option<String>) -> Result<ProjectHere, Failure> {
        let id = match (&known.folder_id, id) {
            (Some(before), Some(_)) => {
                replace_folder_id(self.folder, before).ok().map(|()| before.clone())
            }
            (Some(before), None) => add_folder_id(self.folder, before),
            (None, Some(id)) => Some(id),
            (None, None) => add_folder_id(self.folder, &new_folder_id()),
        };
        if let Some(id) = id {
            self.store.keep_folder_id(&known.name, &id).map_err(refused)?;
        }
        Ok(ProjectHere::known(known))
    }

    /// Decides about a marked repository at a path that has no project: it was moved here, it is a
    /// copy, or another path leads to it.
    fn arrived(&self, id: &str) -> Result<ProjectHere, Failure> {
        let projects = self.store.projects_with_folder_id(id).map_err(refused)?;
        let is_there =
            |known: &KnownProject| folder_id(Path::new(&known.path)).as_deref() == Some(id);
        let (there, moved): (Vec<_>, Vec<_>) = projects.into_iter().partition(is_there);
        if let Some(known) = there.iter().find(|known| is_one_folder(&known.path, self.folder)) {
            return Ok(ProjectHere::known(known.clone()));
        }
        if !there.is_empty() {
            // Both are used from now on, so each has an id of its own.
            let new = new_folder_id();
            let has_new = replace_folder_id(self.folder, &new).is_ok();
            let name = self.fresh()?;
            if has_new {
                self.store.keep_folder_id(&name, &new).map_err(refused)?;
            }
            return Ok(ProjectHere { name, note: None });
        }
        let Some(known) = moved.into_iter().next() else {
            let name = self.fresh()?;
            self.store.keep_folder_id(&name, id).map_err(refused)?;
            return Ok(ProjectHere { name, note: None });
        };
        self.store.move_project(&known.name, &self.path).map_err(refused)?;
        let note = format!(
            "this project was in `{}`; its tasks, rules and messages followed it here",
            known.folder()
        );
        Ok(ProjectHere { name: known.name, note: Some(note) })
    }

    /// Decides about a repository that Convoke has not seen. A folder that has just become a
    /// repository keeps its project.
    fn unmarked(&self, checkout: &Checkout) -> Result<ProjectHere, Failure> {
        let parent = self.folder.parent().filter(|_| self.folder.ends_with(".git"));
        let before = match parent.filter(|_| is_unborn(checkout)) {
            Some(parent) => {
                self.store.project_at(&parent.display().to_string()).map_err(refused)?
            }
            None => None,
        };
        if let Some(known) = before {
            self.store.move_project(&known.name, &self.path).map_err(refused)?;
        }
        let name = self.fresh()?;
        // The folder may be one that is missed elsewhere; later hooks need not ask git then.
        let projects = self.store.projects().map_err(refused)?;
        let is_missed = |known: &KnownProject| known.repository.is_some() && is_gone(known);
        if projects.iter().any(is_missed)
            && let Some(identity) = self.identity()
        {
            self.store.keep_repository(&name, &identity).map_err(refused)?;
        }
        Ok(ProjectHere { name, note: None })
    }

    /// Returns the project at this path, which may be a new one.
    fn fresh(&self) -> Result<String, Failure> {
        self.store.project_name(&self.path, &wanted_name(self.folder)).map_err(refused)
    }
}

/// Tells whether two paths lead to one folder, such as through a link or a mount.
fn is_one_folder(one: &str, other: &Path) -> bool {
    let number = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let one = number(Path::new(one));
    one.is_some() && one == number(other)
}
