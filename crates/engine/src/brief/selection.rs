//! Selects documents by names, folders and patterns.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use ignore::gitignore::Gitignore;
use ignore::overrides::OverrideBuilder;
use ignore::{DirEntry, WalkBuilder};

/// More documents than this are a mistake: no budget holds them.
pub const MOST_DOCUMENTS: usize = 5000;

/// A person's selection.
#[derive(Debug, Clone, Copy)]
pub struct SelectionRequest<'a> {
    /// The project's root, absolute.
    pub project: &'a Path,
    /// The folder that relative names begin at, absolute.
    pub folder: &'a Path,
    /// Files, folders and patterns, most important first.
    pub named: &'a [PathBuf],
    /// Patterns of documents that come before all others, most important first.
    pub first: &'a [String],
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
        /// How many files match that a `.gitignore` excludes.
        ignored: usize,
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
}

/// Chooses documents, each once, in the order of the names and then by path.
pub fn select(
    request: SelectionRequest<'_>,
) -> Result<(Vec<SelectedDocument>, Vec<SelectionNote>), SelectionError> {
    let (documents, notes) = (Vec::new(), Vec::new());
    let mut selection = Selection { request, documents, taken: HashSet::new(), notes };
    let mut unmatched = Vec::new();
    for given in request.named {
        let before = selection.documents.len();
        if !selection.take(given)? && selection.documents.len() == before {
            unmatched.push(given.display().to_string());
        }
    }
    if selection.documents.is_empty() {
        let patterns: Vec<_> = unmatched.iter().map(|given| format!("`{given}`")).collect();
        let ignored = selection.count_ignored();
        return Err(SelectionError::NothingMatches { patterns: patterns.join(", "), ignored });
    }
    let unmatched = unmatched.into_iter().map(|pattern| SelectionNote::NoMatch { pattern });
    selection.notes.extend(unmatched);
    selection.put_first()?;
    Ok((selection.documents, selection.notes))
}

struct Selection<'a> {
    request: SelectionRequest<'a>,
    documents: Vec<SelectedDocument>,
    taken: HashSet<PathBuf>,
    notes: Vec<SelectionNote>,
}

/// A folder to search, and which of its files match.
struct Search {
    /// Absolute.
    root: PathBuf,
    /// As the person wrote it.
    written: PathBuf,
    pattern: Option<String>,
}

/// Whether files that a `.gitignore` excludes are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ignored {
    Excluded,
    Found,
}

impl Selection<'_> {
    /// Adds the documents that one name selects, and tells whether there are any.
    fn take(&mut self, given: &Path) -> Result<bool, SelectionError> {
        let path = cleaned(&self.request.folder.join(given));
        // A dangling link counts as present, and so does what the system hides: reading it gives the
        // error.
        let is_there = match fs::symlink_metadata(&path) {
            Ok(_) => true,
            Err(error) => error.kind() == ErrorKind::PermissionDenied,
        };
        if is_there && !path.is_dir() {
            self.name(path, given);
            return Ok(true);
        }
        let search =
            if is_there { Some(self.all_below(given)) } else { self.pattern_search(given) };
        let Some(search) = search else {
            let beside = names_beside(&path);
            return Err(SelectionError::Missing { path: given.to_owned(), beside });
        };
        let found = search.files(Ignored::Excluded)?;
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

    /// Searches all of a folder.
    fn all_below(&self, given: &Path) -> Search {
        let root = cleaned(&self.request.folder.join(given));
        Search { root, written: given.to_owned(), pattern: None }
    }

    /// Searches by a pattern; `None` if the path has no pattern in it.
    fn pattern_search(&self, given: &Path) -> Option<Search> {
        let is_pattern = |part: &Component<'_>| {
            part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{'])
        };
        let parts: Vec<_> = given.components().collect();
        let literal = parts.iter().position(is_pattern)?;
        let written: PathBuf = parts[..literal].iter().collect();
        let rest: PathBuf = parts[literal..].iter().collect();
        let root = cleaned(&self.request.folder.join(&written));
        Some(Search { root, written, pattern: Some(rest.to_string_lossy().into_owned()) })
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

    fn count_ignored(&self) -> usize {
        let searches = self.request.named.iter().filter_map(|given| {
            let path = cleaned(&self.request.folder.join(given));
            let is_folder = path.is_dir();
            let search = is_folder.then(|| self.all_below(given));
            search.or_else(|| self.pattern_search(given))?.files(Ignored::Found).ok()
        });
        searches.map(|files| files.len()).sum()
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

impl Search {
    fn files(&self, ignored: Ignored) -> Result<Vec<PathBuf>, SelectionError> {
        let matcher = self.pattern.as_deref().map(Matcher::new).transpose()?;
        let mut walk = WalkBuilder::new(&self.root);
        let excludes = ignored == Ignored::Excluded;
        walk.ignore(false).require_git(false).follow_links(false);
        walk.git_ignore(excludes).git_exclude(excludes).git_global(excludes).parents(excludes);
        let pattern = self.pattern.as_deref().unwrap_or_default();
        walk.hidden(!(pattern.starts_with('.') || pattern.contains("/.")));
        if self.pattern.is_some() && !pattern.contains("**") {
            walk.max_depth(Some(Path::new(pattern).components().count()));
        }
        walk.filter_entry(|entry| entry.file_name() != ".git");
        let mut found = Vec::new();
        for entry in walk.build().filter_map(Result::ok) {
            let below = entry.path().strip_prefix(&self.root).unwrap_or(entry.path());
            if is_file(&entry) && matcher.as_ref().is_none_or(|matcher| matcher.is_match(below)) {
                found.push(entry.into_path());
            }
            if found.len() > MOST_DOCUMENTS {
                return Err(SelectionError::TooMany);
            }
        }
        found.sort();
        Ok(found)
    }
}

/// A link may be a document, too; whether it leads out is judged when it is read.
fn is_file(entry: &DirEntry) -> bool {
    let Some(kind) = entry.file_type() else { return false };
    kind.is_file() || kind.is_symlink() && !entry.path().is_dir()
}

/// One pattern, in which `*` stays within a folder and `**` does not.
struct Matcher(ignore::overrides::Override);

impl Matcher {
    fn new(pattern: &str) -> Result<Self, SelectionError> {
        let refused = |source| SelectionError::Pattern {
            pattern: pattern.to_owned(),
            source: Box::new(source),
        };
        let mut builder = OverrideBuilder::new("/");
        // A pattern with a slash begins at the top; one without matches in every folder.
        let rooted = if pattern.contains('/') { format!("/{pattern}") } else { pattern.to_owned() };
        builder.add(&rooted).map_err(refused)?;
        Ok(Self(builder.build().map_err(refused)?))
    }

    fn is_match(&self, path: &Path) -> bool {
        self.0.matched(path, false).is_whitelist()
    }
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
