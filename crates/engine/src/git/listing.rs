//! Which files of a working tree differ from an index, and putting them into one.
//!
//! `git add` would do both, but it also starts git inside of every submodule, with that submodule's
//! own settings.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::{Command, Output};

use super::diff::run_under;
use super::pointer::stored;
use super::repository::{Repository, View, not_started, question};
use crate::lane::cancel::Cancel;

/// Files that are not as an index has them, by their paths from the uppermost folder.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// Files that are changed or gone, and what the index has for them.
    pub(super) changed: Vec<(OsString, String)>,
    /// Files that the index does not have.
    pub(super) new: Vec<OsString>,
}

/// Which new files are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum New {
    /// Those that are not ignored.
    Visible,
    /// All of them.
    All,
}

impl Listing {
    /// Lists the differences. `git` prepares git with the right index and folder; a file whose
    /// content matches the index's pointer of Git LFS does not differ.
    pub(super) fn make(
        top: &Path,
        git: &dyn Fn() -> Command,
        words: &[OsString],
        new: New,
        cancel: &Cancel,
    ) -> Option<Self> {
        let list = |flags: &[&str]| {
            let mut git = git();
            git.args(["ls-files", "-z", "--full-name"]).args(flags).arg("--").args(words);
            run_under(&mut git, cancel).and_then(succeeded)
        };
        let visible: &[&str] = match new {
            New::Visible => &["--others", "--exclude-standard"],
            New::All => &["--others"],
        };
        let new = names(&list(visible)?).map(|name| OsString::from_vec(name.to_vec())).collect();
        let mut changed = changed(&list)?;
        let stored = stored(top, git, &changed, cancel)?;
        changed.retain(|(name, _)| !stored.contains(name));
        Some(Self { changed, new })
    }

    /// Returns the paths of everything that differs.
    pub(super) fn paths(&self) -> impl Iterator<Item = &OsStr> {
        self.changed.iter().map(|(name, _)| name).chain(&self.new).map(OsString::as_os_str)
    }
}

/// Prepares git to put files into its index as they are, from the uppermost folder. `list` is where
/// their names are kept for it.
pub(super) fn put<'p>(
    git: &mut Command,
    list: &Path,
    paths: impl Iterator<Item = &'p OsStr>,
) -> Option<()> {
    let mut words = Vec::new();
    for path in paths {
        // A repository inside of this one is listed with a slash.
        let name = path.as_bytes();
        words.extend(name.strip_suffix(b"/").unwrap_or(name));
        words.push(0);
    }
    std::fs::write(list, words).ok()?;
    git.args(["update-index", "--add", "--remove", "--replace", "-z", "--stdin"]);
    git.stdin(File::open(list).ok()?);
    Some(())
}

/// Returns what `git status --porcelain` prints, without files whose content matches the index's
/// pointer of Git LFS, and without the content of submodules.
pub(super) fn status(repository: &Repository, words: &[OsString]) -> Result<Vec<u8>, Output> {
    let failed = |error: std::io::Error| Output {
        status: std::process::ExitStatus::default(),
        stdout: Vec::new(),
        stderr: not_started(error, Some(&repository.top)).to_string().into_bytes(),
    };
    let mut git = repository.git(View::Converted);
    git.args(["status", "--porcelain", "--ignore-submodules=dirty", "--untracked-files=normal"]);
    let said = git.arg("--").args(words).output().map_err(failed)?;
    if !said.status.success() {
        return Err(said);
    }
    let stored = stored_now(repository);
    let lines = said.stdout.split_inclusive(|byte| *byte == b'\n');
    let is_kept = |line: &&[u8]| {
        let name = line.strip_prefix(b" M ").and_then(|name| name.strip_suffix(b"\n"));
        !name.is_some_and(|name| stored.contains(OsStr::from_bytes(name)))
    };
    Ok(lines.filter(is_kept).flatten().copied().collect())
}

/// Returns the files that git may take for changed because no filter runs, but which are exactly what
/// the index's pointers of Git LFS name.
pub(super) fn stored_now(repository: &Repository) -> BTreeSet<OsString> {
    let git = || repository.git(View::Converted);
    let cancel = Cancel::default();
    let list = |flags: &[&str]| {
        run_under(git().args(["ls-files", "-z"]).args(flags), &cancel).and_then(succeeded)
    };
    let changed = changed(&list).unwrap_or_default();
    stored(&repository.top, &git, &changed, &cancel).unwrap_or_default()
}

/// Git failed to answer.
#[derive(Debug)]
pub(super) struct GitCannotTell;

/// Names a file to which a program would have to be applied, with the program's name in the settings;
/// `None` if there is no such file.
pub(super) fn programmed(
    repository: &Repository,
    index: Option<&Path>,
    paths: &BTreeSet<OsString>,
) -> Result<Option<String>, GitCannotTell> {
    let drivers = drivers(repository);
    if drivers.is_empty() {
        return Ok(None);
    }
    let said = attributes(repository, index, paths, &Cancel::default()).ok_or(GitCannotTell)?;
    let mut found = said.into_iter().filter(|(_, driver)| drivers.contains(driver.as_str()));
    let words = |(name, driver): (OsString, String)| {
        let (kind, driver) = driver.split_once('.').unwrap_or_default();
        format!("`{}` has the {kind} driver `{driver}`", name.display())
    };
    Ok(found.next().map(words))
}

/// Lists the files of the index that have a filter other than that of Git LFS, whose pointers hold
/// the content's hash.
pub(super) fn filtered(repository: &Repository, cancel: &Cancel) -> Option<Vec<OsString>> {
    let mut drivers = drivers(repository);
    drivers.retain(|driver| driver.starts_with("filter.") && *driver != "filter.lfs");
    if drivers.is_empty() {
        return Some(Vec::new());
    }
    let listed = run_under(repository.git(View::Raw).args(["ls-files", "-z"]), cancel);
    let listed = listed.and_then(succeeded)?;
    let paths = names(&listed).map(|name| OsString::from_vec(name.to_vec())).collect();
    let said = attributes(repository, None, &paths, cancel)?;
    let found = said.into_iter().filter(|(_, driver)| drivers.contains(driver.as_str()));
    Some(found.map(|(name, _)| name).collect())
}

/// Returns `filter.x` and `merge.x` for the drivers that the settings name programs for.
fn drivers(repository: &Repository) -> BTreeSet<&str> {
    repository.settings().iter().filter_map(|setting| driver(&setting.name)).collect()
}

/// Returns which drivers the attributes of files name; those of an index if one is given.
fn attributes(
    repository: &Repository,
    index: Option<&Path>,
    paths: &BTreeSet<OsString>,
    cancel: &Cancel,
) -> Option<Vec<(OsString, String)>> {
    let list = repository.scratch().join("attributes");
    let words: Vec<_> = paths.iter().flat_map(|name| [name.as_bytes(), b"\0"].concat()).collect();
    std::fs::write(&list, words).ok()?;
    let mut git = question(&repository.top);
    git.args(["check-attr", "-z", "--stdin"]);
    if let Some(index) = index {
        git.env("GIT_INDEX_FILE", index).arg("--cached");
    }
    git.args(["filter", "merge"]).stdin(File::open(&list).ok()?);
    let said = run_under(&mut git, cancel).and_then(succeeded)?;
    let said: Vec<_> = said.split(|byte| *byte == 0).collect();
    let triples = said.chunks_exact(3).map(|triple| {
        let text = |bytes| String::from_utf8_lossy(bytes);
        (OsString::from_vec(triple[0].to_vec()), format!("{}.{}", text(triple[1]), text(triple[2])))
    });
    Some(triples.collect())
}

/// Returns `filter.x` of a setting that names a program of the filter `x`, and likewise `merge.x`.
fn driver(setting: &str) -> Option<&str> {
    let (driver, key) = setting.rsplit_once('.')?;
    let is_filter = driver.starts_with("filter.") && ["clean", "smudge", "process"].contains(&key);
    (is_filter || driver.starts_with("merge.") && key == "driver").then_some(driver)
}

/// Lists the files that are not as the index has them, with what it has.
fn changed(list: &dyn Fn(&[&str]) -> Option<Vec<u8>>) -> Option<Vec<(OsString, String)>> {
    let modified = list(&["--modified"])?;
    let modified: BTreeSet<_> = names(&modified).collect();
    if modified.is_empty() {
        return Some(Vec::new());
    }
    let entries = list(&["--stage"])?;
    let mut changed: Vec<_> = names(&entries).filter_map(staged).collect();
    changed.retain(|(name, _)| modified.contains(name.as_bytes()));
    // A file that is being merged has several entries.
    changed.dedup_by(|one, other| one.0 == other.0);
    Some(changed)
}

fn names(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    listed.split(|byte| *byte == 0).filter(|name| !name.is_empty())
}

/// Reads `100644 <object> 0<TAB>name`.
fn staged(entry: &[u8]) -> Option<(OsString, String)> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(&entry[..tab]).ok()?;
    let object = head.split(' ').nth(1)?;
    Some((OsString::from_vec(entry[tab + 1..].to_vec()), object.to_owned()))
}

fn succeeded(output: Output) -> Option<Vec<u8>> {
    output.status.success().then_some(output.stdout)
}

#[cfg(test)]
mod tests {
    use super::super::diff::tests::{did, repository, write};
    use super::*;
    use crate::skill::hash;

    // No filter runs, so git takes every file of Git LFS for changed.
    #[test]
    fn a_file_that_its_pointer_names_does_not_differ() {
        let folder = repository();
        let here = folder.path();
        let oid = hash("big\n");
        let pointer =
            format!("version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize 4\n");
        write(here, ".gitattributes", "*.bin filter=lfs\n");
        write(here, "a.bin", &pointer);
        did(here, &["add", "."]);
        did(here, &["commit", "--quiet", "-m", "second"]);
        let listed = || {
            let repository = Repository::at(here).ok().unwrap();
            let git = || repository.git(View::Raw);
            let listing =
                Listing::make(&repository.top, &git, &[], New::Visible, &Cancel::default());
            listing.unwrap().paths().map(OsStr::to_os_string).collect::<Vec<_>>()
        };
        write(here, "a.bin", "big\n");
        assert_eq!(listed(), [""; 0]);
        write(here, "a.bin", "bad\n");
        write(here, "new", "");
        assert_eq!(listed(), ["a.bin", "new"]);
    }
}
