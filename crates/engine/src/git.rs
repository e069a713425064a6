//! Git's facts about a folder: its repository, and the checked-out branch.
//!
//! Hooks need this on every turn of every agent, so Convoke reads the few files directly; starting
//! `git` would take longer than the rest of the hook.

pub mod attempt_checkout;
pub mod branch;
pub mod diff;
pub mod folder_id;
pub mod fresh;
mod guarded;
pub mod identity;
mod listing;
pub mod past;
mod pointer;
mod proof;
mod repository;
pub mod sidecar;
pub mod snapshot;
pub mod tracked;
mod watch;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use convoke_domain::finding::FileFinding;

use crate::file;

/// No file that git writes for these questions is larger.
const MAX_BYTES: u64 = 64 * 1024;

/// A larger list of branches is not read.
const MAX_PACKED: u64 = 16 * 1024 * 1024;

/// A working tree of a repository, and where its Git data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The uppermost folder of the working tree.
    pub root: PathBuf,
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

/// Git's words when it refuses to work in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRepository {
    /// The reason.
    pub why: String,
    /// The command that git recommends.
    pub command: String,
}

/// Returns why git refuses to work in a repository that it finds, such as one of another owner, and
/// recommends a command; `None` in every other case.
pub fn refusal(folder: &Path) -> Option<RefusedRepository> {
    let Err(repository::NoRepository::Refused(words)) = repository::Repository::at(folder) else {
        return None;
    };
    let words = String::from_utf8_lossy(&words);
    let mut lines = words.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next()?;
    let why = first.strip_prefix("fatal: ").unwrap_or(first).to_owned();
    let command = lines.find(|line| line.starts_with("git config "))?.to_owned();
    Some(RefusedRepository { why, command })
}

/// Returns the folders of the PATH that were skipped, if git is missing for that reason.
pub(crate) fn skipped(folder: &Path) -> Option<String> {
    repository::search_for_git(folder).remark()
}

/// Returns the checkout around a folder, if there is one. A folder whose `.git` leads to a
/// repository that does not lead back lies in none.
pub fn checkout(folder: &Path) -> Option<Checkout> {
    nearest(folder)?.ok()
}

/// Returns the folder of git's that the nearest `.git` leads to although it belongs to another working
/// tree, or to none.
pub fn unproven_git_folder(folder: &Path) -> Option<PathBuf> {
    nearest(folder)?.err()
}

fn nearest(folder: &Path) -> Option<Result<Checkout, PathBuf>> {
    // A relative name, such as `..`, has no parent folders to check.
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    real.ancestors().find_map(checkout_at)
}

fn checkout_at(root: &Path) -> Option<Result<Checkout, PathBuf>> {
    let git_dir = git_dir(root)?;
    let branch = branch_at(root, &head(&git_dir)?).or_else(|| rebased_branch(&git_dir));
    let common_dir = match line(&git_dir.join("commondir")) {
        Some(path) => real(git_dir.join(path)),
        None => git_dir.clone(),
    };
    let is_own = proof::belongs(root, &git_dir, &common_dir);
    Some(if is_own {
        Ok(Checkout { root: root.to_owned(), common_dir, branch })
    } else {
        Err(git_dir)
    })
}

/// The content of `HEAD` in a repository that keeps its references in tables.
const IN_TABLES: &str = "ref: refs/heads/.invalid";

/// Tells whether a repository has no commit yet, as `git init` leaves it.
pub fn is_unborn(checkout: &Checkout) -> bool {
    let Checkout { common_dir, branch, .. } = checkout;
    let is_there = |name: &str| common_dir.join(name).exists();
    branch.as_ref().is_some_and(|branch| !is_there(&format!("refs/heads/{branch}")))
        && !["packed-refs", "refs/remotes", "reftable", "FETCH_HEAD", "logs/HEAD"]
            .map(is_there)
            .contains(&true)
}

/// Returns those branches that are known to exist no more; a repository that keeps its branches in
/// another way says nothing. The file of all packed branches is read once, and only if it can decide.
pub fn gone_branches<'a>(checkout: &Checkout, mut branches: Vec<&'a str>) -> Vec<&'a str> {
    let folder = &checkout.common_dir;
    branches.retain(|branch| {
        !branch.contains(char::REPLACEMENT_CHARACTER)
            && checkout.branch.as_deref() != Some(*branch)
            && !folder.join("refs/heads").join(branch).exists()
    });
    if branches.is_empty() || folder.join("reftable").exists() {
        return Vec::new();
    }
    let packed_refs = folder.join("packed-refs");
    let packed = match file::lossy_text(&packed_refs, MAX_PACKED) {
        Some(packed) => packed,
        None if packed_refs.exists() => return Vec::new(),
        None => String::new(),
    };
    let names = packed.lines().filter_map(|line| line.split_once(" refs/heads/"));
    let packed: HashSet<&str> = names.map(|(_, name)| name).collect();
    branches.retain(|branch| !packed.contains(branch));
    branches
}

/// Returns the content of `HEAD`, or where it links to, as git once wrote it. A damaged `HEAD` makes no
/// other project of a repository: it has no branch then.
fn head(git_dir: &Path) -> Option<String> {
    let path = git_dir.join("HEAD");
    if let Ok(reference) = path.read_link() {
        return Some(reference.to_string_lossy().into_owned());
    }
    let text = file::lossy_text(&path, MAX_BYTES).unwrap_or_default();
    let is_repository = || git_dir.join("objects").is_dir() || git_dir.join("commondir").is_file();
    match text.lines().next() {
        Some(line) => Some(line.to_owned()),
        None => is_repository().then(String::new),
    }
}

/// Returns the branch that is checked out. Only git knows it where references are in tables.
fn branch_at(root: &Path, head: &str) -> Option<String> {
    if head != IN_TABLES {
        return branch(head);
    }
    branch(&diff::asked(repository::question(root).args(["symbolic-ref", "--quiet", "HEAD"]))?)
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

/// Returns the real path of git's folder: `.git` itself, a folder that it links to, or, in a worktree
/// or a submodule, one that the file `.git` names.
fn git_dir(root: &Path) -> Option<PathBuf> {
    let path = root.join(".git");
    // The root's path is real; so is that of a folder in it that is no link.
    if path.symlink_metadata().ok()?.is_dir() {
        return Some(path);
    }
    if path.is_dir() {
        return Some(real(path));
    }
    let named = line(&path)?;
    named.strip_prefix("gitdir: ").map(|dir| real(root.join(dir)))
}

fn real(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
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

    // A stranger's branch, or an agent, must not take a project's rules away.
    #[test]
    fn an_odd_head_leaves_the_project_as_it_is() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        fs::create_dir_all(top.join(".git/objects")).unwrap();
        let head = top.join(".git/HEAD");
        for (bytes, expected) in [
            (&b"ref: refs/heads/feat/\xff\n"[..], Some("feat/\u{fffd}")),
            (b"ref: refs/heads/main", Some("main")),
            (b"\xff\xfe", None),
            (b"\n", None),
            (b"", None),
        ] {
            fs::write(&head, bytes).unwrap();
            let found = checkout(&top).unwrap();
            assert_eq!(found.branch.as_deref(), expected, "{bytes:?}");
            assert_eq!(found.common_dir, top.join(".git"));
        }
        fs::remove_file(&head).unwrap();
        assert_eq!(checkout(&top).unwrap().branch, None);
        std::os::unix::fs::symlink("refs/heads/old", &head).unwrap();
        assert_eq!(checkout(&top).unwrap().branch.as_deref(), Some("old"));
    }

    #[test]
    fn a_branch_with_a_name_in_other_bytes_is_not_known_to_be_gone() {
        let top = tempfile::tempdir().unwrap();
        write(top.path().join(".git/HEAD"), "ref: refs/heads/main\n");
        let found = checkout(top.path()).unwrap();
        assert_eq!(gone_branches(&found, vec!["feat", "feat/\u{fffd}", "main"]), ["feat"]);
    }

    #[test]
    fn a_branch_is_there_as_a_file_or_packed() {
        let top = tempfile::tempdir().unwrap();
        write(top.path().join(".git/HEAD"), "ref: refs/heads/main\n");
        write(top.path().join(".git/refs/heads/loose"), "1\n");
        let packed = "# pack-refs with: peeled\n1 refs/heads/a/packed\n2 refs/tags/gone\n";
        write(top.path().join(".git/packed-refs"), packed);
        let found = checkout(top.path()).unwrap();
        let asked = vec!["loose", "packed", "a/packed", "gone", "main"];
        assert_eq!(gone_branches(&found, asked), ["packed", "gone"]);
        fs::create_dir(top.path().join(".git/reftable")).unwrap();
        assert!(gone_branches(&found, vec!["gone"]).is_empty(), "its tables are not read");
    }

    #[test]
    fn git_tells_the_branch_where_references_are_in_tables() {
        let top = tempfile::tempdir().unwrap();
        let mut git = diff::tests::git(top.path());
        let made = git.args(["init", "-q", "-b", "main", "--ref-format=reftable"]).status();
        // Git before 2.45 has no such tables.
        if !made.unwrap().success() {
            return;
        }
        assert_eq!(checkout(top.path()).unwrap().branch.as_deref(), Some("main"));
    }

    // W-1: worktrees share their project and have branches of their own.
    #[test]
    fn a_worktree_shares_its_repository() {
        let top = tempfile::tempdir().unwrap();
        let (main, tree) = (top.path().join("app"), top.path().join("tree"));
        write(main.join(".git/HEAD"), "ref: refs/heads/main\n");
        write(main.join(".git/worktrees/tree/HEAD"), "ref: refs/heads/feature/login\n");
        write(main.join(".git/worktrees/tree/commondir"), "../..\n");
        let back = tree.join(".git").display().to_string();
        write(main.join(".git/worktrees/tree/gitdir"), &format!("{back}\n"));
        let gitdir = main.join(".git/worktrees/tree");
        write(tree.join(".git"), &format!("gitdir: {}\n", gitdir.display()));
        let (one, other) = (checkout(&main).unwrap(), checkout(&tree).unwrap());
        assert_eq!(one.common_dir, other.common_dir);
        assert_eq!(one.branch.as_deref(), Some("main"));
        assert_eq!(other.branch.as_deref(), Some("feature/login"));
    }

    // An archive can bring any `.git` along. Only a repository that leads back is the folder's own.
    #[test]
    fn a_repository_that_does_not_lead_back_is_anothers() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let victim = top.join("victim");
        write(victim.join(".git/HEAD"), "ref: refs/heads/main\n");
        write(victim.join(".git/worktrees/tree/HEAD"), "ref: refs/heads/x\n");
        write(victim.join(".git/worktrees/tree/commondir"), "../..\n");
        write(victim.join(".git/worktrees/tree/gitdir"), "/gone/.git\n");
        let names = |name: &str| format!("gitdir: {}\n", victim.join(name).display());
        write(top.join("file/.git"), &names(".git"));
        write(top.join("listed/.git"), &names(".git/worktrees/tree"));
        write(top.join("common/.git/HEAD"), "ref: refs/heads/main\n");
        write(top.join("common/.git/commondir"), &victim.join(".git").display().to_string());
        fs::create_dir(top.join("link")).unwrap();
        std::os::unix::fs::symlink(victim.join(".git"), top.join("link/.git")).unwrap();
        for (name, leads_to) in [
            ("file", "victim/.git"),
            ("listed", "victim/.git/worktrees/tree"),
            ("common", "common/.git"),
            ("link", "victim/.git"),
        ] {
            assert_eq!(checkout(&top.join(name)), None, "{name}");
            assert_eq!(unproven_git_folder(&top.join(name)), Some(top.join(leads_to)), "{name}");
        }
        assert_eq!(unproven_git_folder(&victim), None);
        // A repository beside its working tree, and a submodule, name it.
        write(top.join("apart.git/HEAD"), "ref: refs/heads/main\n");
        write(top.join("apart/.git"), "gitdir: ../apart.git\n");
        assert_eq!(checkout(&top.join("apart")), None);
        write(top.join("apart.git/config"), "[core]\n\tworktree = ../apart\n");
        assert_eq!(checkout(&top.join("apart")).unwrap().common_dir, top.join("apart.git"));
        // Its own content proves itself.
        write(top.join("inside/.bare/HEAD"), "ref: refs/heads/main\n");
        write(top.join("inside/.git"), "gitdir: ./.bare\n");
        assert!(checkout(&top.join("inside")).is_some());
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
