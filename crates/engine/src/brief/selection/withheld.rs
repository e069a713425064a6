//! Which files of a project an agent does not get because it names them.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

/// Who names documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBy {
    /// A person, who gets every file that they name.
    Person,
    /// An agent, whose model may send what it reads anywhere: it gets no file that git keeps to this
    /// machine.
    Agent,
}

/// Why an agent does not get a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WithheldReason {
    /// It belongs to git, and may hold credentials of a remote.
    BelowGit,
    /// It is not part of what the project shares.
    Ignored,
}

impl fmt::Display for WithheldReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::BelowGit => "it is below `.git`",
            Self::Ignored => "git ignores it",
        })
    }
}

/// The rules of a project, each file of them read once.
pub(super) struct Withholding {
    roots: Vec<Root>,
    folders: HashMap<PathBuf, Gitignore>,
}

/// A project, as it was named or without links.
struct Root {
    project: PathBuf,
    /// The working tree around it, whose rules hold in it too.
    tree: PathBuf,
    /// What git ignores on this machine alone.
    own: [Gitignore; 2],
}

impl Root {
    fn of(project: PathBuf) -> Self {
        let tree = project.ancestors().find(|folder| folder.join(".git").exists());
        let tree = tree.unwrap_or(&project).to_owned();
        let mut own = GitignoreBuilder::new(&tree);
        own.add(tree.join(".git/info/exclude"));
        let own = own.build().unwrap_or_else(|_| Gitignore::empty());
        let (of_user, _) = GitignoreBuilder::new(&tree).build_global();
        Self { project, tree, own: [own, of_user] }
    }
}

impl Withholding {
    pub(super) fn of(project: &Path) -> Self {
        let roots = [Some(project.to_owned()), project.canonicalize().ok()];
        let roots = roots.into_iter().flatten().map(Root::of).collect();
        Self { roots, folders: HashMap::new() }
    }

    /// Returns why an agent does not get a file or folder; also if a link leads there.
    pub(super) fn reason(&mut self, path: &Path) -> Option<WithheldReason> {
        let Self { roots, folders } = self;
        let places = [Some(path.to_owned()), path.canonicalize().ok()];
        for place in places.into_iter().flatten() {
            for root in roots.iter() {
                let Ok(below) = place.strip_prefix(&root.project) else { continue };
                // Some file systems take `.GIT` for the same folder.
                if below.iter().any(|part| part.eq_ignore_ascii_case(".git")) {
                    return Some(WithheldReason::BelowGit);
                }
                if root.excludes(below, folders) {
                    return Some(WithheldReason::Ignored);
                }
            }
        }
        None
    }
}

impl Root {
    /// Tells whether git ignores a path of the project, or a folder around it: nothing below an ignored
    /// folder can be taken back.
    fn excludes(&self, below: &Path, folders: &mut HashMap<PathBuf, Gitignore>) -> bool {
        let mut place = self.project.clone();
        below.iter().any(|part| {
            place.push(part);
            self.ignores(&place, folders)
        })
    }

    /// The nearest rule decides.
    fn ignores(&self, place: &Path, folders: &mut HashMap<PathBuf, Gitignore>) -> bool {
        let is_folder = place.is_dir();
        let above = place.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.tree));
        for folder in above {
            let rules = folders
                .entry(folder.to_owned())
                .or_insert_with(|| Gitignore::new(folder.join(".gitignore")).0);
            let matched = rules.matched(place, is_folder);
            if !matched.is_none() {
                return matched.is_ignore();
            }
        }
        let matched = self.own.iter().map(|rules| rules.matched(place, is_folder));
        matched
            .into_iter()
            .find(|matched| !matched.is_none())
            .is_some_and(|found| found.is_ignore())
    }
}
