//! Selects documents by names, folders and patterns.

mod walk;
mod withheld;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use ignore::gitignore::Gitignore;

use self::walk::{Matcher, Pattern, Search, Walk, count_ignored};
use self::withheld::Withholding;
pub use self::withheld::{NamedBy, WithheldReason};
use crate::lane::cancel::Cancel;

/// More documents than this are a mistake: no budget holds them.
pub const MOST_DOCUMENTS: usize = 5000;

/// A person's selection.
#[derive(Debug, Clone)]
pub struct SelectionRequest<'a> {
    /// The project's root, absolute.
    pub project: &'a Path,
    /// The folder that relative names begin at, absolute.
    pub folder: &'a Path,
    /// Files, folders and patterns, most important first.
    pub named: &'a [PathBuf],
    /// Patterns of documents that come before all others, most important first.
    pub first: &'a [String],
    /// Who names them.
    pub named_by: NamedBy,
    /// Ends the search of folders.
    pub cancel: Cancel,
}

/// How a document was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// The person named the file itself.
    ByName,
    /// A folder or pattern holds it.
    ByPattern,
}

/// A document that Convoke will read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedDocument {
    /// The absolute path.
    pub path: PathBuf,
    /// Its path below the project; outside of it, as the person wrote it.
    pub shown: String,
    /// The folder that no link may lead out of.
    pub boundary: Option<PathBuf>,
    /// How it was chosen.
    pub chosen: Chosen,
}

/// Something to tell about a selection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectionNote {
    /// A `.gitignore` excludes a file that the person named; it is taken.
    Ignored {
        /// The file's path.
        path: String,
    },
    /// Nothing matches a pattern, and other documents were found.
    NoMatch {
        /// The pattern as the user wrote it.
        pattern: String,
    },
    /// None of the chosen documents matches a pattern of `--first`.
    NoneFirst {
        /// The pattern as the user wrote it.
        pattern: String,
    },
}

/// Nothing can be packed.
#[derive(Debug, thiserror::Error)]
pub enum SelectionError {
    /// A file that the person named is not there.
    #[error("cannot find `{}`", path.display())]
    Missing {
        /// The file as the person wrote it.
        path: PathBuf,
        /// The names in the same folder.
        beside: Vec<String>,
    },
    /// No document matches.
    #[error("no document matches {patterns}")]
    NothingMatches {
        /// The person's patterns.
        patterns: String,
        /// How many files match that a `.gitignore` excludes; Convoke counts no more than
        /// [`MOST_DOCUMENTS`].
        ignored: usize,
    },
    /// An agent names a file that it does not get.
    #[error("cannot hand out `{}` to an agent: {reason}", path.display())]
    Withheld {
        /// The file or folder, below the project.
        path: PathBuf,
        /// Why the agent does not get it.
        reason: WithheldReason,
    },
    /// A pattern cannot be used.
    #[error("cannot use the pattern `{pattern}`")]
    Pattern {
        /// The invalid pattern.
        pattern: String,
        /// The parser's error.
        #[source]
        source: Box<ignore::Error>,
    },
    /// More documents match than any budget holds.
    #[error("more than {MOST_DOCUMENTS} documents match")]
    TooMany,
    /// The caller cancelled the search.
    #[error("the search for documents was stopped")]
    Stopped,
}

/// Chooses documents, each once, in the order of the names and then by path.
pub fn select(
    request: SelectionRequest<'_>,
) -> Result<(Vec<SelectedDocument>, Vec<SelectionNote>), SelectionError> {
    let (documents, notes) = (Vec::new(), Vec::new());
    let mut selection = Selection { request, documents, taken: HashSet::new(), notes };
    let names: Vec<_> = selection.request.named.iter().collect();
    // An agent does not even learn what is there.
    let literal: Vec<_> = names.iter().map(|given| selection.literal(given)).collect();
    selection.withhold(literal.iter().map(PathBuf::as_path))?;
    let places = names.iter().map(|given| selection.place(given));
    let places = places.collect::<Result<Vec<_>, _>>()?;
    let walks = Walk::all(&places);
    let mut found = HashMap::new();
    for walk in &walks {
        walk.find(&selection.request.cancel, &mut found)?;
    }
    let mut unmatched = Vec::new();
    for (index, (given, place)) in names.into_iter().zip(&places).enumerate() {
        let found = found.remove(&index).unwrap_or_default();
        if !selection.take(given, place, found)? {
            unmatched.push(given.display().to_string());
        }
    }
    if selection.documents.is_empty() {
        let patterns: Vec<_> = unmatched.iter().map(|given| format!("`{given}`")).collect();
        let ignored = count_ignored(&walks, &selection.request.cancel)?;
        return Err(SelectionError::NothingMatches { patterns: patterns.join(", "), ignored });
    }
    let unmatched = unmatched.into_iter().map(|pattern| SelectionNote::NoMatch { pattern });
    selection.notes.extend(unmatched);
    selection.withhold(selection.documents.iter().map(|document| document.path.as_path()))?;
    selection.put_first()?;
    Ok((selection.documents, selection.notes))
}

struct Selection<'a> {
    request: SelectionRequest<'a>,
    documents: Vec<SelectedDocument>,
    taken: HashSet<PathBuf>,
    notes: Vec<SelectionNote>,
}

/// What one of the person's names selects.
enum NamedPlace {
    File(PathBuf),
    Search(Search),
}

impl Selection<'_> {
    /// Refuses what an agent does not get.
    fn withhold<'p>(&self, paths: impl Iterator<Item = &'p Path>) -> Result<(), SelectionError> {
        let project = self.request.project;
        if self.request.named_by == NamedBy::Person {
            return Ok(());
        }
        let mut withholding = Withholding::of(project);
        for path in paths {
            if let Some(reason) = withholding.reason(path) {
                let path = path.strip_prefix(project).unwrap_or(path).to_owned();
                return Err(SelectionError::Withheld { path, reason });
            }
        }
        Ok(())
    }

    /// Returns the path that a name begins with, up to its pattern.
    fn literal(&self, given: &Path) -> PathBuf {
        let path = cleaned(&self.request.folder.join(given));
        if fs::symlink_metadata(&path).is_ok() {
            return path;
        }
        let parts: PathBuf = given.components().take_while(|part| !is_pattern(part)).collect();
        cleaned(&self.request.folder.join(parts))
    }

    /// Tells where to look for what one name selects.
    fn place(&self, given: &Path) -> Result<NamedPlace, SelectionError> {
        let path = cleaned(&self.request.folder.join(given));
        // A dangling link counts as present, and so does what the system hides: reading it gives the
        // error.
        let is_there = match fs::symlink_metadata(&path) {
            Ok(_) => true,
            Err(error) => error.kind() == ErrorKind::PermissionDenied,
        };
        if is_there && !path.is_dir() {
            return Ok(NamedPlace::File(path));
        }
        let search = if is_there {
            Some(Search { root: path.clone(), written: given.to_owned(), pattern: None })
        } else {
            self.pattern_search(given)?
        };
        let missing = || {
            let beside = names_beside(&path);
            SelectionError::Missing { path: given.to_owned(), beside }
        };
        search.map(NamedPlace::Search).ok_or_else(missing)
    }

    /// Adds the documents that one name selects, and tells whether there are any.
    fn take(
        &mut self,
        given: &Path,
        place: &NamedPlace,
        found: Vec<PathBuf>,
    ) -> Result<bool, SelectionError> {
        let search = match place {
            NamedPlace::File(path) => {
                self.name(path.clone(), given);
                return Ok(true);
            }
            NamedPlace::Search(search) => search,
        };
        let is_any = !found.is_empty();
        for path in found {
            let shown = search.written.join(path.strip_prefix(&search.root).unwrap_or(&path));
            let boundary = self.boundary(&path).unwrap_or_else(|| search.root.clone());
            self.add(path, &shown, Some(boundary), Chosen::ByPattern);
        }
        if self.documents.len() > MOST_DOCUMENTS {
            return Err(SelectionError::TooMany);
        }
        Ok(is_any)
    }

    /// Searches by a pattern; `None` if the path has no pattern in it.
    fn pattern_search(&self, given: &Path) -> Result<Option<Search>, SelectionError> {
        let parts: Vec<_> = given.components().collect();
        let Some(literal) = parts.iter().position(is_pattern) else { return Ok(None) };
        let written: PathBuf = parts[..literal].iter().collect();
        let rest: PathBuf = parts[literal..].iter().collect();
        let root = cleaned(&self.request.folder.join(&written));
        let pattern = Some(Pattern::new(&rest.to_string_lossy())?);
        Ok(Some(Search { root, written, pattern }))
    }

    fn name(&mut self, path: PathBuf, given: &Path) {
        let boundary = self.boundary(&path);
        if let Some(project) = &boundary
            && is_ignored(project, &path)
        {
            let path = self.shown(&path, given);
            self.notes.push(SelectionNote::Ignored { path });
        }
        self.add(path, given, boundary, Chosen::ByName);
    }

    fn add(&mut self, path: PathBuf, written: &Path, boundary: Option<PathBuf>, chosen: Chosen) {
        if self.taken.insert(path.clone()) {
            let shown = self.shown(&path, written);
            self.documents.push(SelectedDocument { path, shown, boundary, chosen });
        }
    }

    /// Returns the folder that links of a path in the project may not leave; a path that begins
    /// outside is the user's choice.
    fn boundary(&self, path: &Path) -> Option<PathBuf> {
        path.starts_with(self.request.project).then(|| self.request.project.to_owned())
    }

    fn shown(&self, path: &Path, written: &Path) -> String {
        let shown = path.strip_prefix(self.request.project).unwrap_or(written);
        shown.to_string_lossy().into_owned()
    }

    /// Puts the documents that match `--first` before all others, in the order of the patterns.
    fn put_first(&mut self) -> Result<(), SelectionError> {
        let mut first = Vec::new();
        for pattern in self.request.first {
            let matcher = Matcher::new(pattern)?;
            let (chosen, rest): (Vec<_>, Vec<_>) =
                std::mem::take(&mut self.documents).into_iter().partition(|document| {
                    let here = document.path.strip_prefix(self.request.folder);
                    matcher.is_match(Path::new(&document.shown))
                        || here.is_ok_and(|path| matcher.is_match(path))
                });
            if chosen.is_empty() {
                let pattern = pattern.clone();
                self.notes.push(SelectionNote::NoneFirst { pattern });
            }
            first.extend(chosen);
            self.documents = rest;
        }
        first.append(&mut self.documents);
        self.documents = first;
        Ok(())
    }
}

fn is_pattern(part: &Component<'_>) -> bool {
    part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{'])
}

/// Tells whether a `.gitignore` between the project and a file excludes it, the nearest first.
fn is_ignored(project: &Path, path: &Path) -> bool {
    let folders = path.ancestors().skip(1).take_while(|folder| folder.starts_with(project));
    for folder in folders {
        let (rules, _) = Gitignore::new(folder.join(".gitignore"));
        let matched = rules.matched_path_or_any_parents(path, false);
        if !matched.is_none() {
            return matched.is_ignore();
        }
    }
    false
}

fn names_beside(path: &Path) -> Vec<String> {
    let Some(Ok(entries)) = path.parent().map(fs::read_dir) else { return Vec::new() };
    let names = entries.filter_map(Result::ok).map(|entry| entry.file_name());
    names.take(MOST_DOCUMENTS).map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Takes `.` and `..` out of a path, without following links.
fn cleaned(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => clean.push(part),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    fn selected(
        folder: &Path,
        named: &[PathBuf],
        cancel: &Cancel,
    ) -> Result<Vec<String>, SelectionError> {
        let cancel = cancel.clone();
        let request = SelectionRequest {
            project: folder,
            folder,
            named,
            first: &[],
            named_by: NamedBy::Person,
            cancel,
        };
        select(request).map(|(found, _)| found.into_iter().map(|found| found.shown).collect())
    }

    #[test]
    fn patterns_that_begin_in_one_folder_share_a_walk() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("docs")).unwrap();
        let mut named: Vec<PathBuf> =
            (0..100).map(|number| PathBuf::from(format!("**/none-{number}-*.md"))).collect();
        named.extend(names(&[".", "docs/*.md", "docs/**", "docs/.*", ".hidden*"]));
        let request = SelectionRequest {
            project: folder.path(),
            folder: folder.path(),
            named: &named,
            first: &[],
            named_by: NamedBy::Person,
            cancel: Cancel::default(),
        };
        let (documents, notes) = (Vec::new(), Vec::new());
        let selection = Selection { request, documents, taken: HashSet::new(), notes };
        let places: Vec<_> = named.iter().map(|given| selection.place(given).unwrap()).collect();
        let walks = Walk::all(&places);
        let searches: Vec<_> = walks.iter().map(|walk| walk.searches.len()).collect();
        assert_eq!(searches, [101, 2, 1, 1]);
    }

    // A shared walk is as deep as its deepest pattern, and each pattern is as deep as it alone is.
    #[test]
    fn patterns_that_share_a_walk_find_what_each_finds_alone() {
        let folder = tempfile::tempdir().unwrap();
        let cancel = Cancel::default();
        for path in ["a.md", "docs/b.md", "docs/deep/c.md", "docs/.d.md", "docs/e.txt", "x/a.md"] {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        let patterns =
            ["*.md", "docs/*.md", "docs/**/*.md", "docs/.*", "docs", "*/*.md", "**/a.md"];
        let alone: Vec<_> = patterns
            .iter()
            .flat_map(|pattern| selected(folder.path(), &names(&[pattern]), &cancel).unwrap())
            .collect();
        let mut known = HashSet::new();
        let once: Vec<_> = alone.into_iter().filter(|path| known.insert(path.clone())).collect();
        assert_eq!(selected(folder.path(), &names(&patterns), &cancel).unwrap(), once);
        assert_eq!(
            once,
            ["a.md", "docs/b.md", "docs/deep/c.md", "docs/.d.md", "docs/e.txt", "x/a.md",]
        );
    }

    #[test]
    fn a_search_ends_when_its_caller_cancels() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.md"), "text").unwrap();
        let cancel = Cancel::default();
        assert_eq!(selected(folder.path(), &names(&["*.md"]), &cancel).unwrap(), ["a.md"]);
        cancel.cancel();
        for pattern in ["*.md", "*.none"] {
            let stopped = selected(folder.path(), &names(&[pattern]), &cancel);
            assert!(matches!(stopped, Err(SelectionError::Stopped)), "{stopped:?}");
        }
    }

    #[test]
    fn files_that_a_gitignore_excludes_are_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".gitignore"), "*.md\n").unwrap();
        for name in ["a.md", "b.md"] {
            fs::write(folder.path().join(name), "text").unwrap();
        }
        let error = selected(folder.path(), &names(&["*.md", "**/*.md"]), &Cancel::default());
        assert!(
            matches!(error, Err(SelectionError::NothingMatches { ignored: 2, .. })),
            "{error:?}"
        );
    }
}
