//! Git's facts about a folder: its repository, and the checked-out branch.
//!
//! Hooks need this on every turn of every agent, so Convoke reads the few files directly; starting
//! `git` would take longer than the rest of the hook.

pub mod branch;
pub mod diff;
pub mod fresh;
mod guarded;
pub mod identity;
mod listing;
mod pointer;
mod repository;
pub mod sidecar;
pub mod snapshot;
pub mod tracked;
mod watch;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use convoke_domain::finding::FileFinding;

use crate::file;

/// No file that git writes for these questions is larger.
const MAX_BYTES: u64 = 64 * 1024;

/// A checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The folder that all worktrees of the repository share.
    pub common_dir: PathBuf,
    /// The branch, or `None` when a commit is checked out directly.
    pub branch: Option<String>,
}

/// So many files of a repository are listed.
const MOST_FILES: usize = 500_000;

/// Lists the files of the repository around a folder, below that folder, except ignored ones; empty
/// without a repository.
pub fn known_files(folder: &Path) -> Vec<PathBuf> {
    let listed = ls_files(folder, &["--cached", "--others", "--exclude-standard"]);
    let listed = listed.unwrap_or_default();
    let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.take(MOST_FILES).map(|name| PathBuf::from(OsStr::from_bytes(name))).collect()
}

/// Lists the files that git knows below a folder: their names, each with a NUL behind it; `None`
/// without a repository, or if git fails.
fn ls_files(folder: &Path, words: &[&str]) -> Option<Vec<u8>> {
    let repository = repository::Repository::at(folder).ok()?;
    let mut git = repository.git_in(folder, repository::View::Raw);
    let answer = diff::run(git.args(["ls-files", "-z"]).args(words))?;
    answer.status.success().then_some(answer.stdout)
}

/// Returns the folders of the PATH that were skipped, if git is missing for that reason.
pub(crate) fn skipped(folder: &Path) -> Option<String> {
    repository::search_for_git(folder).remark()
}

/// Returns the checkout around a folder, if there is one.
pub fn checkout(folder: &Path) -> Option<Checkout> {
    // A relative name, such as `..`, has no parent folders to check.
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    real.ancestors().find_map(checkout_at)
}

fn checkout_at(root: &Path) -> Option<Checkout> {
    let git_dir = git_dir(root)?;
    let head = line(&git_dir.join("HEAD"))?;
    let branch = branch(&head).or_else(|| rebased_branch(&git_dir));
    let common_dir = match line(&git_dir.join("commondir")) {
        Some(path) => git_dir.join(path),
        None => git_dir,
    };
    let common_dir = common_dir.canonicalize().unwrap_or(common_dir);
    Some(Checkout { common_dir, branch })
}

fn branch(reference: &str) -> Option<String> {
    let reference = reference.strip_prefix("ref: ").unwrap_or(reference);
    reference.strip_prefix("refs/heads/").map(str::to_owned)
}

/// During a rebase a commit is checked out, but the work belongs to the branch that is rebased.
fn rebased_branch(git_dir: &Path) -> Option<String> {
    let names = ["rebase-merge/head-name", "rebase-apply/head-name"];
    names.iter().find_map(|name| branch(&line(&git_dir.join(name))?))
}

/// `.git` is a folder, or, in a worktree or a submodule, a file that names one.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let path = root.join(".git");
    if path.is_dir() {
        return Some(path);
    }
    let named = line(&path)?;
    named.strip_prefix("gitdir: ").map(|dir| root.join(dir))
}

fn line(path: &Path) -> Option<String> {
    match file::read(path, MAX_BYTES) {
        FileFinding::Text(text) => text.lines().next().map(str::to_owned),
        FileFinding::Absent | FileFinding::Unreadable(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(path: PathBuf, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    // W-1: worktrees share their project and have branches of their own.
    #[test]
    fn a_worktree_shares_its_repository() {
        let top = tempfile::tempdir().unwrap();
        let (main, tree) = (top.path().join("app"), top.path().join("tree"));
        write(main.join(".git/HEAD"), "ref: refs/heads/main\n");
        write(main.join(".git/worktrees/tree/HEAD"), "ref: refs/heads/feature/login\n");
        write(main.join(".git/worktrees/tree/commondir"), "../..\n");
        let gitdir = main.join(".git/worktrees/tree");
        write(tree.join(".git"), &format!("gitdir: {}\n", gitdir.display()));
        let (one, other) = (checkout(&main).unwrap(), checkout(&tree).unwrap());
        assert_eq!(one.common_dir, other.common_dir);
        assert_eq!(one.branch.as_deref(), Some("main"));
        assert_eq!(other.branch.as_deref(), Some("feature/login"));
    }

    #[test]
    fn a_commit_is_no_branch_and_a_folder_is_no_checkout() {
        let top = tempfile::tempdir().unwrap();
        assert_eq!(checkout(top.path()), None);
        write(top.path().join(".git/HEAD"), "0123456789abcdef\n");
        assert_eq!(checkout(top.path()).unwrap().branch, None);
        write(top.path().join(".git/rebase-merge/head-name"), "refs/heads/feature/x\n");
        let inside = top.path().join("src/deep");
        fs::create_dir_all(&inside).unwrap();
        assert_eq!(checkout(&inside).unwrap().branch.as_deref(), Some("feature/x"));
    }
}
