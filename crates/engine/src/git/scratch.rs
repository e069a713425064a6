//! Folders for what git stores while it looks: contents of files that may be private.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use tempfile::TempDir;

/// What their names begin with; the number of their process follows.
const PREFIX: &str = "convoke-look.";

/// Makes a folder that only its user can look into, and removes those of processes that were killed.
pub(super) fn make() -> io::Result<TempDir> {
    let place = std::env::temp_dir();
    sweep(&place);
    let mut builder = tempfile::Builder::new();
    builder.permissions(Permissions::from_mode(0o700));
    builder.prefix(&format!("{PREFIX}{}.", std::process::id())).tempdir_in(place)
}

/// Removes the folders of processes that are not there any more. What is somebody else's stays:
/// the system does not let us.
fn sweep(place: &Path) {
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.split('.').next());
        let process = process.and_then(|it| rustix::process::Pid::from_raw(it.parse().ok()?));
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
        let folder = make().unwrap();
        assert_eq!(fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let mut process = crate::process::command("true", place.path()).spawn().unwrap();
        process.wait().unwrap();
        let names =
            |numbers: [u32; 2]| numbers.map(|it| place.path().join(format!("{PREFIX}{it}.abc")));
        let [gone, ours] = names([process.id(), std::process::id()]);
        let other = place.path().join(format!("{PREFIX}x"));
        for folder in [&gone, &ours, &other] {
            fs::create_dir(folder).unwrap();
        }
        sweep(place.path());
        assert_eq!((gone.exists(), ours.exists(), other.exists()), (false, true, true));
    }
}
