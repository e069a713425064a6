//! A working tree before and after: contents, not only names, so that a file counts that was
//! already changed or new before and was changed again. Contents are compared byte by byte: no
//! filter and no conversion hides a change.
//!
//! The repository stays unchanged: objects for the comparison go to a private folder. The snapshot
//! misses what git does not see: ignored files, empty folders, and the content of submodules. Of a
//! large file only its size and its times are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use convoke_domain::tree::kept::KeptTree;
use convoke_domain::tree::{DirtyReason, TreeStatus, TreeVerdict};

use super::diff::{asked, copy_index, head, run_under, shown};
use super::guarded;
use super::listing::{Listing, New, filtered, put};
use super::pointer::hash_of;
use super::repository::{NoRepository, Repository, View, question};
use super::watch::Watch;
use crate::lane::cancel::Cancel;
use crate::skill::hash;

/// A file that is changed or new, and larger than this, is not read.
const LARGE: u64 = 32 * 1024 * 1024;

/// Of so many changed files it is found out whether only their form in git's store differs.
const MOST_DOUBTS: usize = 100;

/// The stamp of a large file: its size, inode, and time of last change.
type Stamp = (u64, u64, i64, i64);

/// A working tree at one moment.
#[derive(Debug)]
pub struct Snapshot {
    repository: Repository,
    /// Convoke's program, the guardian of a long-running git.
    convoke: PathBuf,
    commit: Option<String>,
    branch: Option<String>,
    staged: String,
    tree: String,
    /// The files that were changed or new at that moment.
    dirty: BTreeSet<OsString>,
    large: BTreeMap<OsString, Stamp>,
    /// Files with filters, which git keeps in another form, and the hashes of their bytes.
    filtered: BTreeMap<OsString, String>,
    settings: Watch,
}

/// The result of one snapshot.
struct Seen {
    tree: String,
    dirty: BTreeSet<OsString>,
    large: BTreeMap<OsString, Stamp>,
}

impl Snapshot {
    /// Takes a snapshot of the whole working tree around a folder, until the user stops Convoke.
    pub fn take(folder: &Path, convoke: &Path, cancel: &Cancel) -> Result<Self, DirtyReason> {
        let taken = Self::taken(folder, convoke, cancel);
        match &taken {
            Ok(Self { dirty, .. }) => {
                tracing::debug!(changed = dirty.len(), "took a snapshot of the working tree");
            }
            Err(reason) => {
                tracing::debug!(reason = reason.name(), "cannot take a snapshot of the tree");
            }
        }
        taken
            .map_err(|reason| if cancel.is_cancelled() { DirtyReason::LookStopped } else { reason })
    }

    fn taken(folder: &Path, convoke: &Path, cancel: &Cancel) -> Result<Self, DirtyReason> {
        let repository = Repository::at(folder).map_err(|error| match error {
            // Settings that git cannot read, or no git, are no reason to say nothing.
            NoRepository::Refused(_) | NoRepository::NoGit(_)
                if super::checkout(folder).is_none() =>
            {
                DirtyReason::NotARepository
            }
            NoRepository::Refused(_) | NoRepository::NoGit(_) | NoRepository::NoStandIn => {
                DirtyReason::LookFailed
            }
        })?;
        let mut snapshot = Self {
            convoke: convoke.to_owned(),
            commit: head(&repository.top),
            branch: branch(&repository.top),
            staged: String::new(),
            tree: String::new(),
            dirty: BTreeSet::new(),
            large: BTreeMap::new(),
            filtered: BTreeMap::new(),
            settings: Watch::begin(&repository),
            repository,
        };
        snapshot.staged = snapshot.staged_now(cancel).ok_or(DirtyReason::LsFilesFailed)?;
        let known = snapshot.repository.git_dirs[0].join("index");
        let seen = snapshot.look(&known, "before", cancel)?;
        (snapshot.tree, snapshot.dirty, snapshot.large) = (seen.tree, seen.dirty, seen.large);
        snapshot.filtered = snapshot.filtered_now(cancel).ok_or(DirtyReason::LookFailed)?;
        Ok(snapshot)
    }

    /// Returns what another process can compare with a snapshot of its own.
    pub fn kept(&self) -> KeptTree {
        let Self { tree, staged, large, filtered, commit, .. } = self;
        let files = hash(format!("{commit:?} {tree} {staged} {large:?} {filtered:?}"));
        let branch = self.branch.as_deref();
        let branch = branch.map(|name| shown(name.strip_prefix("refs/heads/").unwrap_or(name)));
        KeptTree { branch, files, settings: self.settings.before().clone() }
    }

    /// Returns the verdict on the tree, as far as it is known when the user interrupts the check.
    pub fn compare(&self, cancel: &Cancel) -> TreeVerdict {
        let verdict = self.compared(cancel).unwrap_or_else(TreeVerdict::unknown);
        let (status, paths) = (verdict.status.name(), verdict.paths.len());
        tracing::debug!(status, paths, "compared the working tree with its snapshot");
        let is_stopped = cancel.is_cancelled() && verdict.status == TreeStatus::Unknown;
        if is_stopped { TreeVerdict::unknown(DirtyReason::LookStopped) } else { verdict }
    }

    fn compared(&self, cancel: &Cancel) -> Result<TreeVerdict, DirtyReason> {
        // Reusing the index avoids hashing unchanged files again, and its marks do not hide files.
        let before = self.scratch().join("before");
        let Seen { tree, large, .. } = self.look(&before, "after", cancel)?;
        let mut paths = if tree == self.tree {
            Vec::new()
        } else {
            self.changed(&tree, cancel).ok_or(DirtyReason::DiffFailed)?
        };
        let large_names: BTreeSet<_> = self.large.keys().chain(large.keys()).collect();
        let differs = |name: &&&OsString| self.large.get(**name) != large.get(**name);
        for name in large_names.iter().filter(differs) {
            let name = shown(&name.to_string_lossy());
            if !paths.contains(&name) {
                paths.push(name);
            }
        }
        let is_changed = !paths.is_empty();
        let settings = self.settings.changed();
        let has_settings = !settings.is_empty();
        paths.extend(settings);
        let is_switched = branch(&self.repository.top) != self.branch;
        paths.extend(is_switched.then(|| ".git/HEAD".to_owned()));
        let staged = self.staged_now(cancel).ok_or(DirtyReason::LsFilesFailed)?;
        let reasons = [
            (DirtyReason::WorkingTreeDirty, is_changed),
            (DirtyReason::SettingsChanged, has_settings),
            (DirtyReason::BranchChanged, is_switched),
            (DirtyReason::CommitChanged, head(&self.repository.top) != self.commit),
            (DirtyReason::IndexChanged, staged != self.staged),
        ];
        let reason = reasons.into_iter().find(|(_, holds)| *holds);
        Ok(reason.map_or(TreeVerdict::CLEAN, |(reason, _)| TreeVerdict::dirty(reason, paths)))
    }

    /// Puts all files into a git tree, which is equal for equal files.
    fn look(&self, known: &Path, name: &str, cancel: &Cancel) -> Result<Seen, DirtyReason> {
        let index = self.scratch().join(name);
        copy_index(known, &index);
        let on_copy = || {
            let mut git = self.git(View::Raw);
            git.env("GIT_INDEX_FILE", &index);
            git
        };
        let top = &self.repository.top;
        let listing = Listing::make(top, &on_copy, &[], New::Visible, cancel);
        let listing = listing.ok_or(DirtyReason::LsFilesFailed)?;
        let stamps = listing.paths().filter_map(|name| Some((name.to_owned(), stamp(top, name)?)));
        let large: BTreeMap<_, _> = stamps.collect();
        let list = self.scratch().join("wanted");
        let small = listing.paths().filter(|name| !large.contains_key(*name));
        let mut add = on_copy();
        put(&mut add, &list, small).ok_or(DirtyReason::LookFailed)?;
        // All other git processes here end with Convoke: they print, and their pipe is closed.
        let is_added = guarded::succeeds(&mut add, &list, &self.convoke, self.scratch(), cancel);
        let tree = is_added
            .filter(|is_added| *is_added)
            .and_then(|_| asked(on_copy().args(["write-tree", "--missing-ok"])));
        let dirty = listing.paths().map(OsString::from).collect();
        Ok(Seen { tree: tree.ok_or(DirtyReason::LookFailed)?, dirty, large })
    }

    fn changed(&self, tree: &str, cancel: &Cancel) -> Option<Vec<String>> {
        let words = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-relative"];
        let mut git = self.git(View::Raw);
        git.args(words).args(["--ignore-submodules=dirty", &self.tree, tree, "--"]);
        let output = run_under(&mut git, cancel).filter(|output| output.status.success())?;
        let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let names: Vec<_> = names.map(OsStr::from_bytes).collect();
        let is_changed = |(number, name): &(usize, &&OsStr)| {
            *number >= MOST_DOUBTS || !self.is_same(name, cancel)
        };
        let changed = names.iter().enumerate().filter(is_changed);
        Some(changed.map(|(_, name)| shown(&name.to_string_lossy())).collect())
    }

    /// Tells whether the bytes of a file are as they were, though git keeps them in another form.
    fn is_same(&self, name: &OsStr, cancel: &Cancel) -> bool {
        let path = self.repository.top.join(name);
        if let Some(before) = self.filtered.get(name) {
            return hash_of(&path, cancel).as_ref() == Some(before);
        }
        // A file that was unchanged then was exactly what git derives from its stored form.
        if self.dirty.contains(name) || stamp(&self.repository.top, name).is_some() {
            return false;
        }
        let mut object = OsString::from(format!("{}:", self.tree));
        object.push(name);
        let mut git = self.git(View::Converted);
        let made = run_under(git.args(["cat-file", "--filters"]).arg(object), cancel);
        let made = made.filter(|made| made.status.success()).map(|made| hash(made.stdout));
        made.is_some() && made == hash_of(&path, cancel)
    }

    /// Hashes the files that have a filter.
    fn filtered_now(&self, cancel: &Cancel) -> Option<BTreeMap<OsString, String>> {
        let top = &self.repository.top;
        let mut found = BTreeMap::new();
        for name in filtered(&self.repository, cancel)? {
            if stamp(top, &name).is_none()
                && let Some(hash) = hash_of(&top.join(&name), cancel)
            {
                found.insert(name, hash);
            }
        }
        (!cancel.is_cancelled()).then_some(found)
    }

    /// Returns all staged files, with their content.
    fn staged_now(&self, cancel: &Cancel) -> Option<String> {
        let mut git = self.git(View::Raw);
        let output = run_under(git.args(["ls-files", "--stage", "-z"]), cancel)?;
        output.status.success().then(|| hash(&output.stdout))
    }

    fn scratch(&self) -> &Path {
        self.repository.scratch()
    }

    /// Prepares git so that it stores nothing in the repository.
    fn git(&self, view: View) -> Command {
        let mut git = self.repository.git(view);
        let objects = self.scratch().join("objects");
        std::fs::create_dir_all(&objects).ok();
        git.env("GIT_OBJECT_DIRECTORY", objects);
        let real = self.repository.git_dirs[1].join("objects");
        git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", real);
        git.args(["-c", "core.compression=0", "-c", "advice.addEmbeddedRepo=false"]);
        // Larger files go into one pack file with all others, which is soon removed again.
        git.args(["-c", "core.bigFileThreshold=1"]);
        git
    }
}

/// Returns the stamp of a file that is too large to read; `None` for every other.
fn stamp(top: &Path, name: &OsStr) -> Option<Stamp> {
    let found = std::fs::symlink_metadata(top.join(name)).ok()?;
    let stamp = (found.len(), found.ino(), found.ctime(), found.ctime_nsec());
    (found.is_file() && found.len() > LARGE).then_some(stamp)
}

/// Returns the branch that is checked out; `None` when a commit is.
fn branch(top: &Path) -> Option<String> {
    asked(question(top).args(["symbolic-ref", "--quiet", "HEAD"]))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::super::diff::tests::{did, git, repository, write};
    use super::*;

    // P-354: a change to a file that is too large to read is still noticed.
    #[test]
    fn large_files_are_compared_without_being_read() {
        let folder = repository();
        let large = |name: &str| {
            fs::File::create(folder.path().join(name)).unwrap().set_len(LARGE + 1).unwrap();
        };
        ["same.bin", "changed.bin", "gone.bin"].into_iter().for_each(large);
        let snapshot = taken(folder.path()).unwrap();
        assert_eq!(snapshot.compare(&Cancel::default()), TreeVerdict::CLEAN);
        large("new.bin");
        fs::remove_file(folder.path().join("gone.bin")).unwrap();
        write(folder.path(), "changed.bin", "small");
        let verdict = snapshot.compare(&Cancel::default());
        assert_eq!(verdict.paths, ["changed.bin", "gone.bin", "new.bin"]);
    }

    fn taken(folder: &Path) -> Result<Snapshot, DirtyReason> {
        Snapshot::take(folder, NOWHERE.as_ref(), &Cancel::default())
    }

    /// A program that is gone: then git is on its own.
    const NOWHERE: &str = "/nowhere/convoke";

    // A stopped snapshot reports an unknown state.
    #[test]
    fn a_look_that_is_stopped_says_so() {
        let folder = repository();
        let (snapshot, asked) = (taken(folder.path()).unwrap(), Cancel::default());
        asked.cancel();
        assert_eq!(snapshot.compare(&asked), TreeVerdict::unknown(DirtyReason::LookStopped));
        assert_eq!(
            Snapshot::take(folder.path(), NOWHERE.as_ref(), &asked).err(),
            Some(DirtyReason::LookStopped)
        );
        assert_eq!(snapshot.compare(&Cancel::default()), TreeVerdict::CLEAN, "another time");
    }

    /// Takes a snapshot, runs `during`, and checks the result.
    #[track_caller]
    fn check(
        before: &dyn Fn(&Path),
        during: &dyn Fn(&Path),
        reason: Option<DirtyReason>,
        paths: &[&str],
    ) {
        let folder = repository();
        let here = folder.path();
        before(here);
        let snapshot = taken(here).unwrap();
        during(here);
        let verdict = snapshot.compare(&Cancel::default());
        assert_eq!((verdict.reason, verdict.paths), (reason, paths.map_owned()));
    }

    trait Owned {
        fn map_owned(&self) -> Vec<String>;
    }

    impl Owned for [&str] {
        fn map_owned(&self) -> Vec<String> {
            self.iter().map(|text| (*text).to_owned()).collect()
        }
    }

    fn nothing(_: &Path) {}

    fn writes(name: &'static str, text: &'static str) -> impl Fn(&Path) {
        move |here: &Path| write(here, name, text)
    }

    // Contents count: a second change of a changed or new file is noticed.
    #[test]
    fn every_change_is_noticed() {
        let dirty = Some(DirtyReason::WorkingTreeDirty);
        check(&nothing, &nothing, None, &[]);
        check(&writes("spec.md", "mine\n"), &nothing, None, &[]);
        check(&writes("new.md", "mine\n"), &nothing, None, &[]);
        check(&nothing, &writes("spec.md", "two\n"), dirty, &["spec.md"]);
        check(&writes("spec.md", "mine\n"), &writes("spec.md", "ours\n"), dirty, &["spec.md"]);
        check(&writes("new.md", "mine\n"), &writes("new.md", "ours\n"), dirty, &["new.md"]);
        check(&writes("new.md", "mine\n"), &writes("newer.md", "x\n"), dirty, &["newer.md"]);
        check(
            &nothing,
            &|here| fs::remove_file(here.join("spec.md")).unwrap(),
            dirty,
            &["spec.md"],
        );
        check(&nothing, &writes("a\nb", "x\n"), dirty, &["a\\nb"]);
    }

    // Changes by git itself are noticed too, and so are settings that would hide them.
    #[test]
    fn commits_and_settings_are_noticed() {
        let stages = |here: &Path| did(here, &["add", "."]);
        check(&writes("spec.md", "mine\n"), &stages, Some(DirtyReason::IndexChanged), &[]);
        let commits = |here: &Path| did(here, &["commit", "--quiet", "-am", "second"]);
        check(&writes("spec.md", "mine\n"), &commits, Some(DirtyReason::CommitChanged), &[]);
        let hidden = |here: &Path| {
            did(here, &["update-index", "--assume-unchanged", "spec.md"]);
            write(here, "spec.md", "two\n");
        };
        check(&nothing, &hidden, Some(DirtyReason::WorkingTreeDirty), &["spec.md"]);
        let settings = Some(DirtyReason::SettingsChanged);
        check(
            &nothing,
            &writes(".git/hooks/pre-commit", "x"),
            settings,
            &[".git/hooks/pre-commit"],
        );
        check(&nothing, &writes(".git/info/exclude", "*\n"), settings, &[".git/info/exclude"]);
        let executable = |here: &Path| {
            let mode = fs::Permissions::from_mode(0o755);
            fs::set_permissions(here.join(".git/hooks/pre-commit"), mode).unwrap();
        };
        let hook = [".git/hooks/pre-commit"];
        check(&writes(".git/hooks/pre-commit", "x"), &executable, settings, &hook);
        let elsewhere = |here: &Path| {
            did(here, &["config", "core.hooksPath", "tools/hooks"]);
            did(here, &["config", "include.path", "../tools/included"]);
            write(here, ".gitignore", "tools\n");
            write(here, "tools/included", "[a]\nb = c\n");
        };
        let hook = ["tools/hooks/pre-commit"];
        check(&elsewhere, &writes("tools/hooks/pre-commit", "x"), settings, &hook);
        check(&elsewhere, &writes("tools/included", ""), settings, &[".git/../tools/included"]);
    }

    // Another branch is another place for what comes next, also at the same commit.
    #[test]
    fn a_switched_branch_is_noticed() {
        let switches = |here: &Path| did(here, &["checkout", "--quiet", "-b", "other"]);
        check(&nothing, &switches, Some(DirtyReason::BranchChanged), &[".git/HEAD"]);
        let detaches = |here: &Path| did(here, &["checkout", "--quiet", "--detach"]);
        check(&nothing, &detaches, Some(DirtyReason::BranchChanged), &[".git/HEAD"]);
    }

    /// Git's expansion of `$Id$`.
    const IDENT: &str = "$Id: 055c8729cdcc372500a08db659c045e16c4409fb $\n";

    /// Commits a file that git stores in another form than the working tree has.
    fn kept_otherwise(here: &Path, attribute: &str, committed: &str, there: &str) {
        write(here, ".gitattributes", &format!("*.x {attribute}\n"));
        write(here, "a.x", committed);
        did(here, &["-c", "core.safecrlf=false", "add", "."]);
        did(here, &["commit", "--quiet", "-m", "second"]);
        for (key, value) in [("clean", "tr b a"), ("smudge", "tr a b")] {
            did(here, &["config", &format!("filter.swap.{key}"), value]);
        }
        fs::remove_file(here.join("a.x")).unwrap();
        did(here, &["checkout", "--quiet", "--", "a.x"]);
        assert_eq!(fs::read_to_string(here.join("a.x")).unwrap(), there, "{attribute}");
    }

    // Bytes count: writing the same bytes again is no change, and a change that a filter or a
    // conversion would hide is one.
    #[test]
    fn bytes_count_and_not_gits_form_of_them() {
        let dirty = Some(DirtyReason::WorkingTreeDirty);
        for (attribute, committed, there, hidden) in [
            ("filter=swap", "aaa\n", "bbb\n", "aba\n"),
            ("eol=crlf", "aaa\n", "aaa\r\n", "aaa\n"),
            ("ident", "$Id$\n", IDENT, "$Id: x $\n"),
            ("text", "aaa\n", "aaa\n", "aaa\r\n"),
        ] {
            let before = |here: &Path| kept_otherwise(here, attribute, committed, there);
            let touches = |here: &Path| {
                let bytes = fs::read(here.join("a.x")).unwrap();
                fs::remove_file(here.join("a.x")).unwrap();
                fs::write(here.join("a.x"), bytes).unwrap();
            };
            check(&before, &nothing, None, &[]);
            check(&before, &touches, None, &[]);
            check(&before, &writes("a.x", hidden), dirty, &["a.x"]);
        }
    }

    // A file of Git LFS is as committed if it is what its pointer names.
    #[test]
    fn files_of_git_lfs_are_compared_with_their_pointers() {
        let pointer = format!(
            "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 4\n",
            hash("big\n")
        );
        let checked_out = |here: &Path| {
            write(here, ".gitattributes", "*.bin filter=lfs\n");
            write(here, "a.bin", &pointer);
            did(here, &["add", "."]);
            did(here, &["commit", "--quiet", "-m", "second"]);
            write(here, "a.bin", "big\n");
        };
        let dirty = Some(DirtyReason::WorkingTreeDirty);
        check(&checked_out, &nothing, None, &[]);
        check(&checked_out, &writes("a.bin", "big\n"), None, &[]);
        check(&checked_out, &writes("a.bin", "bad\n"), dirty, &["a.bin"]);
        let folder = repository();
        checked_out(folder.path());
        let tree = super::super::branch::WorkTree::at(folder.path()).unwrap();
        assert_eq!(tree.is_clean(), Some(true));
        write(folder.path(), "a.bin", "bad\n");
        assert_eq!(tree.is_clean(), Some(false));
    }

    // A folder below the top is watched with the whole repository.
    #[test]
    fn the_whole_repository_is_watched() {
        let folder = repository();
        write(folder.path(), "src/a.rs", "one\n");
        let snapshot = taken(&folder.path().join("src")).unwrap();
        write(folder.path(), "spec.md", "two\n");
        assert_eq!(snapshot.compare(&Cancel::default()).paths, ["spec.md"]);
    }

    // P-357: ignored files are not covered.
    #[test]
    fn ignored_files_are_not_seen() {
        check(&writes(".gitignore", "target\n"), &writes("target/a", "x"), None, &[]);
    }

    // Looking leaves nothing in the repository, and needs nothing but a repository.
    #[test]
    fn looking_leaves_no_trace() {
        let folder = repository();
        write(folder.path(), "new.md", "mine\n");
        let objects = || asked(git(folder.path()).args(["count-objects"]));
        let before = (objects(), fs::read(folder.path().join(".git/index")).unwrap());
        let snapshot = taken(folder.path()).unwrap();
        assert_eq!(snapshot.compare(&Cancel::default()).status, TreeStatus::Clean);
        assert_eq!((objects(), fs::read(folder.path().join(".git/index")).unwrap()), before);
        let nowhere = tempfile::tempdir().unwrap();
        assert_eq!(taken(nowhere.path()).err(), Some(DirtyReason::NotARepository));
        did(nowhere.path(), &["init", "--quiet"]);
        let empty = taken(nowhere.path()).unwrap();
        assert_eq!(
            empty.compare(&Cancel::default()),
            TreeVerdict::CLEAN,
            "nothing is committed yet"
        );
        write(nowhere.path(), "a", "x");
        assert_eq!(empty.compare(&Cancel::default()).paths, ["a"]);
        fs::remove_dir_all(nowhere.path().join(".git")).unwrap();
        assert_eq!(
            empty.compare(&Cancel::default()).status,
            TreeStatus::Unknown,
            "the state is unknown now"
        );
    }
}
