//! Temporary folders: git's objects for snapshots, and clients' output. Both may be private.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Once;

use tempfile::TempDir;

/// The prefix of git's folders; the number of their process follows.
const LOOK: &str = "convoke-look.";

/// The same prefix for lanes.
const LANE: &str = "convoke-lane.";

/// Leftovers of killed processes are searched once: that is enough, and the search costs time.
static SWEPT: Once = Once::new();

/// How often Convoke tries to remove a folder that another process may still write to.
const ATTEMPTS: u32 = 10;

/// The bytes of a file that a machine with room for lanes can take.
const SMALL: usize = 256 * 1024;

/// Makes a folder for git.
pub(crate) fn look() -> io::Result<TempDir> {
    make(LOOK)
}

/// Makes a folder for a lane.
pub fn lane() -> io::Result<TempDir> {
    make(LANE)
}

/// Tells whether a lane's folder could take a small file now, with what a file system needs for it.
pub fn has_room_for_lanes() -> bool {
    let small = vec![0; SMALL];
    lane().is_ok_and(|folder| std::fs::write(folder.path().join("room"), &small).is_ok())
}

/// Makes a private folder, and first removes those of killed processes. Guardians do so
/// immediately, but not every lane has one at every moment.
fn make(prefix: &str) -> io::Result<TempDir> {
    SWEPT.call_once(|| sweep(&std::env::temp_dir()));
    let mut builder = tempfile::Builder::new();
    builder.permissions(Permissions::from_mode(0o700));
    builder.prefix(&format!("{prefix}{}.", std::process::id())).tempdir()
}

/// Removes every folder of this process, right before it ends without tidying up.
pub fn clear() {
    clear_in(&std::env::temp_dir());
}

fn clear_in(place: &Path) {
    let ours = [LOOK, LANE].map(|prefix| format!("{prefix}{}.", std::process::id()));
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours =
            name.to_str().is_some_and(|name| ours.iter().any(|prefix| name.starts_with(prefix)));
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_ours && is_folder {
            // Its writer received the request to stop, and may not have stopped yet.
            (0..ATTEMPTS).any(|_| std::fs::remove_dir_all(entry.path()).is_ok());
        }
    }
}

/// Removes the folders of processes that are gone. Those of other users stay: the system does not
/// permit it.
fn sweep(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        let process = [LOOK, LANE].iter().find_map(|prefix| name.strip_prefix(prefix));
        let process = process.and_then(|rest| rest.split('.').next());
        let process =
            process.and_then(|number| rustix::process::Pid::from_raw(number.parse().ok()?));
        let is_gone = |pid| rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH);
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && process.is_some_and(is_gone) {
            std::fs::remove_dir_all(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_folder_is_its_users_alone() {
        for folder in [look().unwrap(), lane().unwrap()] {
            assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let mut process = crate::process::command("true", place.path()).spawn().unwrap();
        process.wait().unwrap();
        let folders =
            |name: String| [LOOK, LANE].map(|prefix| place.path().join(format!("{prefix}{name}")));
        let gone = folders(format!("{}.abc", process.id()));
        let ours = folders(format!("{}.abc", std::process::id()));
        let others = folders("x".to_owned());
        for folder in gone.iter().chain(&ours).chain(&others) {
            fs::create_dir_all(folder.join("objects/00")).unwrap();
        }
        sweep(place.path());
        assert!(gone.iter().all(|folder| !folder.exists()));
        assert!(ours.iter().chain(&others).all(|folder| folder.exists()));
    }

    #[test]
    fn an_abrupt_end_removes_its_folders() {
        let place = tempfile::tempdir().unwrap();
        let me = std::process::id();
        let [look, lane] =
            [LOOK, LANE].map(|prefix| place.path().join(format!("{prefix}{me}.abc")));
        let others = [format!("{LANE}{me}0.abc"), format!("{me}.abc")];
        let others = others.map(|name| place.path().join(name));
        for folder in [&look, &lane].into_iter().chain(&others) {
            fs::create_dir_all(folder.join("objects/00")).unwrap();
        }
        clear_in(place.path());
        assert!(!look.exists() && !lane.exists());
        assert!(others.iter().all(|folder| folder.exists()));
    }
}
