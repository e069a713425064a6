//! The system around Convoke: free disk space, writable folders, inherited orphans.

use std::io;
use std::path::Path;

use crate::git;
use crate::git::diff::asked_version;

/// Returns how many bytes are free where a folder is, or where it would be made.
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let there = folder.ancestors().find(|path| path.exists())?;
    let found = rustix::fs::statvfs(there).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}

/// Makes a folder, if it is missing, and tries to write in it.
pub fn try_writing(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    tempfile::Builder::new().prefix(".convoke-").tempfile_in(folder).map(drop)
}

/// Tries to write to a file that exists, and changes nothing in it.
pub fn try_opening(file: &Path) -> io::Result<()> {
    std::fs::OpenOptions::new().append(true).open(file).map(drop)
}

/// Tells whether a guardian inherits what its client leaves behind.
#[cfg(target_os = "linux")]
pub fn inherits_orphans() -> bool {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).is_ok()
}

/// Tells whether a guardian inherits what its client leaves behind.
#[cfg(not(target_os = "linux"))]
pub fn inherits_orphans() -> bool {
    false
}

/// Returns the folders of the PATH that were skipped, if git is missing for that reason.
pub fn skipped_git(folder: &Path) -> Option<String> {
    git::skipped(folder)
}

/// Returns git's version as it says it, and its two first numbers; `None` without git.
pub fn git_version(folder: &Path) -> Option<(String, Option<(u32, u32)>)> {
    let said = asked_version(folder)?;
    let found = version_numbers(&said);
    Some((said, found))
}

/// Returns the first two numbers of what a program says about its version.
fn version_numbers(said: &str) -> Option<(u32, u32)> {
    let mut numbers =
        said.split(|c: char| !c.is_ascii_digit()).filter_map(|number| number.parse().ok());
    numbers.next().zip(numbers.next())
}
