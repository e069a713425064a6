//! How a plan is named in the store.

use std::path::{Component, Path, PathBuf};

use crate::failure::{ErrorClass, Failure};
use crate::session::Session;

/// A plan that is not in the project.
#[derive(Debug, thiserror::Error)]
#[error("cannot take `{}` for a plan: it is not in the project", path.display())]
struct PlanOutside {
    path: PathBuf,
}

/// Returns a plan's path relative to the project, written one way only. The given path is relative
/// to this folder, or to the project's.
pub fn plan_file(session: &Session, given: &Path) -> Result<String, Failure> {
    let outside = || Failure::new(ErrorClass::Usage, PlanOutside { path: given.to_owned() });
    let project = &session.project;
    let root = std::path::absolute(project).unwrap_or_else(|_| project.clone());
    let from_here = session.environment.current_dir().ok().map(|here| here.join(given));
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
