//! Whether a repository's history delivers a file, or its user wrote it.

use std::path::Path;

use super::checkout;
use super::diff::{git, run};

/// Whose a file in a project is, as git sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracking {
    /// The file is in git's index, or git cannot be asked although there is a repository: it may
    /// have come with a clone.
    Tracked,
    /// The file is in no index, or the folder is in no repository.
    Untracked,
}

/// Returns whether git tracks the file called `name` in `folder`. Case does not matter, because some
/// filesystems open `A.toml` for `a.toml`.
pub fn tracking(folder: &Path, name: &str) -> Tracking {
    let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    if checkout(&absolute).is_none() {
        return Tracking::Untracked;
    }
    let pattern = format!(":(icase){name}");
    let answer = run(git(folder).args(["ls-files", "-z", "--", &pattern]));
    match answer {
        Some(answer) if answer.status.success() && answer.stdout.is_empty() => Tracking::Untracked,
        Some(_) | None => Tracking::Tracked,
    }
}

#[cfg(test)]
mod tests {
    use super::super::diff::tests::{did, repository, write};
    use super::*;

    const NAME: &str = "convoke.local.toml";

    #[test]
    fn a_file_is_tracked_from_the_moment_it_is_added() {
        let folder = repository();
        write(folder.path(), NAME, "");
        assert_eq!(tracking(folder.path(), NAME), Tracking::Untracked);
        did(folder.path(), &["add", NAME]);
        assert_eq!(tracking(folder.path(), NAME), Tracking::Tracked);
    }

    #[test]
    fn another_case_of_the_name_and_a_subfolder_count() {
        let folder = repository();
        write(folder.path(), "app/Convoke.Local.toml", "");
        did(folder.path(), &["add", "app"]);
        assert_eq!(tracking(&folder.path().join("app"), NAME), Tracking::Tracked);
        assert_eq!(tracking(folder.path(), NAME), Tracking::Untracked);
    }

    #[test]
    fn a_folder_without_repository_tracks_nothing_and_a_broken_one_may() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(tracking(folder.path(), NAME), Tracking::Untracked);
        write(folder.path(), ".git/HEAD", "ref: refs/heads/main\n");
        assert_eq!(tracking(folder.path(), NAME), Tracking::Tracked);
    }
}
