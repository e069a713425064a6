//! Uncommitted files that hold only what Convoke itself wrote.

use std::path::PathBuf;

use crate::git::branch::WorkTree;
use crate::git::tracked::untracked;

/// A file that has exactly the text that Convoke's setup wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnFile {
    /// The absolute path, without links.
    pub path: PathBuf,
    /// The file's text before; `None` if there was no file.
    pub original: Option<String>,
}

/// Changes of a working tree, as `git status --porcelain` lists them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SortedChanges {
    /// Lines of changes that are not, or not only, Convoke's.
    pub(super) others: String,
    /// The paths of Convoke's own files, relative to the working tree.
    pub(super) own: Vec<String>,
}

/// Separates the changes that Convoke's setup made from all others. A file that the user changed
/// before or after counts among the others.
pub(super) fn sort_changes(tree: &WorkTree, listed: &str, own: &[OwnFile]) -> SortedChanges {
    let mut sorted = SortedChanges::default();
    for line in listed.lines() {
        if let Some(paths) = own_paths(tree, line, own) {
            sorted.own.extend(paths);
        } else {
            sorted.others.push_str(line);
            sorted.others.push('\n');
        }
    }
    sorted
}

fn own_paths(tree: &WorkTree, line: &str, own: &[OwnFile]) -> Option<Vec<String>> {
    let (state, path) = (line.get(..2)?, line.get(3..)?);
    // Hooks and a server can be in one file: it is Convoke's if it was so before either or before both.
    let known = |path: &str| {
        let path = tree.root().join(path);
        own.iter().filter(move |file| file.path == path).map(|file| file.original.as_deref())
    };
    let is_new = |path: &String| known(path).any(|original| original.is_none());
    let path = path.to_owned();
    match state {
        "??" if path.ends_with('/') => {
            let files = untracked(tree.root(), &path)?;
            (!files.is_empty() && files.iter().all(is_new)).then_some(files)
        }
        "??" | "A " => is_new(&path).then(|| vec![path]),
        " M" | "M " => {
            let mut originals = known(&path).flatten().peekable();
            originals.peek()?;
            let committed = tree.committed(&path)?;
            originals.any(|original| committed == original.as_bytes()).then(|| vec![path])
        }
        _ => None,
    }
}
