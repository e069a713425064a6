//! A working tree before and after: contents, not only names, so that a file counts that was already
//! changed or new before and was changed again.
//!
//! Nothing is left in the repository: what git must store for the comparison goes to a folder of our
//! own that nobody else can look into. What git does not see is not seen: ignored files, empty folders,
//! and what is inside of submodules. Of a large file only its size and its times are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use convoke_domain::tree::{Reason, Status, Verdict};
use tempfile::TempDir;

use super::diff::{asked, copy_index, git, head, run_under, shown};
use super::guarded;
use crate::lane::cancel::Cancel;
use crate::scratch;
use crate::skill::hash;

/// Files of git's own that decide what git does and sees, and that no reader has to change.
const SETTINGS: [&str; 4] = ["config", "config.worktree", "info/exclude", "info/attributes"];

/// No settings or hooks that a person writes are larger; of a larger one the beginning is compared.
const MAX_BYTES: u64 = 1024 * 1024;

/// A file that is changed or new, and larger than this, is not read.
const LARGE: u64 = 32 * 1024 * 1024;

/// What is known of a large file: its size, which file it is, and when it was last changed.
type Stamp = (u64, u64, i64, i64);

/// A working tree as it was.
#[derive(Debug)]
pub struct Snapshot {
    top: PathBuf,
    /// The repository's own folder and the one that its worktrees share.
    git_dirs: [PathBuf; 2],
    /// Our own program, which is git's guardian where it takes long.
    convoke: PathBuf,
    scratch: TempDir,
    commit: Option<String>,
    staged: String,
    tree: String,
    large: BTreeMap<OsString, Stamp>,
    settings: BTreeMap<String, String>,
}

impl Snapshot {
    /// Looks at the whole working tree that a folder belongs to, until somebody asks it to stop.
    pub fn take(folder: &Path, convoke: &Path, cancel: &Cancel) -> Result<Self, Reason> {
        let taken = Self::taken(folder, convoke, cancel);
        taken.map_err(|reason| if cancel.is_asked() { Reason::LookStopped } else { reason })
    }

    fn taken(folder: &Path, convoke: &Path, cancel: &Cancel) -> Result<Self, Reason> {
        let ask = |words: &[&str]| asked(git(folder).args(words)).map(PathBuf::from);
        let top = ask(&["rev-parse", "--show-toplevel"]).ok_or(Reason::NotARepository)?;
        let absolute = |what| ask(&["rev-parse", "--path-format=absolute", what]);
        let git_dirs = absolute("--git-dir").zip(absolute("--git-common-dir"));
        let git_dirs = git_dirs.ok_or(Reason::LookFailed)?;
        let mut snapshot = Self {
            git_dirs: git_dirs.into(),
            convoke: convoke.to_owned(),
            scratch: scratch::look().map_err(|_| Reason::LookFailed)?,
            commit: head(&top),
            staged: String::new(),
            tree: String::new(),
            large: BTreeMap::new(),
            settings: BTreeMap::new(),
            top,
        };
        snapshot.settings = snapshot.settings_now();
        snapshot.staged = snapshot.staged_now(cancel).ok_or(Reason::LsFilesFailed)?;
        let known = snapshot.git_dirs[0].join("index");
        snapshot.large = snapshot.large_now(cancel).ok_or(Reason::LsFilesFailed)?;
        let tree = snapshot.look(&known, "before", &snapshot.large, cancel);
        snapshot.tree = tree.ok_or(Reason::LookFailed)?;
        Ok(snapshot)
    }

    /// Says what became of it, as far as that is known when somebody asks it to stop.
    pub fn compare(&self, cancel: &Cancel) -> Verdict {
        let verdict = self.compared(cancel);
        let is_stopped = cancel.is_asked() && verdict.status == Status::Unknown;
        if is_stopped { Verdict::unknown(Reason::LookStopped) } else { verdict }
    }

    fn compared(&self, cancel: &Cancel) -> Verdict {
        // What was hashed before need not be hashed again, and marks in the index do not hide files.
        let Some(large) = self.large_now(cancel) else {
            return Verdict::unknown(Reason::LsFilesFailed);
        };
        let before = self.scratch.path().join("before");
        let Some(tree) = self.look(&before, "after", &large, cancel) else {
            return Verdict::unknown(Reason::LookFailed);
        };
        let changed =
            if tree == self.tree { Some(Vec::new()) } else { self.changed(&tree, cancel) };
        let Some(mut paths) = changed else { return Verdict::unknown(Reason::DiffFailed) };
        let large_names: BTreeSet<_> = self.large.keys().chain(large.keys()).collect();
        let differs = |name: &&&OsString| self.large.get(**name) != large.get(**name);
        for name in large_names.iter().filter(differs) {
            let name = shown(&name.to_string_lossy());
            if !paths.contains(&name) {
                paths.push(name);
            }
        }
        let is_changed = !paths.is_empty();
        let settings = self.changed_settings();
        let has_settings = !settings.is_empty();
        paths.extend(settings);
        let Some(staged) = self.staged_now(cancel) else {
            return Verdict::unknown(Reason::LsFilesFailed);
        };
        let reasons = [
            (Reason::WorkingTreeDirty, is_changed),
            (Reason::SettingsChanged, has_settings),
            (Reason::CommitChanged, head(&self.top) != self.commit),
            (Reason::IndexChanged, staged != self.staged),
        ];
        let reason = reasons.into_iter().find(|(_, holds)| *holds);
        reason.map_or(Verdict::CLEAN, |(reason, _)| Verdict::dirty(reason, paths))
    }

    /// Puts everything there is into a tree of git's, which is the same if everything is the same.
    fn look(
        &self,
        known: &Path,
        name: &str,
        large: &BTreeMap<OsString, Stamp>,
        cancel: &Cancel,
    ) -> Option<String> {
        let mut wanted = b".\0".to_vec();
        for file in large.keys() {
            wanted.extend([b":(exclude,top,literal)", file.as_bytes(), b"\0"].concat());
        }
        let list = self.scratch.path().join("wanted");
        std::fs::write(&list, wanted).ok()?;
        let index = self.scratch.path().join(name);
        copy_index(known, &index);
        let on_copy = || {
            let mut git = self.git();
            git.env("GIT_INDEX_FILE", &index);
            git
        };
        let mut add = on_copy();
        add.args(["add", "--all", "--pathspec-file-nul", "--pathspec-from-file"]).arg(list);
        // All else that git is asked here ends with us: it prints, and nobody reads it any more.
        let is_added = guarded::succeeds(&mut add, &self.convoke, self.scratch.path(), cancel)?;
        is_added.then(|| asked(on_copy().arg("write-tree")))?
    }

    fn changed(&self, tree: &str, cancel: &Cancel) -> Option<Vec<String>> {
        let words = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-relative"];
        let mut git = self.git();
        git.args(words).args([&self.tree, tree, "--"]);
        let output = run_under(&mut git, cancel)?;
        let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let names = names.map(|name| shown(&String::from_utf8_lossy(name))).collect();
        output.status.success().then_some(names)
    }

    /// Lists the large files that are changed or new.
    fn large_now(&self, cancel: &Cancel) -> Option<BTreeMap<OsString, Stamp>> {
        let words = ["ls-files", "-z", "--others", "--modified", "--exclude-standard"];
        let listed =
            run_under(self.git().args(words), cancel).filter(|listed| listed.status.success())?;
        let names = listed.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let stamp = |name: &[u8]| {
            let found = std::fs::symlink_metadata(self.top.join(OsStr::from_bytes(name))).ok()?;
            let stamp = (found.len(), found.ino(), found.ctime(), found.ctime_nsec());
            let is_large = found.is_file() && found.len() > LARGE;
            is_large.then(|| (OsString::from_vec(name.to_vec()), stamp))
        };
        Some(names.filter_map(stamp).collect())
    }

    /// Names everything that is staged, with its content.
    fn staged_now(&self, cancel: &Cancel) -> Option<String> {
        let output = run_under(self.git().args(["ls-files", "--stage", "-z"]), cancel)?;
        output.status.success().then(|| hash(&output.stdout))
    }

    fn settings_now(&self) -> BTreeMap<String, String> {
        let hooks = self.git_dirs[1].join("hooks");
        let hooks = std::fs::read_dir(hooks).into_iter().flatten().flatten();
        let hooks = hooks.map(|entry| entry.path());
        let named = self.git_dirs.iter().flat_map(|dir| SETTINGS.map(|name| dir.join(name)));
        let content = |path: PathBuf| Some((git_path(&path), hash(&beginning(&path)?)));
        named.chain(hooks).filter_map(content).collect()
    }

    fn changed_settings(&self) -> Vec<String> {
        let now = self.settings_now();
        let names = self.settings.keys().chain(now.keys()).collect::<BTreeSet<_>>();
        names.into_iter().filter(|it| self.settings.get(*it) != now.get(*it)).cloned().collect()
    }

    /// Prepares git so that it stores nothing in the repository.
    fn git(&self) -> Command {
        let mut git = git(&self.top);
        let objects = self.scratch.path().join("objects");
        std::fs::create_dir_all(&objects).ok();
        git.env("GIT_OBJECT_DIRECTORY", objects);
        git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", self.git_dirs[1].join("objects"));
        git.args(["-c", "core.compression=0", "-c", "advice.addEmbeddedRepo=false"]);
        // Whatever is larger goes into one file with all others, which is soon removed again.
        git.args(["-c", "core.bigFileThreshold=1"]);
        git
    }
}

fn beginning(path: &Path) -> Option<Vec<u8>> {
    use std::io::Read;

    let mut bytes = Vec::new();
    crate::file::open_regular(path)?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Names a file of git's own folder as people know it.
fn git_path(path: &Path) -> String {
    let text = path.display().to_string();
    let start = text.rfind("/.git/").map_or(0, |at| at + 1);
    shown(&text[start..])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::diff::tests::{did, repository, write};
    use super::*;

    // P-354: what is too large to be read is noticed all the same.
    #[test]
    fn large_files_are_compared_without_being_read() {
        let folder = repository();
        let large = |name: &str| {
            fs::File::create(folder.path().join(name)).unwrap().set_len(LARGE + 1).unwrap();
        };
        ["same.bin", "changed.bin", "gone.bin"].into_iter().for_each(large);
        let snapshot = taken(folder.path()).unwrap();
        assert_eq!(snapshot.compare(&Cancel::default()), Verdict::CLEAN);
        large("new.bin");
        fs::remove_file(folder.path().join("gone.bin")).unwrap();
        write(folder.path(), "changed.bin", "small");
        let verdict = snapshot.compare(&Cancel::default());
        assert_eq!(verdict.paths, ["changed.bin", "gone.bin", "new.bin"]);
    }

    fn taken(folder: &Path) -> Result<Snapshot, Reason> {
        Snapshot::take(folder, NOWHERE.as_ref(), &Cancel::default())
    }

    /// A program that is gone: then git is on its own.
    const NOWHERE: &str = "/nowhere/convoke";

    // Who is asked to stop says that it does not know.
    #[test]
    fn a_look_that_is_stopped_says_so() {
        let folder = repository();
        let (snapshot, asked) = (taken(folder.path()).unwrap(), Cancel::default());
        asked.cancel();
        assert_eq!(snapshot.compare(&asked), Verdict::unknown(Reason::LookStopped));
        assert_eq!(
            Snapshot::take(folder.path(), NOWHERE.as_ref(), &asked).err(),
            Some(Reason::LookStopped)
        );
        assert_eq!(snapshot.compare(&Cancel::default()), Verdict::CLEAN, "another time");
    }

    /// Takes a snapshot, does something, and says what was noticed.
    #[track_caller]
    fn check(
        before: &dyn Fn(&Path),
        during: &dyn Fn(&Path),
        reason: Option<Reason>,
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
            self.iter().map(|it| (*it).to_owned()).collect()
        }
    }

    fn nothing(_: &Path) {}

    fn writes(name: &'static str, text: &'static str) -> impl Fn(&Path) {
        move |here: &Path| write(here, name, text)
    }

    // Contents count: what was changed or new before and is changed again is noticed.
    #[test]
    fn every_change_is_noticed() {
        let dirty = Some(Reason::WorkingTreeDirty);
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

    // What is done by git itself is noticed too, and so is what would hide it.
    #[test]
    fn commits_and_settings_are_noticed() {
        let stages = |here: &Path| did(here, &["add", "."]);
        check(&writes("spec.md", "mine\n"), &stages, Some(Reason::IndexChanged), &[]);
        let commits = |here: &Path| did(here, &["commit", "--quiet", "-am", "second"]);
        check(&writes("spec.md", "mine\n"), &commits, Some(Reason::CommitChanged), &[]);
        let hidden = |here: &Path| {
            did(here, &["update-index", "--assume-unchanged", "spec.md"]);
            write(here, "spec.md", "two\n");
        };
        check(&nothing, &hidden, Some(Reason::WorkingTreeDirty), &["spec.md"]);
        let settings = Some(Reason::SettingsChanged);
        check(
            &nothing,
            &writes(".git/hooks/pre-commit", "x"),
            settings,
            &[".git/hooks/pre-commit"],
        );
        check(&nothing, &writes(".git/info/exclude", "*\n"), settings, &[".git/info/exclude"]);
    }

    // A folder below the top is watched with everything around it.
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
        assert_eq!(snapshot.compare(&Cancel::default()).status, Status::Clean);
        assert_eq!((objects(), fs::read(folder.path().join(".git/index")).unwrap()), before);
        let nowhere = tempfile::tempdir().unwrap();
        assert_eq!(taken(nowhere.path()).err(), Some(Reason::NotARepository));
        did(nowhere.path(), &["init", "--quiet"]);
        let empty = taken(nowhere.path()).unwrap();
        assert_eq!(empty.compare(&Cancel::default()), Verdict::CLEAN, "nothing is committed yet");
        write(nowhere.path(), "a", "x");
        assert_eq!(empty.compare(&Cancel::default()).paths, ["a"]);
        fs::remove_dir_all(nowhere.path().join(".git")).unwrap();
        assert_eq!(
            empty.compare(&Cancel::default()).status,
            Status::Unknown,
            "nobody can tell any more"
        );
    }
}
