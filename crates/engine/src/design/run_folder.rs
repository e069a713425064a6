//! The folders of runs: one for each, outside of the project, and who works on a project now.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, DirEntry, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use convoke_domain::owner::Owner;
use convoke_domain::run::RunId;
use jiff::Timestamp;

use crate::file;
use crate::lock::{Lock, LockError};
use crate::skill::hash;

/// Marks a folder as Convoke's. A folder without it is never removed.
const MARKER: &str = ".convoke-run";

/// The log of removed folders, in the folder of all runs.
const AUDIT: &str = "cleanup-audit.log";

/// The folder for locks. No run can have this name.
const LOCKS: &str = ".locks";

/// The folder for findings that may concern security. No run can have this name.
const WITHHELD: &str = ".withheld";

/// The folder for plans of single passes. No run can have this name.
const SINGLE_PASSES: &str = ".single-passes";

/// The lock of a run's worker, in its folder.
const WORKER: &str = ".worker";

/// The place of the folders that runs keep their files in.
#[derive(Debug, Clone)]
pub struct RunFolders {
    root: PathBuf,
}

/// A folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RunFolderError {
    /// Another run works on the same files.
    #[error("cannot use the working tree `{}`", tree.display())]
    Held {
        /// The working tree.
        tree: PathBuf,
        /// The holder, or why it is unknown.
        source: LockError,
    },
    /// Another process works on the run.
    #[error("cannot work on run {run}")]
    RunHeld {
        /// The run that is wanted.
        run: RunId,
        /// The holder, or why it is unknown.
        source: LockError,
    },
    /// The system refused.
    #[error("cannot use `{}`", path.display())]
    File {
        /// The path of the folder or file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// It is not a folder of a run.
    #[error("cannot use `{}` as the folder of a run: {why}", path.display())]
    NotOurs {
        /// The path of the folder.
        path: PathBuf,
        /// The defect.
        why: &'static str,
    },
}

impl RunFolderError {
    /// Returns what the user can do next.
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::Held { source: LockError::Held { .. }, .. } => {
                "wait until it ends, or work in another worktree (`git worktree add`)"
            }
            Self::RunHeld { source: LockError::Held { .. }, .. } => {
                "wait until it ends: `convoke runs`; answers that it has are kept"
            }
            Self::Held { .. } | Self::RunHeld { .. } | Self::File { .. } => {
                "make it writable, or name another folder with XDG_STATE_HOME"
            }
            Self::NotOurs { .. } => "check the folder and remove it yourself",
        }
    }
}

impl RunFolders {
    /// Runs are kept below `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Returns where a run's folder is.
    pub fn path(&self, run: &RunId) -> PathBuf {
        self.root.join(run.as_str())
    }

    /// Locks a working tree for a run, until the returned value is dropped. Only one run can have
    /// it: each compares the tree before and after its agents worked.
    pub fn hold(&self, tree: &Path, run: &RunId) -> Result<Lock, RunFolderError> {
        let held = |source| RunFolderError::Held { tree: tree.to_owned(), source };
        let key = tree.canonicalize().unwrap_or_else(|_| tree.to_owned());
        let locks = self.root.join(LOCKS);
        make_private(&locks)?;
        let name: String = hash(key.as_os_str().as_encoded_bytes()).chars().take(16).collect();
        let holder = format!("run {run} of process {}", std::process::id());
        Lock::take(&locks.join(name), &holder).map_err(held)
    }

    /// Locks a run without its working tree, until the returned value is dropped.
    pub fn hold_run(&self, run: &RunId) -> Result<Lock, RunFolderError> {
        let locks = self.root.join(LOCKS);
        make_private(&locks)?;
        let held = |source| RunFolderError::RunHeld { run: run.clone(), source };
        let holder = format!("run {run} of process {}", std::process::id());
        Lock::take(&locks.join(run.as_str()), &holder).map_err(held)
    }

    /// Returns the runs that a process works on now.
    pub fn worked_on(&self) -> HashSet<RunId> {
        self.processes().map(|(run, _)| run).collect()
    }

    /// Returns the process that works on a run now.
    pub fn process_of(&self, run: &RunId) -> Option<Owner> {
        self.processes().find(|(worked_on, _)| worked_on == run).map(|(_, owner)| owner)
    }

    /// Returns every run that a process works on, with the process.
    fn processes(&self) -> impl Iterator<Item = (RunId, Owner)> {
        let locks = fs::read_dir(self.root.join(LOCKS)).into_iter().flatten().flatten();
        locks.filter_map(|lock: DirEntry| {
            let (holder, owner) = Lock::holder(&lock.path())?;
            let run = RunId::parse(holder.strip_prefix("run ")?.split(' ').next()?).ok()?;
            Some((run, owner))
        })
    }

    /// Records that a worker writes a run's journal, until the returned value is dropped.
    pub fn hold_for_worker(&self, run: &RunId) -> Result<Lock, RunFolderError> {
        let path = self.path(run);
        let held = |source| RunFolderError::Held { tree: path.clone(), source };
        let holder = format!("the worker in process {}", std::process::id());
        Lock::take(&path.join(WORKER), &holder).map_err(held)
    }

    /// Returns the worker that writes a run's journal now.
    pub fn worker(&self, run: &RunId) -> Option<Owner> {
        Lock::holder(&self.path(run).join(WORKER)).map(|(_, owner)| owner)
    }

    /// Makes a private folder for a run, or finds it again.
    pub fn make(
        &self,
        run: &RunId,
        tree: &Path,
        now: Timestamp,
    ) -> Result<PathBuf, RunFolderError> {
        make_private(&self.root)?;
        let path = self.path(run);
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                check_ours(&path)?;
                return Ok(path);
            }
            Err(source) => return Err(RunFolderError::File { path, source }),
        }
        let (pid, parent) = (std::process::id(), parent());
        let marker = format!(
            "convoke run\nPID={pid}\nPPID={parent}\nCLONE_PATH={}\nSESSION_ID={run}\n\
             PREFIX=convoke-design\nCREATED={now:.0}\nNOTE=ext-cleaners-please-skip\n",
            tree.display()
        );
        for (name, text) in [(MARKER, marker), ("session-id", format!("{run}\n"))] {
            let file = path.join(name);
            fs::write(&file, text)
                .map_err(|source| RunFolderError::File { path: file.clone(), source })?;
        }
        Ok(path)
    }

    /// Writes a run's withheld findings to a private file. It stays when the run's folder is
    /// removed.
    pub fn keep_withheld(&self, run: &RunId, text: &str) -> Result<PathBuf, RunFolderError> {
        let path = self.root.join(WITHHELD).join(format!("{run}.md"));
        keep_private(&path, text)?;
        Ok(path)
    }

    /// Writes the single pass of a run's feature to a private file, in the place of an earlier one.
    /// It stays when the run's folder is removed.
    pub fn keep_single_pass(&self, run: &RunId, text: &str) -> Result<(), RunFolderError> {
        keep_private(&self.single_pass(run), text)
    }

    /// Returns where the single pass of a run's feature is, if there is one.
    pub fn single_pass(&self, run: &RunId) -> PathBuf {
        self.root.join(SINGLE_PASSES).join(format!("{run}.json"))
    }

    /// Removes a run's folder and its content; `false` if it is missing. A folder that is not
    /// clearly a run's is left alone.
    pub fn remove(&self, folder: &Path, now: Timestamp) -> Result<bool, RunFolderError> {
        match fs::symlink_metadata(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(source) => return Err(RunFolderError::File { path: folder.to_owned(), source }),
            Ok(_) => check_ours(folder)?,
        }
        let canonical = |path: &Path| {
            path.canonicalize()
                .map_err(|source| RunFolderError::File { path: path.to_owned(), source })
        };
        let (root, folder) = (canonical(&self.root)?, canonical(folder)?);
        if folder.parent() != Some(&root) {
            let why = "it is not in the folder of runs";
            return Err(RunFolderError::NotOurs { path: folder, why });
        }
        // To write this down is good; to tidy up is better.
        self.audit(&folder, now).ok();
        fs::remove_dir_all(&folder)
            .map(|()| true)
            .map_err(|source| RunFolderError::File { path: folder, source })
    }

    fn audit(&self, folder: &Path, now: Timestamp) -> io::Result<()> {
        let parent = parent();
        let name = file::text(Path::new(&format!("/proc/{parent}/comm")), 1024);
        let name = name.unwrap_or_default().trim().replace(' ', "_");
        let (pid, folder) = (std::process::id(), folder.display());
        let line = format!("{now:.0} pid={pid} ppid={parent} parent={name} dir={folder}\n");
        let mut log = OpenOptions::new().create(true).append(true).open(self.root.join(AUDIT))?;
        log.write_all(line.as_bytes())
    }
}

fn make_private(folder: &Path) -> Result<(), RunFolderError> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|source| RunFolderError::File { path: folder.to_owned(), source })
}

/// Replaces a file in a folder that only the user sees.
fn keep_private(path: &Path, text: &str) -> Result<(), RunFolderError> {
    path.parent().map_or(Ok(()), make_private)?;
    file::put_private(path, text.as_bytes())
        .map_err(|source| RunFolderError::File { path: path.to_owned(), source })
}

/// Checks that a folder is Convoke's: a real folder, not a link, that holds its marker.
fn check_ours(folder: &Path) -> Result<(), RunFolderError> {
    let kind = |path: &Path| fs::symlink_metadata(path).map(|metadata| metadata.file_type());
    let why = if !kind(folder).is_ok_and(|kind| kind.is_dir()) {
        "it is not a folder"
    } else if !kind(&folder.join(MARKER)).is_ok_and(|kind| kind.is_file()) {
        "it lacks the marker file"
    } else {
        return Ok(());
    };
    Err(RunFolderError::NotOurs { path: folder.to_owned(), why })
}

fn parent() -> i32 {
    rustix::process::Pid::as_raw(rustix::process::getppid())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn run() -> RunId {
        RunId::parse("20260304-050607-abcde").unwrap()
    }

    fn now() -> Timestamp {
        "2026-03-04T05:06:07.123Z".parse().unwrap()
    }

    fn folders() -> (tempfile::TempDir, RunFolders) {
        let top = tempfile::tempdir().unwrap();
        let folders = RunFolders::new(top.path().join("state/runs"));
        (top, folders)
    }

    // P-64
    #[test]
    fn a_run_has_a_folder_that_only_its_user_sees() {
        let (top, folders) = folders();
        let path = folders.make(&run(), top.path(), now()).unwrap();
        assert_eq!(path, folders.path(&run()));
        for folder in [&path, path.parent().unwrap()] {
            assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
        }
        let marker = fs::read_to_string(path.join(".convoke-run")).unwrap();
        let keys: Vec<_> = marker.lines().map(|line| line.split('=').next().unwrap()).collect();
        let expected =
            ["convoke run", "PID", "PPID", "CLONE_PATH", "SESSION_ID", "PREFIX", "CREATED", "NOTE"];
        assert_eq!(keys, expected);
        assert!(marker.contains("\nCREATED=2026-03-04T05:06:07Z\nNOTE=ext-cleaners-please-skip\n"));
        let id = fs::read_to_string(path.join("session-id")).unwrap();
        assert_eq!(id, "20260304-050607-abcde\n");

        fs::write(path.join("plan.txt"), "x").unwrap();
        assert_eq!(folders.make(&run(), top.path(), now()).unwrap(), path);
        assert!(path.join("plan.txt").exists(), "it is found again as it was");
    }

    // P-380, P-381
    #[test]
    fn a_folder_is_removed_once_and_that_is_written_down() {
        let (top, folders) = folders();
        assert!(!folders.remove(&folders.path(&run()), now()).unwrap());
        let path = folders.make(&run(), top.path(), now()).unwrap();
        fs::create_dir(path.join("deep")).unwrap();
        fs::write(top.path().join("kept"), "").unwrap();
        symlink(top.path(), path.join("deep/link")).unwrap();
        assert!(folders.remove(&path, now()).unwrap());
        assert!(!path.exists() && top.path().join("kept").exists());
        assert!(!folders.remove(&path, now()).unwrap());
        let log = fs::read_to_string(path.parent().unwrap().join("cleanup-audit.log")).unwrap();
        let words: Vec<_> = log.trim_end().split(' ').collect();
        assert_eq!((words.len(), words[0]), (5, "2026-03-04T05:06:07Z"), "{log}");
        for (word, start) in words[1..].iter().zip(["pid=", "ppid=", "parent=", "dir=/"]) {
            assert!(word.starts_with(start), "{log}");
        }
        assert!(log.ends_with(&format!("/{}\n", run())));
    }

    // P-381
    #[test]
    fn a_log_that_cannot_be_written_does_not_keep_a_folder() {
        let (top, folders) = folders();
        let path = folders.make(&run(), top.path(), now()).unwrap();
        fs::create_dir(path.parent().unwrap().join("cleanup-audit.log")).unwrap();
        assert!(folders.remove(&path, now()).unwrap());
    }

    // P-380, P-382
    #[test]
    fn a_folder_without_the_marker_is_left_alone() {
        let (top, folders) = folders();
        let path = folders.make(&run(), top.path(), now()).unwrap();
        let root = path.parent().unwrap().to_owned();
        let elsewhere = top.path().join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join(MARKER), "").unwrap();
        let link = root.join("link");
        symlink(&path, &link).unwrap();
        let unmarked = root.join("unmarked");
        fs::create_dir(&unmarked).unwrap();
        let deeper = path.join("deeper");
        fs::create_dir(&deeper).unwrap();
        fs::write(deeper.join(MARKER), "").unwrap();
        fs::write(root.join(MARKER), "").unwrap();
        let around = path.join("../../../elsewhere");
        let itself = path.join("..");
        let file = path.join("session-id");
        for folder in [&elsewhere, &link, &unmarked, &deeper, &root, &around, &itself, &file] {
            let refused = folders.remove(folder, now());
            assert!(matches!(refused, Err(RunFolderError::NotOurs { .. })), "{refused:?}");
        }
        assert!(folders.remove(Path::new(""), now()).is_ok_and(|was_removed| !was_removed));
        assert!(elsewhere.exists() && deeper.exists() && unmarked.exists());
        assert!(!root.join("cleanup-audit.log").exists());
    }

    #[test]
    fn a_folder_of_another_program_is_not_taken() {
        let (top, folders) = folders();
        fs::create_dir_all(folders.path(&run())).unwrap();
        let taken = folders.make(&run(), top.path(), now());
        assert!(matches!(taken, Err(RunFolderError::NotOurs { .. })), "{taken:?}");
        let nowhere = RunFolders::new("/proc/none").make(&run(), top.path(), now());
        assert!(matches!(nowhere, Err(RunFolderError::File { .. })), "{nowhere:?}");
    }

    // F-10
    #[test]
    fn a_run_without_a_tree_has_one_process_at_a_time() {
        let (top, folders) = folders();
        let fan = RunId::parse("fan-0123456789ab").unwrap();
        let _tree = folders.hold(top.path(), &run()).unwrap();
        let first = folders.hold_run(&fan).unwrap();
        let error = folders.hold_run(&fan).unwrap_err();
        assert_eq!(error.to_string(), "cannot work on run fan-0123456789ab");
        assert!(error.hint().starts_with("wait until it ends"));
        assert_eq!(folders.worked_on(), HashSet::from([run(), fan.clone()]));
        drop(first);
        let _again = folders.hold_run(&fan).unwrap();
        let _other = folders.hold_run(&RunId::parse("fan-other").unwrap()).unwrap();
    }

    #[test]
    fn a_working_tree_has_one_run_at_a_time() {
        let (top, folders) = folders();
        let first = folders.hold(top.path(), &run()).unwrap();
        let second = RunId::parse("20260304-050608-00000").unwrap();
        let error = folders.hold(&top.path().join("."), &second).unwrap_err();
        let RunFolderError::Held { source, .. } = &error else { panic!("{error:?}") };
        assert!(source.to_string().contains(&format!("run {}", run())), "{source}");
        let other = tempfile::tempdir().unwrap();
        let _elsewhere = folders.hold(other.path(), &second).unwrap();
        drop(first);
        assert_eq!(folders.worked_on(), HashSet::from([second.clone()]));
        let _second = folders.hold(top.path(), &run()).unwrap();
        assert_eq!(folders.worked_on(), HashSet::from([run(), second]));
    }
}
