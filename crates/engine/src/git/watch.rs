//! The files that decide what git does: its settings, and its hooks. No reader has to change them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::diff::shown;
use super::repository::Repository;
use crate::file::open_regular;
use crate::skill::hash;

/// Files of git's own folders that decide what git does and sees.
const SETTINGS: [&str; 7] = [
    "config",
    "config.worktree",
    "info/exclude",
    "info/attributes",
    "info/grafts",
    "info/sparse-checkout",
    "objects/info/alternates",
];

/// No settings or hooks that a person writes are larger; of a larger one the beginning is compared.
const MAX_BYTES: u64 = 1024 * 1024;

/// The most files of a folder of hooks that are read.
const MOST_HOOKS: usize = 1000;

/// Git's settings and hooks as they were.
#[derive(Debug)]
pub(super) struct Watch {
    top: PathBuf,
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    before: BTreeMap<String, String>,
}

impl Watch {
    /// Records the settings and hooks of a repository, at any path.
    pub(super) fn begin(repository: &Repository) -> Self {
        let Repository { top, git_dirs, .. } = repository;
        let own = git_dirs.iter().flat_map(|dir| SETTINGS.map(|name| dir.join(name)));
        // Settings may be in other files, which git's own include.
        let read = repository.settings().iter().filter_map(|setting| setting.file.as_ref());
        let read = read.collect::<BTreeSet<_>>().into_iter().map(|file| top.join(file));
        let files: BTreeSet<_> = own.chain(read).collect();
        let named = repository.settings().iter().filter(|setting| setting.name == "core.hookspath");
        let named = named.filter_map(|setting| setting.value.as_ref());
        let folders = named.map(|folder| top.join(folder)).chain([git_dirs[1].join("hooks")]);
        let mut watch = Self {
            top: top.clone(),
            files: files.into_iter().collect(),
            folders: folders.collect(),
            before: BTreeMap::new(),
        };
        watch.before = watch.now();
        watch
    }

    /// Returns every file as it can be shown, with a digest of it.
    pub(super) const fn before(&self) -> &BTreeMap<String, String> {
        &self.before
    }

    /// Names new, changed and missing ones, in printable form.
    pub(super) fn changed(&self) -> Vec<String> {
        let now = self.now();
        let names = self.before.keys().chain(now.keys()).collect::<BTreeSet<_>>();
        let differs = |name: &&&String| self.before.get(**name) != now.get(**name);
        names.iter().filter(differs).map(|name| (*name).clone()).collect()
    }

    fn now(&self) -> BTreeMap<String, String> {
        let entries = self.folders.iter().flat_map(|folder| {
            fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_HOOKS)
        });
        let hooks = entries.map(|entry| entry.path());
        let files = self.files.iter().cloned().chain(hooks);
        files.filter_map(|path| Some((self.shown(&path), state(&path)?))).collect()
    }

    /// Names a file as people know it.
    fn shown(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.top).unwrap_or(path).display().to_string();
        let start = path.rfind("/.git/").map_or(0, |at| at + 1);
        shown(&path[start..])
    }
}

/// Returns what there is to compare of a file: its kind, whether it can be executed, where it leads,
/// and its content.
fn state(path: &Path) -> Option<String> {
    let found = fs::symlink_metadata(path).ok()?;
    let mut state =
        format!("{:?} {:o}\n", found.file_type(), found.permissions().mode()).into_bytes();
    if let Ok(target) = fs::read_link(path) {
        state.extend_from_slice(target.as_os_str().as_bytes());
    }
    if let Some(file) = open_regular(path) {
        file.take(MAX_BYTES).read_to_end(&mut state).ok()?;
    }
    Some(hash(state))
}
