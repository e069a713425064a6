//! Looks up what agents cite, only in the project.

use std::path::{Component, Path, PathBuf};

use convoke_domain::design::citation::{Citation, CitedPassage, MOST, Missing, PlaceFinding};
use convoke_domain::finding::FileFinding;
use convoke_domain::receipt::Span;
use convoke_domain::receipt::quotation::{QuotationPlace, find_words};

use crate::file;
use crate::git::known_files;

/// A longer file is not read; a citation of it is never called missing.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A longer file is not searched for quoted words.
const MAX_SEARCHED: usize = 1024 * 1024;

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

/// Returns what is at cited places, for those that are citations beyond doubt or were found. The
/// clearest of several files with the same end of their paths counts.
pub fn look_up(
    project: &Path,
    folders: &[PathBuf],
    cited: &[CitedPassage],
) -> Vec<(CitedPassage, PlaceFinding)> {
    let known = known_files(project);
    let look_up = Lookup { project, folders, known: &known };
    let looked_up = cited.iter().take(MOST).filter_map(|cited| {
        let found = look_up.found(cited);
        // A text that may not be a citation is not reported as naming no file.
        let is_meant = cited.place.is_certain()
            || !matches!(found, PlaceFinding::Missing(Missing::NoFile | Missing::Unchecked));
        is_meant.then(|| (cited.clone(), found))
    });
    looked_up.collect()
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

    fn found(&self, cited: &CitedPassage) -> PlaceFinding {
        let Some(path) = self.inside(&cited.place.path) else {
            return PlaceFinding::Missing(Missing::Unchecked);
        };
        let candidates = self.candidates(&path);
        let found = candidates.iter().map(|candidate| self.found_in(cited, candidate));
        found.min_by_key(|found| doubt(*found)).unwrap_or(PlaceFinding::Missing(Missing::NoFile))
    }

    fn found_in(&self, cited: &CitedPassage, path: &Path) -> PlaceFinding {
        let text = match file::read_below(self.project, path, MAX_BYTES) {
            FileFinding::Text(text) => text,
            FileFinding::Absent => return PlaceFinding::Missing(Missing::NoFile),
            FileFinding::Unreadable(_) => return PlaceFinding::Missing(Missing::Unchecked),
        };
        let lines = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        let Citation { first, last, .. } = cited.place;
        match (cited.place.judge(lines), &cited.words) {
            (Some(missing), _) => PlaceFinding::Missing(missing),
            (None, None) => PlaceFinding::Holds,
            (None, Some(_)) if text.len() > MAX_SEARCHED => PlaceFinding::WordsUnchecked,
            (None, Some(words)) => {
                let span = Span { first: first as usize, last: last as usize };
                match find_words(words, &text, Some(span)) {
                    QuotationPlace::There { .. } => PlaceFinding::Holds,
                    QuotationPlace::Moved { line } => {
                        PlaceFinding::Elsewhere(u32::try_from(line).unwrap_or(u32::MAX))
                    }
                    QuotationPlace::NotThere => PlaceFinding::NoWords,
                }
            }
        }
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

/// Orders results: what is as cited comes first, and what says least last.
const fn doubt(found: PlaceFinding) -> u8 {
    match found {
        PlaceFinding::Holds => 0,
        PlaceFinding::Elsewhere(_) => 1,
        PlaceFinding::WordsUnchecked => 2,
        PlaceFinding::NoWords => 3,
        PlaceFinding::Missing(Missing::Lines(_)) => 4,
        PlaceFinding::Missing(Missing::Unchecked) => 5,
        PlaceFinding::Missing(Missing::NoFile) => 6,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use convoke_domain::design::citation::{cited_places, find};

    use super::*;

    #[test]
    fn quoted_words_are_looked_up_where_they_are_cited() {
        let top = tempfile::tempdir().unwrap();
        let project = top.path().join("project");
        fs::create_dir_all(project.join("src")).unwrap();
        fs::write(top.path().join("secret.md"), "the password is swordfish\n").unwrap();
        fs::write(project.join("src/a.rs"), "fn main() {\n    let token = sign(key);\n}\n")
            .unwrap();
        let long = format!("let token = sign(key);\n{}", "x".repeat(MAX_SEARCHED));
        fs::write(project.join("src/long.rs"), long).unwrap();
        symlink(top.path().join("secret.md"), project.join("link.md")).unwrap();
        let check = |text: &str| {
            let found = look_up(&project, &[], &cited_places(text));
            found.first().map(|(_, found)| *found)
        };
        assert_eq!(check("src/a.rs:2"), Some(PlaceFinding::Holds));
        assert_eq!(check("src/a.rs:2: `let token = sign(key);`"), Some(PlaceFinding::Holds));
        assert_eq!(check("src/a.rs:1: `let token = sign(key);`"), Some(PlaceFinding::Elsewhere(2)));
        assert_eq!(check("src/a.rs:2: `let token = sign(none);`"), Some(PlaceFinding::NoWords));
        let long = check("src/long.rs:1: `let token = sign(key);`");
        assert_eq!(long, Some(PlaceFinding::WordsUnchecked), "it is not known");
        let lines = Some(PlaceFinding::Missing(Missing::Lines(3)));
        assert_eq!(check("src/a.rs:9: `let token = sign(key);`"), lines);
        for outside in ["../secret.md:1", "link.md:1 says \"the password is swordfish\""] {
            assert_eq!(
                check(outside),
                Some(PlaceFinding::Missing(Missing::Unchecked)),
                "{outside}"
            );
        }
        assert_eq!(check("either/or:1"), None, "it may be no citation");
    }

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
