//! Notes on a working tree for other programs: a list of new files before, a check after, and lists
//! of changes beside the note. An error is part of the note; no function here fails.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use convoke_domain::tree::paths::Paths;
use convoke_domain::tree::sidecar::{TreeMode, TreeNote, TreeRequest};
use convoke_domain::tree::{DirtyReason, TreeStatus};

use super::diff::run;
use super::listing::{status, stored_now};
use super::repository::{Repository, View};
use crate::file;

/// No note is longer.
const MAX_NOTE: u64 = 64 * 1024;

/// No list of files is longer.
const MAX_LIST: u64 = 64 * 1024 * 1024;

/// Writes the list of new files, for a later check. Returns whether that worked; if not, there is
/// no list, because an old one would be wrong.
pub fn write_baseline(folder: &Path, path: &Path) -> bool {
    let written = untracked(folder).is_some_and(|paths| write(path, &paths).is_some());
    if !written {
        std::fs::remove_file(path).ok();
    }
    written
}

/// Checks a tree as requested, and writes the note and its lists.
pub fn check(folder: &Path, request: &TreeRequest) -> TreeNote {
    let sidecar = request.sidecar.as_deref().map(Path::new);
    if sidecar.is_some_and(Path::is_dir) {
        return TreeNote::unknown(Some(request.mode), Some(DirtyReason::BadSidecarPath));
    }
    let note = match request.mode {
        TreeMode::Checkpoint => checkpoint(folder),
        TreeMode::Baseline => against_baseline(folder, request.baseline.as_deref(), sidecar),
    };
    leave(sidecar, note)
}

/// Writes a note; if that fails, the returned note reports it, and no older note stays in its
/// place.
fn leave(sidecar: Option<&Path>, note: TreeNote) -> TreeNote {
    let Some(path) = sidecar else { return note };
    if file::put(path, note.text().as_bytes()).is_ok() {
        return note;
    }
    std::fs::remove_file(path).ok();
    TreeNote::unknown(note.mode, Some(DirtyReason::BadSidecarPath))
}

/// Reads a note; a missing one means that the state is unknown.
pub fn read(path: &Path) -> TreeNote {
    TreeNote::parse(&file::text(path, MAX_NOTE).unwrap_or_default())
}

fn checkpoint(folder: &Path) -> TreeNote {
    let mode = Some(TreeMode::Checkpoint);
    let found = Repository::at(folder).ok().and_then(|found| status(&found, &[]).ok());
    match found {
        None => TreeNote::unknown(mode, Some(DirtyReason::StatusFailed)),
        Some(lines) if lines.is_empty() => {
            TreeNote { status: TreeStatus::Clean, ..TreeNote::unknown(mode, None) }
        }
        Some(_) => {
            let reason = Some(DirtyReason::CheckpointDirty);
            TreeNote { status: TreeStatus::Dirty, ..TreeNote::unknown(mode, reason) }
        }
    }
}

fn against_baseline(folder: &Path, baseline: Option<&str>, sidecar: Option<&Path>) -> TreeNote {
    let baseline = baseline.and_then(|path| read_list(Path::new(path)));
    let unknown = TreeNote {
        has_baseline: Some(baseline.is_some()),
        ..TreeNote::unknown(Some(TreeMode::Baseline), None)
    };
    let beside =
        |ending: &str| sidecar.map(|path| PathBuf::from(format!("{}.{ending}", path.display())));
    let (tracked_file, new_file) = (beside("tracked-paths"), beside("new-untracked-paths"));
    for old in [&tracked_file, &new_file].into_iter().flatten() {
        std::fs::remove_file(old).ok();
    }
    let compared = || {
        let tracked = tracked(folder)?;
        let now = untracked(folder).ok_or(DirtyReason::LsFilesFailed)?;
        let new = match &baseline {
            Some(before) => Some(now.without(before)),
            None if now.is_empty() => Some(now),
            // An ambiguous file must not be listed: a program might delete it.
            None => None,
        };
        let tracked_at = list(&tracked, tracked_file.as_deref(), DirtyReason::TrackedWriteFailed)?;
        let new_at = match &new {
            Some(new) => list(new, new_file.as_deref(), DirtyReason::UntrackedWriteFailed)?,
            None => None,
        };
        let (status, reason) = match (&new, tracked.is_empty()) {
            (None, _) => (TreeStatus::Unknown, Some(DirtyReason::BaselineMissing)),
            (Some(new), true) if new.is_empty() => (TreeStatus::Clean, None),
            (Some(_), _) => (TreeStatus::Dirty, Some(DirtyReason::WorkingTreeDirty)),
        };
        let note = unknown.clone();
        Ok(TreeNote { status, reason, tracked: tracked_at, new_untracked: new_at, ..note })
    };
    compared().unwrap_or_else(|reason| TreeNote { reason: Some(reason), ..unknown.clone() })
}

/// Writes a list that is not empty, and returns where it is.
fn list(
    paths: &Paths,
    file: Option<&Path>,
    failed: DirtyReason,
) -> Result<Option<String>, DirtyReason> {
    let Some(file) = file.filter(|_| !paths.is_empty()) else { return Ok(None) };
    write(file, paths).ok_or(failed)?;
    Ok(Some(file.display().to_string()))
}

fn write(file: &Path, paths: &Paths) -> Option<()> {
    file::put(file, &paths.stream()).ok()
}

/// Names of files need not be text, so a list is read as bytes.
fn read_list(path: &Path) -> Option<Paths> {
    use std::io::Read;

    let mut bytes = Vec::new();
    file::open_regular(path)?.take(MAX_LIST).read_to_end(&mut bytes).ok()?;
    Paths::parse(&bytes)
}

fn tracked(folder: &Path) -> Result<Paths, DirtyReason> {
    let repository = Repository::at(folder).map_err(|_| DirtyReason::DiffFailed)?;
    let names = ["--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-relative"];
    let submodules = ["--ignore-submodules=dirty"];
    let diff = |flags: &[&str], failed: DirtyReason| {
        let words = [&["diff"], flags, &names[..], &submodules[..]].concat();
        Paths::parse(&ask(&repository, &words, failed)?.stdout).ok_or(failed)
    };
    let unstaged = diff(&[], DirtyReason::DiffFailed)?;
    let stored = stored_now(&repository);
    let stored = stored.iter().flat_map(|name| [name.as_bytes(), b"\0"].concat());
    let stored = Paths::parse(&stored.collect::<Vec<_>>()).unwrap_or_default();
    Ok(unstaged.without(&stored).and(diff(&["--cached"], DirtyReason::DiffCachedFailed)?))
}

fn untracked(folder: &Path) -> Option<Paths> {
    let words = ["ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/"];
    let repository = Repository::at(folder).ok()?;
    Paths::parse(&ask(&repository, &words, DirtyReason::LsFilesFailed).ok()?.stdout)
}

fn ask(
    repository: &Repository,
    words: &[&str],
    failed: DirtyReason,
) -> Result<Output, DirtyReason> {
    let mut git = repository.git(View::Converted);
    run(git.args(words)).filter(|output| output.status.success()).ok_or(failed)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::diff::asked;
    use super::super::diff::tests::{did, git, repository, write as put};
    use super::*;

    struct Watched {
        folder: tempfile::TempDir,
        notes: tempfile::TempDir,
    }

    impl Watched {
        fn new() -> Self {
            Self { folder: repository(), notes: tempfile::tempdir().unwrap() }
        }

        fn here(&self) -> &Path {
            self.folder.path()
        }

        fn note_path(&self, name: &str) -> String {
            self.notes.path().join(name).display().to_string()
        }

        fn begin(&self) {
            assert!(write_baseline(self.here(), &self.notes.path().join("baseline")));
        }

        fn check(&self, mode: TreeMode) -> TreeNote {
            let baseline = Some(self.note_path("baseline"));
            let sidecar = Some(self.note_path("o.dirty-tree"));
            let note = check(self.here(), &TreeRequest { mode, baseline, sidecar });
            assert_eq!(read(&self.notes.path().join("o.dirty-tree")), note, "it is left there");
            note
        }

        fn list(&self, ending: &str) -> Option<String> {
            let bytes = fs::read(self.note_path(&format!("o.dirty-tree.{ending}"))).ok()?;
            Some(String::from_utf8(bytes).unwrap())
        }
    }

    // P-353
    #[test]
    fn a_checkpoint_compares_with_the_commit() {
        let watched = Watched::new();
        assert_eq!(watched.check(TreeMode::Checkpoint).text(), "STATUS=clean\nMODE=checkpoint\n");
        put(watched.here(), "new.md", "x");
        assert_eq!(
            watched.check(TreeMode::Checkpoint).text(),
            "STATUS=dirty\nMODE=checkpoint\nREASON=checkpoint-dirty\n"
        );
    }

    // P-353, P-357: neither a setting nor a link changes the result or the place of the note.
    #[test]
    fn a_note_is_about_the_tree_and_replaces_a_link() {
        let watched = Watched::new();
        did(watched.here(), &["config", "status.showUntrackedFiles", "no"]);
        put(watched.here(), "new.md", "x");
        put(watched.notes.path(), "precious", "kept");
        let note = watched.notes.path().join("o.dirty-tree");
        std::os::unix::fs::symlink(watched.notes.path().join("precious"), &note).unwrap();
        assert_eq!(watched.check(TreeMode::Checkpoint).status, TreeStatus::Dirty);
        assert_eq!(fs::read_to_string(watched.notes.path().join("precious")).unwrap(), "kept");
        assert!(!note.is_symlink());
    }

    // P-354, P-358, T-19: staged or not, changes are listed; files that were new before are not.
    #[test]
    fn a_baseline_tells_new_files_from_older_ones() {
        let watched = Watched::new();
        put(watched.here(), "mine.md", "x");
        put(watched.here(), "a/b.md", "x");
        watched.begin();
        let baseline = fs::read_to_string(watched.note_path("baseline")).unwrap();
        assert_eq!(baseline, "a/b.md\0mine.md\0");
        assert_eq!(
            watched.check(TreeMode::Baseline).text(),
            "STATUS=clean\nMODE=baseline\nUNTRACKED_BASELINE=present\n"
        );
        put(watched.here(), "spec.md", "two\n");
        put(watched.here(), "other.md", "two\n");
        did(watched.here(), &["add", "other.md"]);
        put(watched.here(), "new\nfile", "x");
        let dirty = watched.check(TreeMode::Baseline);
        assert_eq!(watched.list("tracked-paths").as_deref(), Some("other.md\0spec.md\0"));
        assert_eq!(watched.list("new-untracked-paths").as_deref(), Some("new\nfile\0"));
        let path = watched.note_path("o.dirty-tree");
        assert_eq!(
            dirty.text(),
            format!(
                "STATUS=dirty\nMODE=baseline\nUNTRACKED_BASELINE=present\n\
                 TRACKED_PATHS_FILE={path}.tracked-paths\n\
                 NEW_UNTRACKED_PATHS_FILE={path}.new-untracked-paths\nREASON=working-tree-dirty\n"
            )
        );
        // P-357: the same again, to the byte, with nothing else left beside it.
        assert_eq!(watched.check(TreeMode::Baseline), dirty);
        assert_eq!(fs::read_dir(watched.notes.path()).unwrap().count(), 4);
        did(watched.here(), &["reset", "--quiet", "--hard"]);
        fs::remove_file(watched.here().join("new\nfile")).unwrap();
        assert_eq!(watched.check(TreeMode::Baseline).status, TreeStatus::Clean);
        assert_eq!(watched.list("tracked-paths"), None, "an old list would be wrong");
    }

    // P-355, P-356, T-20: ambiguous files are not listed; nor does a list count that leads out.
    #[test]
    fn without_a_baseline_new_files_are_ambiguous() {
        let watched = Watched::new();
        assert_eq!(watched.check(TreeMode::Baseline).status, TreeStatus::Clean, "nothing is new");
        put(watched.here(), "new.md", "x");
        for baseline in [None, Some("../x\0"), Some("new.md")] {
            if let Some(text) = baseline {
                fs::write(watched.note_path("baseline"), text).unwrap();
            }
            assert_eq!(
                watched.check(TreeMode::Baseline).text(),
                "STATUS=unknown\nMODE=baseline\nUNTRACKED_BASELINE=missing\n\
                 REASON=baseline-missing-untracked-ambiguous\n"
            );
            assert_eq!(watched.list("new-untracked-paths"), None);
        }
    }

    // P-346, P-352, P-358: a failure of git is reported, and removes the list.
    #[test]
    fn failures_are_in_the_note() {
        let watched = Watched::new();
        watched.begin();
        let tree = asked(git(watched.here()).args(["rev-parse", "HEAD^{tree}"])).unwrap();
        let object = format!(".git/objects/{}/{}", &tree[..2], &tree[2..]);
        fs::remove_file(watched.here().join(object)).unwrap();
        assert_eq!(watched.check(TreeMode::Baseline).reason, Some(DirtyReason::DiffCachedFailed));
        fs::write(watched.here().join(".git/index"), "garbage").unwrap();
        assert_eq!(watched.check(TreeMode::Baseline).reason, Some(DirtyReason::DiffFailed));
        assert_eq!(watched.check(TreeMode::Checkpoint).reason, Some(DirtyReason::StatusFailed));
        assert!(!write_baseline(watched.here(), &watched.notes.path().join("baseline")));
        assert!(!watched.notes.path().join("baseline").exists());
        assert_eq!(read(Path::new("/nowhere")).status, TreeStatus::Unknown);
        let request = TreeRequest {
            mode: TreeMode::Checkpoint,
            baseline: None,
            sidecar: Some(watched.notes.path().display().to_string()),
        };
        assert_eq!(check(watched.here(), &request).reason, Some(DirtyReason::BadSidecarPath));
    }

    // A list that cannot be written makes the rest unknown.
    #[test]
    fn an_unwritable_list_is_reported() {
        let watched = Watched::new();
        watched.begin();
        for (ending, name, reason) in [
            ("new-untracked-paths", "new.md", DirtyReason::UntrackedWriteFailed),
            ("tracked-paths", "spec.md", DirtyReason::TrackedWriteFailed),
        ] {
            put(watched.here(), name, "x");
            fs::create_dir(watched.note_path(&format!("o.dirty-tree.{ending}"))).unwrap();
            let note = watched.check(TreeMode::Baseline);
            assert_eq!((note.status, note.reason), (TreeStatus::Unknown, Some(reason)));
        }
    }
}
