//! Identifies the repository of a folder, independent of its path.
//!
//! It runs git, which takes longer than a hook may: only commands of a person or an agent call it.

use std::fs;
use std::io::{Read, Seek};
use std::path::Path;
use std::time::Duration;

use convoke_domain::repository::{RepositoryId, plain_remote};

use super::branch::{REMOTE, run_within};
use super::repository::{Repository, View};

/// Walking through a very long history may take this long.
const PATIENCE: Duration = Duration::from_secs(5);

/// The most first commits that are kept; a repository with more is made up.
const MOST_ROOTS: usize = 64;

/// Returns the identity of a folder's repository; `None` without a repository, or before its first
/// commit.
pub fn repository_id(folder: &Path) -> Option<RepositoryId> {
    let repository = Repository::at(folder).ok()?;
    let name = format!("remote.{REMOTE}.url");
    let mut settings = repository.settings().iter().rev();
    let remote = settings.find(|setting| setting.name == name);
    let remote = remote.and_then(|setting| plain_remote(setting.value.as_deref()?));
    // In a shallow clone, the oldest commits are not the first ones.
    let shallow = repository.git_dirs[1].join("shallow");
    if fs::metadata(shallow).is_ok_and(|file| file.len() > 0) {
        return Some(RepositoryId { remote, ..RepositoryId::default() });
    }
    let roots = roots(&repository)?.into_iter().collect();
    Some(RepositoryId { roots, remote })
}

/// Returns the first commits; none if that takes too long.
fn roots(repository: &Repository) -> Option<Vec<String>> {
    let mut git = repository.git(View::Raw);
    let has_commit =
        git.args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]).output().ok()?;
    if !has_commit.status.success() {
        return None;
    }
    let mut listed = tempfile::tempfile().ok()?;
    let mut git = repository.git(View::Raw);
    // The repository may name replacements for commits; only the commits themselves count.
    git.env("GIT_NO_REPLACE_OBJECTS", "1").stdout(listed.try_clone().ok()?);
    git.args(["rev-list", "--max-parents=0", "HEAD", "--"]);
    if run_within(git, PATIENCE).is_err() {
        return Some(Vec::new());
    }
    listed.rewind().ok()?;
    let mut text = String::new();
    listed.take(1024 * 1024).read_to_string(&mut text).ok()?;
    let is_name = |line: &&str| line.len() >= 40 && line.chars().all(|c| c.is_ascii_hexdigit());
    Some(text.lines().filter(is_name).take(MOST_ROOTS).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::command;

    fn git(folder: &Path, words: &[&str]) {
        let mut git = command("git", folder);
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(words);
        let said = git.output().unwrap();
        assert!(said.status.success(), "{words:?}: {}", String::from_utf8_lossy(&said.stderr));
    }

    #[test]
    fn a_moved_and_a_cloned_repository_are_known() {
        let top = tempfile::tempdir().unwrap();
        let (one, clone) = (top.path().join("one"), top.path().join("clone"));
        fs::create_dir(&one).unwrap();
        assert_eq!(repository_id(&one), None);
        git(&one, &["init", "-q"]);
        assert_eq!(repository_id(&one), None, "before the first commit");
        git(&one, &["commit", "-q", "--allow-empty", "-m", "first"]);
        let before = repository_id(&one).unwrap();
        assert_eq!(before.roots.len(), 1);
        git(&one, &["commit", "-q", "--allow-empty", "-m", "second"]);
        assert_eq!(repository_id(&one).unwrap(), before);
        git(top.path(), &["clone", "-q", "one", "clone"]);
        let cloned = repository_id(&clone).unwrap();
        assert_eq!(cloned.roots, before.roots);
        assert!(cloned.is_same(&before) && cloned.remote.is_some());
        let address = format!("file://{}", one.display());
        git(top.path(), &["clone", "-q", "--depth", "1", &address, "shallow"]);
        let shallow = repository_id(&top.path().join("shallow")).unwrap();
        assert!(shallow.roots.is_empty() && shallow.is_same(&cloned));
    }

    // A planted program is not started.
    #[test]
    fn no_program_of_the_repository_is_started() {
        let top = tempfile::tempdir().unwrap();
        git(top.path(), &["init", "-q"]);
        git(top.path(), &["commit", "-q", "--allow-empty", "-m", "first"]);
        let mark = top.path().join("started");
        let plant = format!("touch {}", mark.display());
        for name in ["core.fsmonitor", "core.sshCommand", "core.pager", "alias.rev-list"] {
            git(top.path(), &["config", name, &plant]);
        }
        assert!(repository_id(top.path()).is_some());
        assert!(!mark.exists());
    }
}
