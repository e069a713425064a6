//! Checks reviewers' citations, only in the project.

use std::path::{Component, Path, PathBuf};

use convoke_domain::design::citation::{Citation, MOST, Missing};
use convoke_domain::finding::FileFinding;

use crate::file;
use crate::git::known_files;

/// A longer file is not read; a citation of it is never called missing.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The most files with the same end of their paths that are checked.
const MOST_ALIKE: usize = 20;

/// Returns the citations that do not exist, or cannot be checked. A path counts from the project's
/// folder, from folders of documents, and as the end of a path that git knows.
pub fn missing(
    project: &Path,
    folders: &[PathBuf],
    citations: &[Citation],
) -> Vec<(Citation, Missing)> {
    let known = known_files(project);
    let look_up = Lookup { project, folders, known: &known };
    let judged = citations.iter().take(MOST).filter_map(|citation| {
        let missing = look_up.missing(citation)?;
        // A text that may not be a citation is not reported as naming no file.
        let is_meant = citation.is_certain() || matches!(missing, Missing::Lines(_));
        is_meant.then(|| (citation.clone(), missing))
    });
    judged.collect()
}

struct Lookup<'l> {
    project: &'l Path,
    folders: &'l [PathBuf],
    known: &'l [PathBuf],
}

impl Lookup<'_> {
    fn missing(&self, citation: &Citation) -> Option<Missing> {
        let Some(path) = self.inside(&citation.path) else { return Some(Missing::Unchecked) };
        let mut worst = Missing::NoFile;
        for candidate in self.candidates(&path) {
            match self.judge(citation, &candidate) {
                None => return None,
                Some(Missing::NoFile) => {}
                Some(Missing::Unchecked) if matches!(worst, Missing::Lines(_)) => {}
                Some(found) => worst = found,
            }
        }
        Some(worst)
    }

    fn judge(&self, citation: &Citation, path: &Path) -> Option<Missing> {
        match file::read_below(self.project, path, MAX_BYTES) {
            FileFinding::Text(text) => {
                citation.judge(u32::try_from(text.lines().count()).unwrap_or(u32::MAX))
            }
            FileFinding::Absent => Some(Missing::NoFile),
            FileFinding::Unreadable(_) => Some(Missing::Unchecked),
        }
    }

    /// Returns a path below the project; `None` if it leads out.
    fn inside(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        let path = path.strip_prefix(self.project).unwrap_or(path);
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        path.components().all(is_plain).then(|| path.to_owned())
    }

    fn candidates(&self, path: &Path) -> Vec<PathBuf> {
        let from = [self.project.to_owned()].into_iter().chain(self.folders.iter().cloned());
        let alike = self.known.iter().filter(|known| known.ends_with(path)).take(MOST_ALIKE);
        let alike = alike.map(|known| self.project.join(known));
        from.map(|folder| folder.join(path)).chain(alike).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use convoke_domain::design::citation::find;

    use super::*;

    #[test]
    fn only_files_of_the_project_are_looked_up() {
        let top = tempfile::tempdir().unwrap();
        let project = top.path().join("project");
        fs::create_dir_all(project.join("docs/features/1")).unwrap();
        fs::write(top.path().join("secret.md"), "one\ntwo\n").unwrap();
        fs::write(project.join("a.md"), "one\ntwo\n").unwrap();
        fs::write(project.join("docs/features/1/spec.md"), "one").unwrap();
        fs::write(project.join("b.bin"), b"\xff\xfe\n").unwrap();
        symlink(top.path().join("secret.md"), project.join("link.md")).unwrap();
        symlink(project.join("a.md"), project.join("alias.md")).unwrap();
        let check = |text: &str| {
            let folders = [project.join("docs/features/1")];
            let found = missing(&project, &folders, &find(text));
            found.first().map(|(_, why)| *why)
        };
        assert_eq!(check("a.md:2"), None);
        assert_eq!(check("alias.md:2"), None);
        assert_eq!(check(&format!("{}:1", project.join("a.md").display())), None);
        assert_eq!(check("spec.md:1"), None, "a document of the feature");
        assert_eq!(check("a.md:3"), Some(Missing::Lines(2)));
        assert_eq!(check("c.md:1"), Some(Missing::NoFile));
        assert_eq!(check("either/or:1"), None, "it may be no citation");
        for outside in
            ["../secret.md:1", "link.md:1", "/etc/hosts.conf:1", "b.bin:1", "a/../a.md:1"]
        {
            assert_eq!(check(outside), Some(Missing::Unchecked), "{outside}");
        }
    }
}
