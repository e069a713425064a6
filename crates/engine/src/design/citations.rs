//! Looks up what agents cite, only in the project.

use std::path::{Component, Path, PathBuf};

use convoke_domain::design::citation::{
    CheckedCitation, Citation, CitedPassage, MOST, Missing, PlaceFinding, cited_places,
    other_spellings,
};
use convoke_domain::finding::FileFinding;
use convoke_domain::receipt::Span;
use convoke_domain::receipt::quotation::{QuotationPlace, find_words};

use crate::file;
use crate::git::known_files;

/// A longer file is not read; a citation of it is never called missing.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A longer file is not searched for quoted words.
const MAX_SEARCHED: usize = 1024 * 1024;

/// The most files with the same end of their paths that are checked. With more of them, no citation
/// fails.
const MOST_ALIKE: usize = 40;

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
        let is_meant = match found {
            PlaceFinding::Missing(Missing::NoFile | Missing::Unchecked) => cited.place.is_certain(),
            PlaceFinding::Missing(Missing::Lines(_)) => {
                cited.place.is_certain()
                    || cited.place.path.contains('/')
                    || cited.place.is_named_like_a_file()
            }
            PlaceFinding::Holds
            | PlaceFinding::Elsewhere(_)
            | PlaceFinding::NoWords
            | PlaceFinding::WordsUnchecked => true,
        };
        is_meant.then(|| (cited.clone(), found))
    });
    looked_up.collect()
}

/// Judges where reviewers say that findings are; `None` for words that name no place in a file. A
/// name without lines holds if there is such a file.
pub fn judge_locations(
    project: &Path,
    folders: &[PathBuf],
    locations: &[&str],
) -> Vec<Option<Vec<CheckedCitation>>> {
    let cited: Vec<_> = locations.iter().map(|location| located(location)).collect();
    let all: Vec<_> = cited.iter().flat_map(|(cited, _)| cited.clone()).collect();
    let looked_up = look_up(project, folders, &all);
    let judged = cited.into_iter().map(|(cited, form)| {
        let checked = cited.into_iter().filter_map(|cited| {
            let known = looked_up.iter().find(|(known, _)| known.is_about_the_same(&cited))?;
            let has_file_alone = matches!(known.1, PlaceFinding::Missing(Missing::Lines(_)));
            let is_enough = has_file_alone && form == Located::File;
            let found = if is_enough { PlaceFinding::Holds } else { known.1 };
            Some(CheckedCitation { cited, found: Some(found) })
        });
        Some(checked.collect::<Vec<_>>()).filter(|checked| !checked.is_empty())
    });
    judged.collect()
}

/// What a location names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Located {
    Lines,
    File,
}

fn located(location: &str) -> (Vec<CitedPassage>, Located) {
    let cited = cited_places(location);
    if !cited.is_empty() {
        return (cited, Located::Lines);
    }
    let path = location.trim().trim_matches('`');
    let place = Citation { path: path.to_owned(), first: 1, last: 1 };
    // A sentence is no path.
    let is_path = place.is_certain() && !path.contains(char::is_whitespace);
    let cited = is_path.then(|| CitedPassage::new(place, None));
    (cited.into_iter().collect(), Located::File)
}

struct Lookup<'l> {
    project: &'l Path,
    folders: &'l [PathBuf],
    known: &'l [PathBuf],
}

impl Lookup<'_> {
    fn missing(&self, citation: &Citation) -> Option<Missing> {
        let cited = CitedPassage::new(citation.clone(), None);
        match self.found(&cited) {
            PlaceFinding::Missing(missing) => Some(missing),
            PlaceFinding::Holds
            | PlaceFinding::Elsewhere(_)
            | PlaceFinding::NoWords
            | PlaceFinding::WordsUnchecked => None,
        }
    }

    /// Returns what is at a cited place. A citation that fails in one reading and may mean another file
    /// is not known.
    fn found(&self, cited: &CitedPassage) -> PlaceFinding {
        let unchecked = PlaceFinding::Missing(Missing::Unchecked);
        let Some(path) = self.inside(&cited.place.path) else { return unchecked };
        let candidates = self.candidates(&path);
        let found = candidates.iter().take(MOST_ALIKE).map(|path| self.found_in(cited, path));
        let found = found.min_by_key(|found| doubt(*found));
        let found = found.unwrap_or(PlaceFinding::Missing(Missing::NoFile));
        let is_doubtful = match found {
            PlaceFinding::Holds
            | PlaceFinding::WordsUnchecked
            | PlaceFinding::Missing(Missing::Unchecked) => false,
            PlaceFinding::Elsewhere(_)
            | PlaceFinding::NoWords
            | PlaceFinding::Missing(Missing::NoFile | Missing::Lines(_)) => {
                candidates.len() > MOST_ALIKE
                    || cited.place.path.starts_with(['~', '$'])
                    || self.may_mean_another(cited)
                    || self.may_be_a_column(cited, &candidates)
            }
        };
        if is_doubtful { unchecked } else { found }
    }

    /// Tells whether a text may name another file than its plainest reading does.
    fn may_mean_another(&self, cited: &CitedPassage) -> bool {
        let spelled = other_spellings(&cited.place.path);
        let mut others = cited.other_paths.iter().chain(&spelled);
        let exists = others.any(|other| {
            let path = self.inside(other);
            path.is_some_and(|path| self.candidates(&path).iter().any(|path| path.is_file()))
        });
        // A name with blanks, of which the text has only the end here.
        let end = format!(" {}", cited.place.path);
        exists || self.known.iter().any(|known| known.to_string_lossy().ends_with(&end))
    }

    /// Tells whether the number may be a column: in `a.rs:7,12` it follows a line that is as long.
    fn may_be_a_column(&self, cited: &CitedPassage, candidates: &[PathBuf]) -> bool {
        let Some(line) = cited.column_of else { return false };
        let column = cited.place.last as usize;
        let is_as_long = |path: &PathBuf| {
            let FileFinding::Text(text) = file::read_below(self.project, path, MAX_BYTES) else {
                return false;
            };
            let line = text.lines().nth((line as usize).saturating_sub(1));
            // An editor's cursor may be behind the last character.
            line.is_some_and(|line| line.chars().count() + 1 >= column)
        };
        candidates.iter().any(is_as_long)
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

    /// Returns a path below the project; `None` if it leads out.
    fn inside(&self, path: &str) -> Option<PathBuf> {
        let path = Path::new(path);
        let path = path.strip_prefix(self.project).unwrap_or(path);
        let is_plain =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        path.components().all(is_plain).then(|| path.to_owned())
    }

    /// Returns the files that a path may name; one more than are looked up, if there are more.
    fn candidates(&self, path: &Path) -> Vec<PathBuf> {
        let from = [self.project.to_owned()].into_iter().chain(self.folders.iter().cloned());
        let alike = self.known.iter().filter(|known| known.ends_with(path));
        let alike = alike.map(|known| self.project.join(known));
        from.map(|folder| folder.join(path)).chain(alike).take(MOST_ALIKE + 1).collect()
    }
}

/// Orders results: what is as cited comes first, then what is not known, and what says least last.
const fn doubt(found: PlaceFinding) -> u8 {
    match found {
        PlaceFinding::Holds => 0,
        PlaceFinding::WordsUnchecked => 1,
        PlaceFinding::Missing(Missing::Unchecked) => 2,
        PlaceFinding::Elsewhere(_) => 3,
        PlaceFinding::NoWords => 4,
        PlaceFinding::Missing(Missing::Lines(_)) => 5,
        PlaceFinding::Missing(Missing::NoFile) => 6,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use convoke_domain::design::citation::{CitationVerdict, find};
    use proptest::prelude::*;

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
    fn a_location_may_be_a_file_without_lines() {
        let top = tempfile::tempdir().unwrap();
        fs::write(top.path().join("plan.md"), "one\ntwo\n").unwrap();
        fs::write(top.path().join("empty.md"), "").unwrap();
        let judge = |location: &str| {
            let judged = judge_locations(top.path(), &[], &[location]).remove(0);
            let checked = judged.unwrap_or_default();
            checked.iter().map(|checked| checked.verdict().word()).collect::<Vec<_>>()
        };
        for (location, expected) in [
            ("plan.md:2", vec!["holds"]),
            ("plan.md lines 2-9", vec!["fails"]),
            ("plan.md:1, gone.md:1", vec!["holds", "fails"]),
            ("`plan.md`", vec!["holds"]),
            ("empty.md", vec!["holds"]),
            ("gone.md", vec!["fails"]),
            ("../plan.md", vec!["unknown"]),
            ("Section 3", vec![]),
            ("the section on plan.md", vec![]),
            ("3.2", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(judge(location), expected, "{location}");
        }
    }

    // P-389
    #[test]
    fn a_citation_fails_only_if_it_fails_in_every_reading() {
        let top = tempfile::tempdir().unwrap();
        let project = top.path();
        for folder in ["jot", "src/pages", "app/(auth)"] {
            fs::create_dir_all(project.join(folder)).unwrap();
        }
        for name in ["jot/my notes.md", "src/pages/[id].tsx", "app/(auth)/page.tsx", "src/a.rs"] {
            fs::write(project.join(name), "one\ntwo words\nthree\n").unwrap();
        }
        fs::write(project.join("Makefile"), "all:\n").unwrap();
        fs::write(project.join("node"), "#!/bin/sh\n").unwrap();
        let check = |text: &str| {
            let found = look_up(project, &[], &cited_places(text));
            found.iter().map(|(_, found)| *found).collect::<Vec<_>>()
        };
        let unknown = [PlaceFinding::Missing(Missing::Unchecked)];
        for text in [
            "see jot/my notes.md:2",
            "`jot/my notes.md:2`",
            "`jot/my notes.md` line 2",
            "src/pages/[id].tsx:2",
            "app/(auth)/page.tsx:2",
            "path=src/a.rs:2",
            "@src/a.rs:2",
            "b/src/a.rs:2",
            "src\\a.rs:2",
            "jot/my%20notes.md:2",
            "jot/my\\ notes.md:2",
            "_src/a.rs:2_",
            "詳細はsrc/a.rs:2",
            "~/notes.md:2",
        ] {
            assert_eq!(check(text), unknown, "{text}");
        }
        let no_file = PlaceFinding::Missing(Missing::NoFile);
        let lines = |lines| PlaceFinding::Missing(Missing::Lines(lines));
        for (text, expected) in [
            ("see src/my notes.md:2", vec![no_file]),
            ("`src/a.rs` line 901 and `src/a.rs`:3", vec![lines(3), PlaceFinding::Holds]),
            ("src/a.rs lines 2-4, src/a.rs (L3)", vec![lines(3), PlaceFinding::Holds]),
            ("src/a.rs:1,907", vec![PlaceFinding::Holds, lines(3)]),
            ("src/a.rs:2,9", vec![PlaceFinding::Holds, unknown[0]]),
            ("Makefile:905, Makefile:1, Dockerfile:3", vec![lines(1), PlaceFinding::Holds]),
            ("node:18 and node:1", vec![]),
        ] {
            assert_eq!(check(text), expected, "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        // P-389: a text that names an existing file and one of its lines is never accused.
        #[test]
        fn no_existing_place_fails(
            name in "[a-zA-Z\\[\\]()@+~$%=_é の-]{0,6}[a-z]([./ -][a-z]{1,3}){0,2}\\.(rs|md|tsx)",
            before in "([a-z]{1,4} |[(\"`*_@:—–=の]|see |at ){0,4}",
            form in prop::sample::select(vec![
                ":2", ":1-2", ":2:7", "#L2", "` line 2", " line 2", " lines 1-2", "`:2", " (L2)",
                ":2,3", ":2.", ":2`", ":2)", ":2-", ":1,2,3",
            ]),
            after in "( [a-z]{1,4}|[.)`*_]| of [0-9]){0,2}",
        ) {
            let top = tempfile::tempdir().unwrap();
            let path = top.path().join(&name);
            prop_assume!(!name.contains("//") && !name.starts_with(['/', ' ']));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "one\ntwo\nthree\n").unwrap();
            let text = format!("{before}{name}{form}{after}");
            for (cited, found) in look_up(top.path(), &[], &cited_places(&text)) {
                let checked = CheckedCitation { cited, found: Some(found) };
                prop_assert!(checked.verdict() != CitationVerdict::Fails, "{text}: {checked:?}");
            }
        }
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
