//! Drafts: files that get their name when they are whole.
//!
//! A process that is killed cannot remove its draft. Its name has the number of its process, so that
//! the next one which writes there, or takes something back, removes it.

use std::fs;
use std::io;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use tempfile::NamedTempFile;

/// How the name of a draft begins; the number of its process and a dot follow.
const PREFIX: &str = ".convoke-draft-";

/// Who may read a draft, and the file that it becomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DraftReaders {
    /// Everyone whom the user's own rules for new files let.
    Everyone,
    /// The user alone.
    User,
}

/// Makes a draft in a folder, and removes those that killed processes have left there.
pub fn draft(folder: &Path, readers: DraftReaders) -> io::Result<NamedTempFile> {
    sweep_drafts(folder);
    let prefix = format!("{PREFIX}{}.", std::process::id());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    if readers == DraftReaders::Everyone {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Removes the drafts in a folder whose processes are gone, with what a database puts beside them.
pub fn sweep_drafts(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let process = process.and_then(|rest| rest.split('.').next()?.parse().ok());
        let is_gone = |pid| test_kill_process(pid) == Err(Errno::SRCH);
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && process.and_then(Pid::from_raw).is_some_and(is_gone) {
            fs::remove_file(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let name =
            |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let mut process = crate::process::command("true", place.path()).spawn().unwrap();
        process.wait().unwrap();
        let (gone, here) = (process.id(), std::process::id());
        let kept = [format!("{PREFIX}{here}.abc"), format!("{PREFIX}x.abc"), ".tmpabc".to_owned()];
        let left = [format!("{PREFIX}{gone}.abc"), format!("{PREFIX}{gone}.abc-wal")];
        for name in kept.iter().chain(&left) {
            fs::write(place.path().join(name), "x").unwrap();
        }
        fs::create_dir(place.path().join(format!("{PREFIX}{gone}.folder"))).unwrap();
        let draft = draft(place.path(), DraftReaders::User).unwrap();
        let found = names(place.path());
        assert!(kept.iter().all(|name| found.contains(name)), "{found:?}");
        assert!(!left.iter().any(|name| found.contains(name)), "{found:?}");
        assert_eq!(found.len(), kept.len() + 2, "{found:?}: the folder and the new draft");
        let name = draft.path().file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with(&format!("{PREFIX}{here}.")), "{name}");
    }
}
