//! The branches of a working tree: lists and creates them.
//!
//! Git never asks questions, because there may be no person to answer, and starts no program that
//! the repository names (see `repository.rs`); a fetch uses the user's own credentials.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use convoke_domain::design::setup::preflight::Probe;
use rustix::process::{Pid, Signal, kill_process_group};

use super::diff::{asked, run};
use super::listing::{programmed, status};
use super::repository::{NoRepository, Repository, View, not_started, question};

/// The remote that a default branch is fetched from.
pub const REMOTE: &str = "origin";

/// Names to try for a default branch.
const USUAL: [&str; 2] = ["main", "master"];

/// Git's message when it refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GitRefusal(pub String);

/// A folder that is in no working tree, as git sees it.
#[derive(Debug, thiserror::Error)]
pub enum NoWorkTree {
    /// There is no git.
    #[error("cannot run `git`")]
    NoGit(#[source] std::io::Error),
    /// Git knows no working tree there.
    #[error("cannot find a git working tree at `{}`", folder.display())]
    Outside {
        /// The path of the folder.
        folder: PathBuf,
        /// Git's message.
        source: GitRefusal,
    },
}

/// A working tree.
#[derive(Debug, Clone)]
pub struct WorkTree {
    root: PathBuf,
}

impl WorkTree {
    /// Finds the working tree around a folder.
    pub fn at(folder: &Path) -> Result<Self, NoWorkTree> {
        let answer = question(folder).args(["rev-parse", "--show-toplevel"]).output();
        let no_git = |error| NoWorkTree::NoGit(not_started(error, Some(folder)));
        let mut answer = answer.map_err(no_git)?;
        if answer.status.success() && answer.stdout.pop_if(|byte| *byte == b'\n').is_some() {
            return Ok(Self { root: OsString::from_vec(answer.stdout).into() });
        }
        let source = GitRefusal(first_line(&answer.stderr));
        Err(NoWorkTree::Outside { folder: folder.to_owned(), source })
    }

    /// Returns its uppermost folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn answer(&self, words: &[&str]) -> Option<String> {
        asked(question(&self.root).args(words))
    }

    fn repository(&self) -> Result<Repository, GitRefusal> {
        Repository::at(&self.root).map_err(|error| GitRefusal(words(&error)))
    }

    /// Returns the branch that is checked out; `None` when a commit is.
    pub fn branch(&self) -> Option<String> {
        self.answer(&["symbolic-ref", "--quiet", "--short", "HEAD"])
    }

    /// Returns what the user is called.
    pub fn user_name(&self) -> String {
        self.answer(&["config", "user.name"]).unwrap_or_default()
    }

    /// Tells whether there is a remote to fetch from.
    pub fn has_remote(&self) -> bool {
        self.answer(&["remote", "get-url", REMOTE]).is_some()
    }

    /// Returns the default branch: the remote's, else the user's configured name, else a usual
    /// name, whichever exists first.
    pub fn default_branch(&self) -> String {
        let head = format!("refs/remotes/{REMOTE}/HEAD");
        let of_remote = self.answer(&["symbolic-ref", "--quiet", &head]);
        let of_remote = of_remote.filter(|reference| self.has(reference));
        let start = format!("refs/remotes/{REMOTE}/");
        if let Some(name) =
            of_remote.as_deref().and_then(|reference| reference.strip_prefix(&start))
        {
            return name.to_owned();
        }
        let of_user = self.answer(&["config", "init.defaultBranch"]);
        let names = of_user.into_iter().chain(USUAL.map(str::to_owned));
        let mut existing = names.filter(|name| self.has_branch(name));
        // Before the first commit the branch does not exist yet, but has a name.
        let unborn = || self.branch().filter(|name| !self.has(&format!("refs/heads/{name}")));
        existing.next().or_else(unborn).unwrap_or_else(|| "main".to_owned())
    }

    /// Tells whether there is such a reference, by its whole name.
    pub fn has(&self, reference: &str) -> bool {
        let mut git = question(&self.root);
        let found = run(git.args(["show-ref", "--verify", "--quiet", reference]));
        found.is_some_and(|answer| answer.status.success())
    }

    /// Tells whether there is such a commit.
    pub fn has_commit(&self, id: &str) -> bool {
        let object = format!("{id}^{{commit}}");
        let found = run(question(&self.root).args(["cat-file", "-e", &object]));
        found.is_some_and(|answer| answer.status.success())
    }

    /// Tells whether there is such a branch, here or on the remote.
    pub fn has_branch(&self, name: &str) -> bool {
        self.has(&format!("refs/heads/{name}")) || self.knows_remote(name)
    }

    /// Tells whether the remote had such a branch at the last fetch.
    pub fn knows_remote(&self, name: &str) -> bool {
        self.has(&format!("refs/remotes/{REMOTE}/{name}"))
    }

    /// Tells whether nothing is changed or new; `None` if git cannot tell.
    pub fn is_clean(&self) -> Option<bool> {
        self.changes().map(|lines| lines.is_empty())
    }

    /// Returns what `git status --porcelain` lists as changed or new; `None` if git cannot tell.
    pub fn changes(&self) -> Option<String> {
        let lines = status(&self.repository().ok()?, &[]).ok()?;
        Some(String::from_utf8_lossy(&lines).into_owned())
    }

    /// Returns a file's content as it is committed; `None` if it is not, or git cannot tell.
    pub fn committed(&self, path: &str) -> Option<Vec<u8>> {
        let repository = self.repository().ok()?;
        let mut git = repository.git(View::Raw);
        git.args(["cat-file", "blob", &format!("HEAD:{path}")]);
        run(&mut git).filter(|said| said.status.success()).map(|said| said.stdout)
    }

    /// Fetches a branch from the remote.
    pub fn fetch(&self, branch: &str, limit: Duration) -> Result<(), GitRefusal> {
        let repository = self.repository()?;
        let mut git = repository.network();
        git.args(["fetch", "--quiet", "--no-auto-gc", "--no-recurse-submodules", REMOTE, branch]);
        within(git, limit)
    }

    /// Brings the checked-out branch up to the remote's, and leaves it as it was if that fails.
    pub fn rebase(&self, branch: &str, limit: Duration) -> Result<(), GitRefusal> {
        let onto = format!("refs/remotes/{REMOTE}/{branch}");
        let repository = self.repository()?;
        refuse_programs(&repository, &onto)?;
        let git = |words: &[&str]| {
            let mut git = repository.git(View::Converted);
            git.args(words);
            git
        };
        within(git(&["rebase", "--quiet", "--no-gpg-sign", &onto]), limit).inspect_err(|_| {
            run(&mut git(&["rebase", "--abort"]));
        })
    }

    /// Makes a branch that begins at a reference, and checks it out.
    pub fn create_branch(
        &self,
        name: &str,
        start: &str,
        limit: Duration,
    ) -> Result<(), GitRefusal> {
        let repository = self.repository()?;
        refuse_programs(&repository, start)?;
        let mut git = repository.git(View::Converted);
        git.args(["checkout", "--quiet", "--no-track", "-b", name, start, "--"]);
        within(git, limit)
    }

    /// Takes a file out of git's own folder, if it is there.
    pub fn forget_file(&self, name: &str) {
        if let Some(path) = self.answer(&["rev-parse", "--git-path", name]) {
            std::fs::remove_file(self.root.join(path)).ok();
        }
    }
}

/// Refuses to check a commit out if a file that changes with it has a filter or a merge driver: without
/// that program the file would be wrong.
fn refuse_programs(repository: &Repository, to: &str) -> Result<(), GitRefusal> {
    let failed = || GitRefusal("git cannot list the changes".to_owned());
    let index = repository.scratch().join("checkout");
    let git = |words: &[&str]| {
        let mut git = repository.git(View::Converted);
        git.env("GIT_INDEX_FILE", &index).args(words);
        run(&mut git).filter(|said| said.status.success())
    };
    git(&["read-tree", to]).ok_or_else(failed)?;
    let names = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "HEAD", to, "--"];
    // Before the first commit there is nothing that could differ.
    let Some(said) = git(&names) else { return Ok(()) };
    let names = said.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    let names = names.map(|name| OsString::from_vec(name.to_vec())).collect();
    match programmed(repository, Some(&index), &names).map_err(|_| failed())? {
        Some(file) => {
            Err(GitRefusal(format!("{file}, which Convoke does not start; use git for it")))
        }
        None => Ok(()),
    }
}

/// Returns git's list of changed and new files, or its exit code and message.
pub fn porcelain(folder: &Path) -> Probe {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let repository = match Repository::at(folder) {
        Ok(repository) => repository,
        Err(NoRepository::Refused(said)) => return Probe::Failed(128, text(&said)),
        Err(error @ (NoRepository::NoGit(_) | NoRepository::NoStandIn)) => {
            return Probe::NotRun(words(&error));
        }
    };
    match status(&repository, &[]) {
        Ok(lines) => Probe::Listed(text(&lines)),
        Err(said) => match said.status.code() {
            // Without an exit code, git failed to start, or another process killed it.
            Some(0) | None => Probe::NotRun(text(&said.stderr)),
            Some(code) => Probe::Failed(code, text(&said.stderr)),
        },
    }
}

fn words(error: &NoRepository) -> String {
    match error {
        NoRepository::NoGit(error) => error.to_string(),
        NoRepository::Refused(said) => first_line(said),
        NoRepository::NoStandIn => "cannot create a temporary folder".to_owned(),
    }
}

/// Returns the remote's address.
pub fn remote_url(folder: &Path) -> Option<String> {
    asked(question(folder).args(["remote", "get-url", REMOTE]))
}

/// Runs git without its output, but not for longer than it may take.
fn within(mut git: Command, limit: Duration) -> Result<(), GitRefusal> {
    git.stdout(Stdio::null());
    run_within(git, limit)
}

/// Runs git, but not for longer than it may take. The caller sets its output.
pub(super) fn run_within(mut git: Command, limit: Duration) -> Result<(), GitRefusal> {
    let said = |error: std::io::Error| GitRefusal(error.to_string());
    let mut heard = tempfile::tempfile().map_err(said)?;
    git.stderr(heard.try_clone().map_err(said)?);
    // A group of its own, so that programs started by git can be stopped with it.
    let mut child = git.process_group(0).spawn().map_err(said)?;
    match ended(&mut child, limit).map_err(said)? {
        Some(true) => Ok(()),
        Some(false) => Err(GitRefusal(what_was_heard(&mut heard))),
        None => Err(GitRefusal(format!("did not end within {} s", limit.as_secs()))),
    }
}

/// Waits for a child's end, and returns whether it was a good one; `None` if it had to be stopped.
fn ended(child: &mut Child, limit: Duration) -> std::io::Result<Option<bool>> {
    const STEP: Duration = Duration::from_millis(10);
    let mut left = limit;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status.success()));
        }
        if left.is_zero() {
            break;
        }
        thread::sleep(STEP);
        left = left.saturating_sub(STEP);
    }
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        kill_process_group(group, Signal::KILL).ok();
    }
    child.wait()?;
    Ok(None)
}

fn what_was_heard(heard: &mut File) -> String {
    let mut bytes = Vec::new();
    let read = heard.rewind().and_then(|()| heard.take(64 * 1024).read_to_end(&mut bytes));
    read.map_or_else(|error| error.to_string(), |_| first_line(&bytes))
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("git refused");
    line.chars().filter(|c| !c.is_control()).collect()
}
