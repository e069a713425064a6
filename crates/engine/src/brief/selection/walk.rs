//! One walk through a folder for all searches that begin there.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ignore::overrides::OverrideBuilder;
use ignore::{DirEntry, WalkBuilder};

use super::{MOST_DOCUMENTS, NamedPlace, SelectionError};
use crate::lane::cancel::Cancel;

/// A folder to search, and which of its files match.
pub(super) struct Search {
    /// Absolute.
    pub(super) root: PathBuf,
    /// As the person wrote it.
    pub(super) written: PathBuf,
    pub(super) pattern: Option<Pattern>,
}

/// The part of a name that has `*`, `?`, `[` or `{` in it.
pub(super) struct Pattern {
    matcher: Matcher,
    /// How deep below the root its files are; `None` if it has a `**`.
    depth: Option<usize>,
    shows_hidden: bool,
}

/// One walk through a folder for all searches that begin there. Files whose names begin with a point
/// need a walk of their own, because `ignore` decides about them by folder.
pub(super) struct Walk<'a> {
    root: &'a Path,
    shows_hidden: bool,
    /// The searches by their places among the person's names.
    pub(super) searches: Vec<(usize, &'a Search)>,
}

/// Whether files that a `.gitignore` excludes are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ignored {
    Excluded,
    Found,
}

impl Search {
    fn is_match(&self, entry: &DirEntry) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        let below = entry.path().strip_prefix(&self.root).unwrap_or(entry.path());
        pattern.depth.is_none_or(|depth| entry.depth() <= depth) && pattern.matcher.is_match(below)
    }

    fn shows_hidden(&self) -> bool {
        self.pattern.as_ref().is_some_and(|pattern| pattern.shows_hidden)
    }
}

impl Pattern {
    pub(super) fn new(text: &str) -> Result<Self, SelectionError> {
        let depth = (!text.contains("**")).then(|| Path::new(text).components().count());
        let shows_hidden = text.starts_with('.') || text.contains("/.");
        Ok(Self { matcher: Matcher::new(text)?, depth, shows_hidden })
    }
}

impl<'a> Walk<'a> {
    /// Puts searches together that one walk can do.
    pub(super) fn all(places: &'a [NamedPlace]) -> Vec<Self> {
        let mut walks: Vec<Self> = Vec::new();
        for (index, place) in places.iter().enumerate() {
            let NamedPlace::Search(search) = place else { continue };
            let (root, shows_hidden) = (search.root.as_path(), search.shows_hidden());
            let is_it = |walk: &&mut Self| walk.root == root && walk.shows_hidden == shows_hidden;
            match walks.iter_mut().find(is_it) {
                Some(walk) => walk.searches.push((index, search)),
                None => walks.push(Self { root, shows_hidden, searches: vec![(index, search)] }),
            }
        }
        walks
    }

    /// Adds the files of each search, by path.
    pub(super) fn find(
        &self,
        cancel: &Cancel,
        found: &mut HashMap<usize, Vec<PathBuf>>,
    ) -> Result<(), SelectionError> {
        for entry in self.entries(Ignored::Excluded) {
            if cancel.is_cancelled() {
                return Err(SelectionError::Stopped);
            }
            let Some(entry) = entry.ok().filter(is_file) else { continue };
            for (index, search) in &self.searches {
                if search.is_match(&entry) {
                    let files = found.entry(*index).or_default();
                    files.push(entry.path().to_owned());
                    if files.len() > MOST_DOCUMENTS {
                        return Err(SelectionError::TooMany);
                    }
                }
            }
        }
        for (index, _) in &self.searches {
            found.entry(*index).or_default().sort();
        }
        Ok(())
    }

    fn entries(&self, ignored: Ignored) -> ignore::Walk {
        let mut walk = WalkBuilder::new(self.root);
        let excludes = ignored == Ignored::Excluded;
        walk.ignore(false).require_git(false).follow_links(false).hidden(!self.shows_hidden);
        walk.git_ignore(excludes).git_exclude(excludes).git_global(excludes).parents(excludes);
        let depths = self.searches.iter().map(|(_, search)| search.pattern.as_ref()?.depth);
        // One search without an end makes the walk one without an end.
        let depths: Option<Vec<usize>> = depths.collect();
        walk.max_depth(depths.and_then(|depths| depths.into_iter().max()));
        walk.filter_entry(|entry| entry.file_name() != ".git");
        walk.build()
    }
}

/// Counts the files that would match without any `.gitignore`, up to [`MOST_DOCUMENTS`].
pub(super) fn count_ignored(walks: &[Walk<'_>], cancel: &Cancel) -> Result<usize, SelectionError> {
    let mut files = HashSet::new();
    for walk in walks {
        for entry in walk.entries(Ignored::Found) {
            if cancel.is_cancelled() {
                return Err(SelectionError::Stopped);
            }
            let Some(entry) = entry.ok().filter(is_file) else { continue };
            if walk.searches.iter().any(|(_, search)| search.is_match(&entry)) {
                files.insert(entry.into_path());
            }
            if files.len() >= MOST_DOCUMENTS {
                return Ok(MOST_DOCUMENTS);
            }
        }
    }
    Ok(files.len())
}

/// A link may be a document, too; whether it leads out is judged when it is read.
fn is_file(entry: &DirEntry) -> bool {
    let Some(kind) = entry.file_type() else { return false };
    kind.is_file() || kind.is_symlink() && !entry.path().is_dir()
}

/// One pattern, in which `*` stays within a folder and `**` does not.
pub(super) struct Matcher(ignore::overrides::Override);

impl Matcher {
    pub(super) fn new(pattern: &str) -> Result<Self, SelectionError> {
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

    pub(super) fn is_match(&self, path: &Path) -> bool {
        self.0.matched(path, false).is_whitelist()
    }
}
