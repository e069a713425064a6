//! What changed between a commit and now, and committing it.
//!
//! Git itself is asked, with everything of its user's that would change the answer switched off.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::process::output;

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Changes {
    /// File by file, in numbers.
    pub stat: String,
    /// Line by line.
    pub diff: String,
    /// The files.
    pub files: Vec<String>,
}

impl Changes {
    /// Tells whether nothing did.
    pub fn is_empty(&self) -> bool {
        self.diff.is_empty() && self.files.is_empty()
    }
}

/// What came of committing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Committed {
    /// There was nothing to commit.
    NoChanges,
    /// It is committed.
    Done,
    /// Git refused, for this reason.
    Failed(String),
}

/// Returns the commit that a checkout is on; `None` outside of a repository or before the first.
pub fn head(folder: &Path) -> Option<String> {
    let commit = asked(folder, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])?;
    Some(commit.trim().to_owned()).filter(|commit| !commit.is_empty())
}

/// Returns what changed in some paths since a commit, committed or not; `None` if that commit is not
/// known any more, or there is no repository.
pub fn changes_since(folder: &Path, commit: &str, paths: &[PathBuf]) -> Option<Changes> {
    let is_commit = commit.chars().all(|c| c.is_ascii_alphanumeric() || "/._-~^@{}".contains(c));
    if commit.starts_with('-') || !is_commit {
        return None;
    }
    let ask = |flags: &[&str]| {
        let mut arguments: Vec<OsString> =
            ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"]
                .iter()
                .chain(flags)
                .map(OsString::from)
                .collect();
        arguments.extend([commit, "--"].map(OsString::from));
        arguments.extend(paths.iter().map(|path| path.as_os_str().to_owned()));
        asked(folder, arguments)
    };
    let names = ask(&["--name-only", "-z"])?;
    let files = names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Some(Changes { stat: ask(&["--stat=100"])?, diff: ask(&["--unified=3"])?, files })
}

/// Commits what changed in some paths, and nothing else.
pub fn commit(folder: &Path, message: &str, paths: &[PathBuf]) -> Committed {
    let run = |words: &[&str]| {
        let words = words.iter().map(OsString::from);
        let paths = paths.iter().map(|path| path.as_os_str().to_owned());
        git(folder, words.chain([OsString::from("--")]).chain(paths))
    };
    let Some(status) = run(&["status", "--porcelain"]) else {
        return Committed::Failed("git could not be run".to_owned());
    };
    if !status.status.success() {
        return Committed::Failed(first_line(&status.stderr));
    }
    if status.stdout.is_empty() {
        return Committed::NoChanges;
    }
    for words in [&["add"][..], &["commit", "--quiet", "--only", "-m", message]] {
        match run(words) {
            Some(done) if done.status.success() => {}
            Some(refused) => return Committed::Failed(first_line(&refused.stderr)),
            None => return Committed::Failed("git could not be run".to_owned()),
        }
    }
    Committed::Done
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().next().unwrap_or("git refused").trim().to_owned()
}

fn asked<S: Into<OsString>>(
    folder: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Option<String> {
    let answer = git(folder, arguments.into_iter().map(Into::into))?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    answer.status.success().then_some(text)
}

fn git(folder: &Path, arguments: impl IntoIterator<Item = OsString>) -> Option<Output> {
    let quiet = ["-c", "core.quotePath=false", "-c", "core.fsmonitor=false"].map(OsString::from);
    output("git", quiet.into_iter().chain(arguments), folder).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn repository() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let run = |words: &[&str]| {
            let done = git(folder.path(), words.iter().map(OsString::from)).unwrap();
            assert!(done.status.success(), "{words:?}: {}", first_line(&done.stderr));
        };
        run(&["init", "--quiet", "-b", "main"]);
        run(&["config", "user.email", "a@example.org"]);
        run(&["config", "user.name", "A"]);
        run(&["config", "commit.gpgsign", "false"]);
        fs::write(folder.path().join("spec.md"), "one\n").unwrap();
        fs::write(folder.path().join("other.md"), "other\n").unwrap();
        run(&["add", "."]);
        run(&["commit", "--quiet", "-m", "first"]);
        folder
    }

    // D-62: against the commit that was seen, never against the one before.
    #[test]
    fn changes_are_told_since_a_commit_committed_or_not() {
        let folder = repository();
        let spec = [PathBuf::from("spec.md")];
        let seen = head(folder.path()).unwrap();
        assert!(changes_since(folder.path(), &seen, &spec).unwrap().is_empty());
        fs::write(folder.path().join("spec.md"), "two\n").unwrap();
        fs::write(folder.path().join("other.md"), "changed\n").unwrap();
        let uncommitted = changes_since(folder.path(), &seen, &spec).unwrap();
        assert_eq!(uncommitted.files, ["spec.md"]);
        assert!(uncommitted.diff.ends_with("-one\n+two\n"), "{}", uncommitted.diff);
        assert_eq!(commit(folder.path(), "spec: revised", &spec), Committed::Done);
        assert_eq!(commit(folder.path(), "again", &spec), Committed::NoChanges);
        assert_ne!(head(folder.path()), Some(seen.clone()));
        assert_eq!(changes_since(folder.path(), &seen, &spec).unwrap(), uncommitted);
        let all = changes_since(folder.path(), &seen, &[]).unwrap();
        assert_eq!(all.files, ["other.md", "spec.md"], "the rest was not committed");
    }

    // A history that was rewritten, no repository, or nonsense: nothing can be told.
    #[test]
    fn what_is_not_known_is_said() {
        let folder = repository();
        for commit in ["0123456789012345678901234567890123456789", "--output=x", "a b", ""] {
            assert_eq!(changes_since(folder.path(), commit, &[]), None, "{commit}");
        }
        let nowhere = tempfile::tempdir().unwrap();
        assert_eq!(head(nowhere.path()), None);
        assert!(matches!(commit(nowhere.path(), "x", &[]), Committed::Failed(_)));
    }
}
