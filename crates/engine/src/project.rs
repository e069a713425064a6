//! Finds the project's folder.

use std::path::{Path, PathBuf};

/// The marks of a project's root, any one of them.
const MARKS: [&str; 3] = [".moai", "convoke.toml", ".git"];

/// Returns the nearest folder at or above `start` that looks like a project, or `start` itself.
///
/// A user's home is not the project of the folders in it, though some keep it in git.
pub fn root_above(start: &Path, home: Option<&Path>) -> PathBuf {
    find_above(start, home).unwrap_or_else(|| start.to_owned())
}

/// Returns the nearest folder at or above `start` that looks like a project, if there is one.
pub fn find_above(start: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let marked = |folder: &&Path| {
        Some(*folder) != home && MARKS.iter().any(|mark| folder.join(mark).exists())
    };
    start.ancestors().find(marked).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_nearest_marked_folder_is_the_project() {
        let top = tempfile::tempdir().unwrap();
        let deep = top.path().join("a/b/c");
        fs::create_dir_all(&deep).unwrap();
        fs::create_dir(top.path().join(".git")).unwrap();
        assert_eq!(root_above(&deep, None), top.path());
        assert_eq!(root_above(&deep, Some(top.path())), deep);
        fs::write(top.path().join("a/convoke.toml"), "").unwrap();
        assert_eq!(root_above(&deep, None), top.path().join("a"));
        fs::create_dir(deep.join(".moai")).unwrap();
        assert_eq!(root_above(&deep, None), deep);
    }
}
