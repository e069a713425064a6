//! Where a finding is: a reviewer's words, held against the files that are there.

use std::path::{Component, Path, PathBuf};

use convoke_domain::receipt::Span;
use convoke_domain::receipt::quotation::{CitedPlace, cited_place};
use convoke_engine::file;

/// No file that a reviewer comments on is larger.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A file of the project, or a folder where no file is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    /// Its path below the project, with `/` between its parts.
    pub path: String,
    /// Lines that it has.
    pub lines: Option<Span>,
}

/// The folders that reviewers' places lie in.
#[derive(Debug, Clone)]
pub struct FindingPlaces {
    project: PathBuf,
    folder: PathBuf,
}

impl FindingPlaces {
    /// Looks in a feature's folder first, then in the project.
    pub fn new(project: &Path, folder: &Path) -> Self {
        Self { project: project.to_owned(), folder: folder.to_owned() }
    }

    /// Finds the file that a reviewer names. A place that is no file of the project is the feature's
    /// folder: code hosts drop a finding without a place, and follow no path out of the project.
    pub fn find(&self, location: Option<&str>) -> FilePlace {
        let cited = location.and_then(cited_place);
        cited.and_then(|cited| self.file(&cited)).unwrap_or_else(|| self.default())
    }

    fn default(&self) -> FilePlace {
        let path = self.below_project(&self.folder).unwrap_or_default();
        FilePlace { path: if path.is_empty() { ".".to_owned() } else { path }, lines: None }
    }

    fn file(&self, cited: &CitedPlace<'_>) -> Option<FilePlace> {
        // A path from the root replaces the folder that it is joined to.
        let candidates = [&self.folder, &self.project].map(|folder| folder.join(cited.path));
        candidates.into_iter().find_map(|path| {
            let below = self.below_project(&path).filter(|below| !below.is_empty())?;
            let inside = file::stays_inside(&self.project, Path::new(&below));
            let text = file::lossy_text(&path, MAX_BYTES).filter(|_| inside)?;
            let count = text.lines().count();
            let lines = cited.lines.filter(|span| span.first > 0 && span.last <= count);
            Some(FilePlace { path: below, lines })
        })
    }

    /// Returns a path below the project; nothing if it leads out.
    fn below_project(&self, path: &Path) -> Option<String> {
        let below = path.strip_prefix(&self.project).ok()?;
        let mut parts = Vec::new();
        for part in below.components() {
            match part {
                Component::Normal(name) => parts.push(name.to_str()?),
                Component::CurDir => {}
                Component::ParentDir => {
                    parts.pop()?;
                }
                Component::RootDir | Component::Prefix(_) => return None,
            }
        }
        Some(parts.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_place_is_a_file_of_the_project_or_the_folder() {
        let outside = tempfile::tempdir().unwrap();
        let project = outside.path().join("project");
        let feature = project.join("docs/features/031-login");
        fs::create_dir_all(&feature).unwrap();
        fs::create_dir_all(project.join("src")).unwrap();
        fs::write(outside.path().join("secret.txt"), "x\n").unwrap();
        fs::write(feature.join("spec.md"), "one\ntwo\nthree\n").unwrap();
        fs::write(project.join("src/a b.rs"), "fn main() {}\n").unwrap();
        fs::write(project.join("src/a.rs"), "fn main() {}\n").unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.txt"), project.join("link"))
            .unwrap();
        let places = FindingPlaces::new(&project, &feature);
        let find = |location: &str| {
            let place = places.find(Some(location));
            let lines = place.lines.map(|span| format!(":{}-{}", span.first, span.last));
            format!("{}{}", place.path, lines.unwrap_or_default())
        };
        let spec = "docs/features/031-login/spec.md";
        assert_eq!(find("spec.md:2-3"), format!("{spec}:2-3"));
        assert_eq!(find("spec.md:0"), spec);
        assert_eq!(find("spec.md:99"), spec, "the file has no such line");
        assert_eq!(find("src/a.rs:1"), "src/a.rs:1-1");
        assert_eq!(find(&project.join("src/a.rs").display().to_string()), "src/a.rs");
        assert_eq!(find("src/../src/a.rs"), "src/a.rs");
        for hostile in [
            "../secret.txt:1",
            "../../../../secret.txt",
            "/etc/passwd:1",
            "link:1",
            "src/none.rs:4",
            "https://example.org/spec.md",
            "src",
            "",
            "everywhere",
        ] {
            assert_eq!(find(hostile), "docs/features/031-login", "{hostile}");
        }
        assert_eq!(places.find(None).path, "docs/features/031-login");
        assert_eq!(FindingPlaces::new(&project, &project).find(None).path, ".");
        assert_eq!(FindingPlaces::new(&project, outside.path()).find(None).path, ".");
    }
}
