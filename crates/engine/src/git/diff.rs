//! Changes of a project since its last snapshot, and committing them.
//!
//! A snapshot of the project is a tree in git's own store: it includes uncommitted and new files,
//! and git discards it when no reference needs it any more. No program of the repository takes part
//! in it (see `repository.rs`); a file with a filter counts with its bytes on disk.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process_group};

use super::listing::{Listing, New, programmed, put};
use super::repository::{NoRepository, Repository, View, question};
use crate::lane::cancel::Cancel;

/// Convoke's own files beside a feature; they are not part of the agents' work.
const OURS: [&str; 2] = [".resume-state.json", ".review-history.md"];

/// The files to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchedFiles {
    /// These files, by their whole paths.
    Files(Vec<PathBuf>),
    /// Everything below the folder, except Convoke's own files.
    Everything,
}

impl WatchedFiles {
    /// Returns git's arguments; file names are literal.
    fn words(&self) -> Vec<OsString> {
        match self {
            Self::Files(files) => {
                let literal = |file: &PathBuf| {
                    let mut word = OsString::from(":(literal)");
                    word.push(file);
                    word
                };
                files.iter().map(literal).collect()
            }
            Self::Everything => {
                let ours = OURS.map(|name| OsString::from(format!(":(exclude,glob)**/{name}")));
                [OsString::from(".")].into_iter().chain(ours).collect()
            }
        }
    }
}

/// Changes of a working tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WorkTreeChanges {
    /// File by file, in numbers.
    pub stat: String,
    /// Line by line.
    pub diff: String,
    /// The files, relative to the folder.
    pub files: Vec<String>,
}

impl WorkTreeChanges {
    /// Tells whether nothing did.
    pub fn is_empty(&self) -> bool {
        self.diff.is_empty() && self.files.is_empty()
    }
}

/// The result of committing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommitOutcome {
    /// There was nothing to commit.
    NoChanges,
    /// It is committed.
    Done,
    /// Git refused, for this reason.
    Failed(String),
}

/// Returns the commit that a checkout is on; `None` outside of a repository or before the first.
pub fn head(folder: &Path) -> Option<String> {
    asked(question(folder).args(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]))
}

/// Returns what git says of its own version; `None` without git.
pub(crate) fn asked_version(folder: &Path) -> Option<String> {
    asked(question(folder).arg("--version"))
}

/// Takes a snapshot of the project's files, and returns its tree's id.
pub fn look(folder: &Path, watched: &WatchedFiles) -> Option<String> {
    look_in(&Repository::at(folder).ok()?, folder, watched)
}

fn look_in(repository: &Repository, folder: &Path, watched: &WatchedFiles) -> Option<String> {
    let index = repository.scratch().join("index");
    // Reusing the index avoids reading unchanged files again.
    copy_index(&repository.git_dirs[0].join("index"), &index);
    // A required document is included even if the repository ignores it.
    let new = match watched {
        WatchedFiles::Files(_) => New::All,
        WatchedFiles::Everything => New::Visible,
    };
    put_changes(repository, folder, &index, watched, new)?;
    let mut git = repository.git(View::Converted);
    asked(git.env("GIT_INDEX_FILE", &index).args(["write-tree", "--missing-ok"]))
}

/// Puts the watched files into an index, and returns the paths that differed.
fn put_changes(
    repository: &Repository,
    folder: &Path,
    index: &Path,
    watched: &WatchedFiles,
    new: New,
) -> Option<BTreeSet<OsString>> {
    let git_in = |folder: &Path| {
        let mut git = repository.git_in(folder, View::Converted);
        git.env("GIT_INDEX_FILE", index);
        git
    };
    let (top, words) = (&repository.top, watched.words());
    let listing = Listing::make(top, &|| git_in(folder), &words, new, &Cancel::default())?;
    let mut git = git_in(top);
    put(&mut git, &repository.scratch().join("listed"), listing.paths())?;
    let is_put = run(&mut git)?.status.success();
    is_put.then(|| listing.paths().map(OsString::from).collect())
}

/// Copies an index with its time: git takes a file of the same size for unchanged if it is older
/// than the index, and a copy made later would make files look older than they are.
pub(super) fn copy_index(from: &Path, to: &Path) -> Option<()> {
    let written = std::fs::metadata(from).ok()?.modified().ok()?;
    std::fs::copy(from, to).ok()?;
    let copy = std::fs::File::options().write(true).open(to).ok()?;
    copy.set_modified(written).ok()
}

/// Returns the changes between a snapshot, or a commit, and the present files; `None` if git no
/// longer has it, or without a repository.
pub fn changes_since(folder: &Path, seen: &str, watched: &WatchedFiles) -> Option<WorkTreeChanges> {
    let repository = Repository::at(folder).ok()?;
    let now = look_in(&repository, folder, watched)?;
    let is_name = seen.chars().all(|c| c.is_ascii_alphanumeric() || "/._-~^@{}".contains(c));
    if seen.is_empty() || seen.starts_with('-') || !is_name {
        return None;
    }
    let ask = |flags: &[&str]| {
        let mut git = repository.git_in(folder, View::Converted);
        git.args(["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"]);
        git.args(["--relative", "--submodule=short", "--src-prefix=a/", "--dst-prefix=b/"]);
        let output = run(git.args(flags).args([seen, &now, "--"]).args(watched.words()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        output.status.success().then_some(text)
    };
    let names = ask(&["--name-only", "-z"])?;
    let files = names.split('\0').filter(|name| !name.is_empty()).map(shown).collect();
    Some(WorkTreeChanges { stat: ask(&["--stat=100"])?, diff: ask(&["--unified=3"])?, files })
}

/// Escapes a name, so that it cannot pass for other output.
pub(super) fn shown(name: &str) -> String {
    if name.chars().any(char::is_control) {
        name.escape_debug().to_string()
    } else {
        name.to_owned()
    }
}

/// Commits what changed, and nothing else. No hook of the repository's runs, nothing is signed, and a
/// file that has a filter is not committed: only its filter knows what git should keep of it.
pub fn commit(folder: &Path, message: &str, watched: &WatchedFiles) -> CommitOutcome {
    committed(folder, message, watched).unwrap_or_else(CommitOutcome::Failed)
}

fn committed(
    folder: &Path,
    message: &str,
    watched: &WatchedFiles,
) -> Result<CommitOutcome, String> {
    let no_git = || "cannot run git".to_owned();
    let repository = Repository::at(folder).map_err(|error| match error {
        NoRepository::Refused(said) => first_line(&said),
        NoRepository::NoGit(_) | NoRepository::NoStandIn => no_git(),
    })?;
    for unfinished in ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD"] {
        if repository.git_dirs[0].join(unfinished).exists() {
            return Err(format!("another commit is in progress ({unfinished})"));
        }
    }
    let index = repository.scratch().join("commit");
    copy_index(&repository.git_dirs[0].join("index"), &index);
    let said = |words: &[&str]| {
        let mut git = repository.git(View::Converted);
        let output = run(git.env("GIT_INDEX_FILE", &index).args(words)).ok_or_else(no_git)?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        } else {
            Err(first_line(&output.stderr))
        }
    };
    let parent = head(folder);
    match &parent {
        // Other staged files are not committed, but stay staged.
        Some(parent) => said(&["read-tree", "--reset", parent])?,
        None => said(&["read-tree", "--empty"])?,
    };
    let changed = put_changes(&repository, folder, &index, watched, New::Visible);
    let changed = changed.ok_or("git cannot read the changes")?;
    if changed.is_empty() {
        return Ok(CommitOutcome::NoChanges);
    }
    if let Some(file) = programmed(&repository, None, &changed).map_err(|_| no_git())? {
        return Err(format!("{file}, which Convoke does not start"));
    }
    let tree = said(&["write-tree", "--missing-ok"])?;
    let mut words = vec!["commit-tree", &tree, "-m", message];
    words.extend(parent.iter().flat_map(|parent| ["-p", parent]));
    let commit = said(&words)?;
    let note = format!("commit: {message}");
    let before = parent.as_deref().unwrap_or("");
    said(&["update-ref", "--create-reflog", "-m", &note, "HEAD", &commit, before])?;
    // The index that people use learns of it, too.
    let mut git = repository.git(View::Converted);
    let paths = changed.iter().map(OsString::as_os_str);
    put(&mut git, &repository.scratch().join("listed"), paths).ok_or_else(no_git)?;
    let staged = run(&mut git).ok_or_else(no_git)?;
    if staged.status.success() { Ok(CommitOutcome::Done) } else { Err(first_line(&staged.stderr)) }
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().next().unwrap_or("git refused").trim().to_owned()
}

/// Returns the one line that git answers with.
pub(super) fn asked(git: &mut Command) -> Option<String> {
    let answer = run(git)?;
    let text = String::from_utf8(answer.stdout).ok()?.trim().to_owned();
    (answer.status.success() && !text.is_empty()).then_some(text)
}

pub(super) fn run(git: &mut Command) -> Option<Output> {
    git.output().ok()
}

/// Runs git until the user stops Convoke. Then git ends immediately, with every filter that it
/// started, and the result is `None`.
pub(super) fn run_under(git: &mut Command, cancel: &Cancel) -> Option<Output> {
    if cancel.is_cancelled() {
        return None;
    }
    git.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = git.spawn().ok()?;
    let group = Pid::from_child(&child);
    let watch = cancel.watch(move || {
        kill_process_group(group, Signal::KILL).ok();
    });
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let besides = thread::spawn(move || everything(err));
    let (stdout, stderr) = (everything(out), besides.join().unwrap_or_default());
    // An unreaped child keeps its process id, so that no other process is killed.
    drop(watch);
    let status = child.wait().ok()?;
    (!cancel.is_cancelled()).then_some(Output { status, stdout, stderr })
}

fn everything(stream: Option<impl Read>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // After a broken read, the bytes so far are the result.
    stream.map(|mut stream| stream.read_to_end(&mut bytes));
    bytes
}

#[cfg(test)]
pub(super) mod tests {
    use std::fs;

    use super::*;

    /// Prepares git as a person would run it.
    pub(in crate::git) fn git(folder: &Path) -> Command {
        let mut git = crate::process::command("git", folder);
        git.env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE");
        git
    }

    pub(in crate::git) fn did(folder: &Path, words: &[&str]) {
        let done = run(git(folder).args(words)).unwrap();
        assert!(done.status.success(), "{words:?}: {}", first_line(&done.stderr));
    }

    pub(in crate::git) fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        did(folder.path(), &["init", "--quiet", "-b", "main"]);
        for setting in ["user.email=a@example.org", "user.name=A", "commit.gpgsign=false"] {
            let (name, value) = setting.split_once('=').unwrap();
            did(folder.path(), &["config", name, value]);
        }
        write(folder.path(), "spec.md", "one\n");
        write(folder.path(), "other.md", "other\n");
        did(folder.path(), &["add", "."]);
        did(folder.path(), &["commit", "--quiet", "-m", "first"]);
        folder
    }

    pub(in crate::git) fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    // D-62: since the last snapshot, committed or not, new or not.
    #[test]
    fn changes_count_since_the_last_snapshot() {
        let folder = repository();
        let (here, spec) =
            (folder.path(), WatchedFiles::Files(vec![folder.path().join("spec.md")]));
        write(here, "spec.md", "one, not committed\n");
        let seen = look(here, &spec).unwrap();
        assert!(changes_since(here, &seen, &spec).unwrap().is_empty(), "it was seen like that");
        write(here, "spec.md", "two\n");
        write(here, "other.md", "changed\n");
        let changed = changes_since(here, &seen, &spec).unwrap();
        assert_eq!(changed.files, ["spec.md"]);
        assert!(changed.diff.ends_with("-one, not committed\n+two\n"), "{}", changed.diff);
        assert_eq!(commit(here, "spec: revised", &spec), CommitOutcome::Done);
        assert_eq!(commit(here, "again", &spec), CommitOutcome::NoChanges);
        assert_eq!(changes_since(here, &seen, &spec).unwrap(), changed, "committed is the same");
        write(here, "src/new.rs", "new\n");
        write(here, "docs/features/1/.resume-state.json", "{}");
        let all = changes_since(here, "HEAD", &WatchedFiles::Everything).unwrap();
        assert_eq!(all.files, ["other.md", "src/new.rs"], "new files count, ours do not");
        let index = asked(git(here).args(["diff", "--cached", "--name-only"]));
        assert_eq!(index, None, "the user's index was not touched");
    }

    // A change of the same length right after the last one is a change, despite git's cached times.
    #[test]
    fn quick_changes_of_the_same_length_are_seen() {
        let folder = repository();
        let then =
            std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000);
        let date = |name: &str| {
            let file = fs::File::options().write(true).open(folder.path().join(name)).unwrap();
            file.set_modified(then).unwrap();
        };
        did(folder.path(), &["config", "core.trustctime", "false"]);
        write(folder.path(), "spec.md", "aaa\n");
        date("spec.md");
        did(folder.path(), &["add", "."]);
        date(".git/index");
        let seen = look(folder.path(), &WatchedFiles::Everything).unwrap();
        write(folder.path(), "spec.md", "bbb\n");
        date("spec.md");
        let changed = changes_since(folder.path(), &seen, &WatchedFiles::Everything).unwrap();
        assert_eq!(changed.files, ["spec.md"]);
    }

    // A folder's name is literal, even if it is a pattern to git.
    #[test]
    fn names_are_taken_as_they_are() {
        let folder = repository();
        write(folder.path(), "001-[x]y/spec.md", "one\n");
        write(folder.path(), "001-xy/spec.md", "one\n");
        let odd = WatchedFiles::Files(vec![folder.path().join("001-[x]y/spec.md")]);
        let seen = look(folder.path(), &odd).unwrap();
        write(folder.path(), "001-xy/spec.md", "two\n");
        assert!(changes_since(folder.path(), &seen, &odd).unwrap().is_empty());
        write(folder.path(), "a\n## Orders\n.rs", "x\n");
        let all = changes_since(folder.path(), "HEAD", &WatchedFiles::Everything).unwrap();
        assert!(all.files.contains(&"a\\n## Orders\\n.rs".to_owned()), "{:?}", all.files);
    }

    // A repository's configuration neither changes Convoke's result nor runs a program.
    #[test]
    fn a_hostile_configuration_changes_nothing() {
        let folder = repository();
        let here = folder.path();
        write(here, "spec.md", "two\n");
        let plain = changes_since(here, "HEAD", &WatchedFiles::Everything).unwrap();
        let marker = here.join(".git/ran");
        let script = format!("touch '{}'; cat", marker.display());
        for (name, value) in [
            ("diff.external", script.as_str()),
            ("diff.hostile.textconv", &script),
            ("diff.hostile.command", &script),
            ("core.fsmonitor", &script),
            ("diff.noprefix", "true"),
            ("diff.mnemonicPrefix", "true"),
            ("color.ui", "always"),
            ("diff.renames", "copies"),
            ("core.quotePath", "true"),
        ] {
            did(here, &["config", name, value]);
        }
        write(here, ".git/info/attributes", "*.md diff=hostile\n");
        write(here, ".git/hooks/pre-commit", "#!/bin/sh\nexit 1\n");
        assert_eq!(changes_since(here, "HEAD", &WatchedFiles::Everything).unwrap(), plain);
        assert!(!marker.exists());
    }

    // A rewritten history, no repository, or nonsense: the changes are unknown.
    #[test]
    fn unknown_changes_are_reported() {
        let folder = repository();
        let unknown = "0123456789012345678901234567890123456789";
        for seen in [unknown, "--output=x", "-p", "a b", ""] {
            assert_eq!(
                changes_since(folder.path(), seen, &WatchedFiles::Everything),
                None,
                "{seen}"
            );
        }
        let nowhere = tempfile::tempdir().unwrap();
        assert_eq!(head(nowhere.path()), None);
        assert_eq!(look(nowhere.path(), &WatchedFiles::Everything), None);
        assert!(matches!(
            commit(nowhere.path(), "x", &WatchedFiles::Everything),
            CommitOutcome::Failed(_)
        ));
    }
}
