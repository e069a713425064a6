//! Whether a repository's history delivers a file, or its user wrote it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{checkout, git_dir, ls_files};
use crate::file;

/// The origin of a file in a project, as git sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitTracking {
    /// The file is in git's index, or git cannot be run although there is a repository: the file
    /// may have come with a clone.
    Tracked,
    /// The file is in no index, or the folder is in no repository.
    Untracked,
}

/// Returns whether git tracks the file called `name` in `folder`: in any repository around it,
/// because a committed folder can look like a repository of its own. Case does not matter, because
/// some filesystems open `A.toml` for `a.toml`. Git knows a file by its real folder, and both a
/// link and its target may be committed: a file is untracked only if all of them are.
pub fn tracking(folder: &Path, name: &str) -> GitTracking {
    let is_untracked = |path: &PathBuf| is_untracked(path).unwrap_or(false);
    match places(folder, name) {
        Some(places) if places.iter().all(is_untracked) => GitTracking::Untracked,
        Some(_) | None => GitTracking::Tracked,
    }
}

/// No system follows more links.
const MOST_LINKS: usize = 40;

/// Returns a file's real path, and, if it is a link, every path that it leads to; `None` if
/// unknown.
fn places(folder: &Path, name: &str) -> Option<Vec<PathBuf>> {
    let mut path = folder.canonicalize().ok()?.join(name);
    let mut places = Vec::new();
    while places.len() < MOST_LINKS {
        let target = path.read_link();
        let next = path.parent().zip(target.as_ref().ok()).map(|(from, to)| from.join(to));
        places.push(path);
        match (next, target.map_err(|error| error.kind())) {
            (Some(next), Ok(_)) => {
                path = next.parent()?.canonicalize().ok()?.join(next.file_name()?);
            }
            // It is no link, or nothing is there.
            (_, Err(ErrorKind::InvalidInput | ErrorKind::NotFound)) => return Some(places),
            (_, _) => return None,
        }
    }
    None
}

/// Tells whether a folder is itself a repository, without a working tree.
pub fn is_bare(folder: &Path) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|part| folder.join(part).exists())
}

/// Tells whether no repository around a file tracks it; `None` if its name cannot be passed to git.
fn is_untracked(path: &Path) -> Option<bool> {
    let name = path.file_name()?.to_str()?;
    let folder = path.parent()?;
    if folder.ancestors().any(is_bare) {
        return Some(false);
    }
    let is_absent = |root: &Path| {
        let is_listed_empty = || {
            let inside = path.strip_prefix(root).ok()?.to_str()?;
            let listed = ls_files(root, &["--", &format!(":(icase){inside}")])?;
            Some(listed.is_empty())
        };
        is_absent_from_index(root, name) || is_listed_empty().unwrap_or(false)
    };
    let mut roots = folder.ancestors().filter(|root| root.join(".git").symlink_metadata().is_ok());
    Some(roots.all(is_absent))
}

/// The largest index that is read directly; git reads a larger one.
const MAX_INDEX: u64 = 64 * 1024 * 1024;

/// Tells whether no file of this name can be in the index of the repository at `root`. Every hook
/// needs this, and starting git would take longer than the rest of the hook. If in doubt, it
/// returns `false`.
fn is_absent_from_index(root: &Path, name: &str) -> bool {
    let index = git_dir(root).and_then(|folder| file::bytes(&folder.join("index"), MAX_INDEX));
    let Some(index) = index else { return false };
    // Later versions share the beginnings of names; these have every name in full.
    let is_plain =
        [b"DIRC\0\0\0\x02", b"DIRC\0\0\0\x03"].iter().any(|start| index.starts_with(*start));
    let mut names = index.windows(name.len().max(1));
    is_plain && !names.any(|bytes| bytes.eq_ignore_ascii_case(name.as_bytes())) && !is_split(&index)
}

/// Tells whether an index may have the extension that links it to another.
fn is_split(index: &[u8]) -> bool {
    let is_link = |bytes: &[u8]| {
        let length = bytes.last_chunk().map(|length| u32::from_be_bytes(*length));
        bytes.starts_with(b"link") && length.is_some_and(|length| (length as usize) < index.len())
    };
    index.windows(8).any(is_link)
}

/// Tells whether the repository around a folder leaves it out: git neither tracks nor would add any
/// file in it. A folder that is itself the root of a repository, or in none, is its user's.
pub fn is_left_out(folder: &Path) -> bool {
    let is_root = |folder: &Path| folder.join(".git").symlink_metadata().is_ok();
    let Ok(folder) = folder.canonicalize() else { return true };
    if is_root(&folder) || !folder.ancestors().any(is_root) {
        return false;
    }
    let words = ["--cached", "--others", "--exclude-standard", "--", "."];
    ls_files(&folder, &words).is_none_or(|listed| listed.is_empty())
}

/// Tells whether git would show a file that it does not track as one to be added.
pub fn is_shown(folder: &Path, name: &str) -> bool {
    let listed = ls_files(folder, &["--others", "--exclude-standard", "--", name]);
    listed.is_some_and(|names| !names.is_empty())
}

/// Returns the files below a path that git does not track and would add; `None` if git cannot tell or
/// a name is not UTF-8.
pub(crate) fn untracked(folder: &Path, path: &str) -> Option<Vec<String>> {
    let path = format!(":(literal){path}");
    let listed = ls_files(folder, &["--others", "--exclude-standard", "--", &path])?;
    let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8(name.to_vec()).ok()).collect()
}

/// Returns the file that lists ignored files of this copy of a repository alone.
pub fn exclude_file(folder: &Path) -> Option<PathBuf> {
    Some(checkout(folder)?.common_dir.join("info/exclude"))
}

/// The most files that are listed without a repository.
const MOST: usize = 100_000;

/// Returns the files of a project, relative to its folder, in order: those that git tracks or would
/// add, or, without a repository, all of them.
pub fn files(folder: &Path) -> Vec<String> {
    let words = ["--cached", "--others", "--exclude-standard", "--", "."];
    let mut files: Vec<_> = match ls_files(folder, &words) {
        Some(listed) => {
            let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
            names.filter_map(|name| String::from_utf8(name.to_vec()).ok()).collect()
        }
        None => walk(folder),
    };
    files.sort();
    files.dedup();
    files
}

/// Lists every file below a folder; links to folders are not followed.
fn walk(folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(prefix) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(folder.join(&prefix)) else { continue };
        for entry in entries.filter_map(Result::ok) {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let path = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && path != ".git" => folders.push(path),
                Ok(kind) if !kind.is_dir() => files.push(path),
                Ok(_) | Err(_) => {}
            }
            if files.len() + folders.len() > MOST {
                return files;
            }
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::super::diff::tests::{did, repository, write};
    use super::*;

    const NAME: &str = "convoke.local.toml";

    #[test]
    fn files_are_listed_as_git_knows_them() {
        let folder = repository();
        write(folder.path(), "src/new.rs", "");
        write(folder.path(), ".gitignore", "target/\n");
        write(folder.path(), "target/x.rs", "");
        assert_eq!(files(folder.path()), [".gitignore", "other.md", "spec.md", "src/new.rs"]);
        let plain = tempfile::tempdir().unwrap();
        write(plain.path(), "a/b/c.txt", "");
        write(plain.path(), "x", "");
        assert_eq!(files(plain.path()), ["a/b/c.txt", "x"]);
    }

    #[test]
    fn a_file_is_tracked_from_the_moment_it_is_added() {
        let folder = repository();
        write(folder.path(), NAME, "");
        assert_eq!(tracking(folder.path(), NAME), GitTracking::Untracked);
        did(folder.path(), &["add", NAME]);
        assert_eq!(tracking(folder.path(), NAME), GitTracking::Tracked);
    }

    // For a version of the index that cannot be searched directly, Convoke runs git.
    #[test]
    fn every_kind_of_index_is_understood() {
        for words in
            [&["update-index", "--index-version", "4"][..], &["update-index", "--split-index"]]
        {
            let folder = repository();
            // Names that begin alike are kept together in one of them.
            write(folder.path(), "convoke.lint.toml", "");
            write(folder.path(), NAME, "");
            did(folder.path(), &["add", "convoke.lint.toml"]);
            did(folder.path(), words);
            assert_eq!(tracking(folder.path(), NAME), GitTracking::Untracked);
            did(folder.path(), &["add", NAME]);
            did(folder.path(), words);
            assert_eq!(tracking(folder.path(), NAME), GitTracking::Tracked, "{words:?}");
        }
    }

    #[test]
    fn another_case_of_the_name_and_a_subfolder_count() {
        let folder = repository();
        write(folder.path(), "app/Convoke.Local.toml", "");
        did(folder.path(), &["add", "app"]);
        assert_eq!(tracking(&folder.path().join("app"), NAME), GitTracking::Tracked);
        assert_eq!(tracking(folder.path(), NAME), GitTracking::Untracked);
    }

    #[test]
    fn an_ignored_folder_is_left_out() {
        let folder = repository();
        write(folder.path(), ".gitignore", "node_modules\n");
        for inside in ["node_modules/evil/convoke.toml", "app/convoke.toml"] {
            write(folder.path(), inside, "");
        }
        let is_left_out = |name: &str| is_left_out(&folder.path().join(name));
        assert!(is_left_out("node_modules/evil") && is_left_out("node_modules"));
        assert!(!is_left_out("app") && !is_left_out(""));
        did(&folder.path().join("node_modules/evil"), &["init", "--quiet"]);
        assert!(!is_left_out("node_modules/evil"), "a worktree may be in an ignored folder");
        assert!(!super::is_left_out(tempfile::tempdir().unwrap().path()), "in no repository");
    }

    // A clone may contain what looks like a repository in which nothing is tracked.
    #[test]
    fn a_repository_inside_another_hides_nothing() {
        let folder = repository();
        let inner = folder.path().join("inner");
        write(&inner, NAME, "");
        did(folder.path(), &["add", "inner"]);
        for (name, text) in [("HEAD", "ref: refs/heads/main\n"), ("objects/x", ""), ("refs/x", "")]
        {
            write(&inner, name, text);
        }
        assert_eq!(tracking(&inner, NAME), GitTracking::Tracked, "it looks like one");
        std::fs::remove_file(inner.join("HEAD")).unwrap();
        did(&inner, &["init", "--quiet"]);
        assert_eq!(tracking(&inner, NAME), GitTracking::Tracked, "it is one");
    }

    #[test]
    fn a_folder_without_repository_tracks_nothing_and_a_broken_one_may() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(tracking(folder.path(), NAME), GitTracking::Untracked);
        write(folder.path(), ".git/HEAD", "ref: refs/heads/main\n");
        assert_eq!(tracking(folder.path(), NAME), GitTracking::Tracked);
    }

    // A clone brings links along, and git knows what they lead to by another name.
    #[test]
    fn a_file_that_links_lead_to_is_tracked_under_its_real_name() {
        let folder = repository();
        let at = |name: &str| folder.path().join(name);
        write(folder.path(), &format!("app/sub/{NAME}"), "");
        write(folder.path(), "app/shared.toml", "");
        write(folder.path(), "own/x", "");
        did(folder.path(), &["add", "app"]);
        for (target, link) in [
            ("app", "web"),
            ("web", "twice"),
            ("../app/shared.toml", "own/convoke.local.toml"),
            ("app/shared.toml", "hop"),
        ] {
            symlink(target, at(link)).unwrap();
        }
        for tracked in ["app/sub", "web/sub", "twice/sub", "own/../web/sub", "own"] {
            assert_eq!(tracking(&at(tracked), NAME), GitTracking::Tracked, "{tracked}");
        }
        assert_eq!(tracking(&at("web"), NAME), GitTracking::Untracked, "there is no such file");
        let outside = tempfile::tempdir().unwrap();
        symlink(at("hop"), outside.path().join(NAME)).unwrap();
        assert_eq!(tracking(outside.path(), NAME), GitTracking::Tracked, "over two links");
    }

    #[test]
    fn a_link_counts_as_committed_if_it_is_or_cannot_be_followed() {
        let (folder, outside) = (repository(), tempfile::tempdir().unwrap());
        write(outside.path(), "mine.toml", "");
        let link = folder.path().join(NAME);
        symlink(outside.path().join("mine.toml"), &link).unwrap();
        assert_eq!(tracking(folder.path(), NAME), GitTracking::Untracked);
        did(folder.path(), &["add", NAME]);
        assert_eq!(tracking(folder.path(), NAME), GitTracking::Tracked);
        did(folder.path(), &["rm", "--quiet", "--force", NAME]);
        for target in [NAME, "gone/x", ".."] {
            symlink(target, &link).unwrap();
            assert_eq!(tracking(folder.path(), NAME), GitTracking::Tracked, "{target}");
            std::fs::remove_file(&link).unwrap();
        }
        let gone = folder.path().join("gone");
        assert_eq!(tracking(&gone, NAME), GitTracking::Tracked, "there is no such folder");
    }

    // Git takes such a folder for a repository, although it has no `.git`.
    #[test]
    fn what_only_looks_like_a_repository_may_track_anything() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["HEAD", "objects/x", "refs/x"] {
            write(folder.path(), name, "");
        }
        assert_eq!(tracking(folder.path(), NAME), GitTracking::Tracked);
        assert_eq!(tracking(&folder.path().join("refs"), NAME), GitTracking::Tracked);
    }
}
