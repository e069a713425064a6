//! Whether git's folder belongs to the folder whose `.git` leads to it.
//!
//! A `.git` file, a link or a `commondir` can name any repository of the machine, and an unpacked
//! archive can bring one along. So git's folder must lie in the folder itself, or name it.

use std::path::Path;

use super::{MAX_BYTES, line};
use crate::file;

/// Tells whether git's folder belongs to the working tree at `root`. All paths are real ones.
pub(super) fn belongs(root: &Path, git_dir: &Path, common_dir: &Path) -> bool {
    if git_dir != common_dir {
        // A linked worktree: git lists it, with the way back.
        return git_dir.parent() == Some(&common_dir.join("worktrees"))
            && line(&git_dir.join("gitdir")).is_some_and(|back| {
                git_dir.join(back).parent().and_then(|tree| tree.canonicalize().ok()).as_deref()
                    == Some(root)
            });
    }
    let is_anothers = git_dir.file_name().is_some_and(|name| name == ".git");
    if git_dir.parent() == Some(root) || (git_dir.starts_with(root) && !is_anothers) {
        return true;
    }
    let Some(settings) = file::lossy_text(&git_dir.join("config"), MAX_BYTES) else { return false };
    work_tree(&settings)
        .is_some_and(|tree| git_dir.join(tree).canonicalize().is_ok_and(|tree| tree == root))
}

/// Returns the folder that git's settings name as their working tree.
fn work_tree(settings: &str) -> Option<&str> {
    let mut is_core = false;
    let mut found = None;
    for line in settings.lines().map(str::trim) {
        if line.starts_with('[') {
            is_core = line.eq_ignore_ascii_case("[core]");
        } else if let Some((name, value)) = line.split_once('=')
            && is_core
            && name.trim().eq_ignore_ascii_case("worktree")
        {
            found = Some(value.trim().trim_matches('"'));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_working_tree_is_named_in_the_core_settings() {
        for (settings, expected) in [
            ("[core]\n\tbare = false\n\tworktree = ../../../sub\n", Some("../../../sub")),
            ("[Core]\nWorkTree=\"/a b\"\n", Some("/a b")),
            ("[other]\nworktree = /x\n", None),
            ("[core]\n[remote \"x\"]\nworktree = /x\n", None),
            ("", None),
        ] {
            assert_eq!(work_tree(settings), expected, "{settings}");
        }
    }
}
