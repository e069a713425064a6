//! The working tree of an attempt at a lane on this machine: a clone of its own that shares objects with
//! the repository, at the asked commit.
//!
//! The clone takes over no hooks and no settings of the repository, so no program that the repository's
//! configuration names is started. Removing the folder leaves nothing behind in the repository.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::diff::run_under;
use super::repository::question;
use crate::lane::cancel::Cancel;
use crate::scratch;

/// Protocols by which a repository may be asked for a commit.
const PROTOCOLS: &str = "file:git:http:https:ssh";

/// Why there is no working tree.
#[derive(Debug, thiserror::Error)]
pub enum AttemptCheckoutError {
    /// The name does not name a commit.
    #[error("cannot check out `{name}`: it is not the whole name of a commit")]
    NotACommit {
        /// What was given in its place.
        name: String,
    },
    /// Neither the repository nor its remote has the commit.
    #[error("cannot find commit {commit} in `{}` or at its remote `origin`", repository.display())]
    Missing {
        /// Its whole name.
        commit: String,
        /// Where Convoke looked first.
        repository: PathBuf,
    },
    /// Git failed.
    #[error("cannot check out {commit}: {words}")]
    Git {
        /// The whole name of the commit.
        commit: String,
        /// Git's words.
        words: String,
    },
    /// The work was stopped.
    #[error("stopped while checking out")]
    Stopped,
    /// There is no room for a folder.
    #[error("cannot make a folder for the working tree")]
    Folder(#[source] std::io::Error),
}

/// Returns the commit that is checked out in a folder, by its whole name.
pub fn head_commit(folder: &Path) -> Option<String> {
    let answer = question(folder).args(["rev-parse", "--verify", "HEAD^{commit}"]).output().ok()?;
    let name = String::from_utf8(answer.stdout).ok()?.trim().to_owned();
    (answer.status.success() && is_commit_name(&name)).then_some(name)
}

/// Tells whether a name is the whole name of a commit.
pub fn is_commit_name(name: &str) -> bool {
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    matches!(name.len(), 40 | 64) && name.chars().all(is_digit)
}

/// Checks a commit out in a folder of its own, which is removed with the returned value. A commit that
/// the repository lacks is fetched from `origin` first.
pub fn check_out(
    repository: &Path,
    commit: &str,
    cancel: &Cancel,
) -> Result<TempDir, AttemptCheckoutError> {
    if !is_commit_name(commit) {
        return Err(AttemptCheckoutError::NotACommit { name: commit.to_owned() });
    }
    find(repository, commit, cancel)?;
    let folder = scratch::lane().map_err(AttemptCheckoutError::Folder)?;
    let mut clone = question(repository);
    clone.env("GIT_ALLOW_PROTOCOL", "file");
    clone.args(["clone", "--quiet", "--shared", "--no-checkout", "--no-tags", "--template="]);
    clone.arg("--").arg(repository).arg(folder.path());
    git(&mut clone, commit, cancel)?;
    let mut checkout = question(folder.path());
    checkout.args(["checkout", "--quiet", "--detach", "--no-recurse-submodules", commit, "--"]);
    git(&mut checkout, commit, cancel)?;
    Ok(folder)
}

fn find(repository: &Path, commit: &str, cancel: &Cancel) -> Result<(), AttemptCheckoutError> {
    if has(repository, commit) {
        return Ok(());
    }
    // A server may refuse to be asked for a commit that no branch begins with.
    for wanted in [Some(commit), None] {
        let mut fetch = question(repository);
        fetch.env("GIT_ALLOW_PROTOCOL", PROTOCOLS);
        fetch.args(["fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "origin"]);
        fetch.args(wanted);
        run_under(&mut fetch, cancel);
        if cancel.is_cancelled() {
            return Err(AttemptCheckoutError::Stopped);
        }
        if has(repository, commit) {
            return Ok(());
        }
    }
    Err(AttemptCheckoutError::Missing {
        commit: commit.to_owned(),
        repository: repository.to_owned(),
    })
}

fn has(repository: &Path, commit: &str) -> bool {
    let object = format!("{commit}^{{commit}}");
    let answer = question(repository).args(["cat-file", "-e", &object]).output();
    answer.is_ok_and(|answer| answer.status.success())
}

fn git(command: &mut Command, commit: &str, cancel: &Cancel) -> Result<(), AttemptCheckoutError> {
    let answer = run_under(command, cancel);
    let failed = |words: &[u8]| AttemptCheckoutError::Git {
        commit: commit.to_owned(),
        words: String::from_utf8_lossy(words).trim().to_owned(),
    };
    match answer {
        Some(answer) if answer.status.success() => Ok(()),
        Some(answer) => Err(failed(&answer.stderr)),
        None if cancel.is_cancelled() => Err(AttemptCheckoutError::Stopped),
        None => Err(failed(b"git does not start")),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::process::command;

    fn make(folder: &Path, words: &[&str]) -> String {
        let mut git = command("git", folder);
        git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null");
        let answer = git.args(words).output().unwrap();
        assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
        String::from_utf8(answer.stdout).unwrap().trim().to_owned()
    }

    fn commit(folder: &Path, text: &str) -> String {
        fs::write(folder.join("file"), text).unwrap();
        make(folder, &["add", "."]);
        make(folder, &["commit", "-qm", text]);
        head_commit(folder).unwrap()
    }

    #[test]
    fn a_commit_is_checked_out_apart_and_fetched_if_it_is_missing() {
        let place = tempfile::tempdir().unwrap();
        let (origin, clone) = (place.path().join("origin"), place.path().join("clone"));
        fs::create_dir(&origin).unwrap();
        make(&origin, &["init", "-q"]);
        let first = commit(&origin, "one");
        make(place.path(), &["clone", "-q", "origin", "clone"]);
        let second = commit(&origin, "two");
        let content = |commit: &str| {
            let tree = check_out(&clone, commit, &Cancel::default())?;
            let text = fs::read_to_string(tree.path().join("file")).unwrap();
            assert_eq!(head_commit(tree.path()).as_deref(), Some(commit));
            Ok::<_, AttemptCheckoutError>(text)
        };
        assert_eq!(content(&first).unwrap(), "one");
        assert_eq!(content(&second).unwrap(), "two", "it was fetched");
        assert_eq!(fs::read_to_string(clone.join("file")).unwrap(), "one", "the clone stays");
        let missing = content(&"0".repeat(40)).unwrap_err();
        assert!(matches!(missing, AttemptCheckoutError::Missing { .. }), "{missing}");
        for name in ["main", "--help", "HEAD~1", "", &first[..12]] {
            let refused = content(name).unwrap_err();
            assert!(matches!(refused, AttemptCheckoutError::NotACommit { .. }), "{name}");
        }
        let stopped = Cancel::default();
        stopped.cancel();
        assert!(check_out(&clone, &first, &stopped).is_err());
    }

    // A hook of the repository would run a program of its author's.
    #[test]
    fn no_hook_and_no_filter_of_the_repository_is_run() {
        let place = tempfile::tempdir().unwrap();
        let repository = place.path();
        make(repository, &["init", "-q"]);
        let mark = repository.join("ran");
        let program = format!("#!/bin/sh\ntouch {}\ncat\n", mark.display());
        let hook = repository.join(".git/hooks/post-checkout");
        fs::create_dir_all(hook.parent().unwrap()).unwrap();
        fs::write(&hook, &program).unwrap();
        make(repository, &["config", "filter.bad.smudge", &format!("sh {}", hook.display())]);
        fs::write(repository.join(".gitattributes"), "* filter=bad\n").unwrap();
        let commit = commit(repository, "one");
        fs::remove_file(&mark).ok();
        let tree = check_out(repository, &commit, &Cancel::default()).unwrap();
        assert_eq!(fs::read_to_string(tree.path().join("file")).unwrap(), "one");
        assert!(!mark.exists());
    }
}
