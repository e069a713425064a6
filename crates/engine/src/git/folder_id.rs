//! The id that Convoke keeps in git's folder, by which it knows a project again.
//!
//! It follows the folder when that is moved, it survives a rewritten history and another remote, all
//! worktrees share it, and no clone has it. A copy of the folder has it, too.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::chance::random_number;
use crate::file;

/// The file in the folder of git's that all worktrees share.
const NAME: &str = "convoke-id";

/// How long an id is, in characters.
const LENGTH: usize = 32;

/// Larger files hold no id.
const MAX_BYTES: u64 = 256;

/// Returns an id that no other folder has.
pub fn new_folder_id() -> String {
    format!("{:016x}{:016x}", random_number(), random_number())
}

/// Returns the id in git's folder. A link has none: it could show the id of another repository.
pub fn folder_id(git_folder: &Path) -> Option<String> {
    let path = git_folder.join(NAME);
    if !fs::symlink_metadata(&path).ok()?.is_file() {
        return None;
    }
    let text = file::text(&path, MAX_BYTES)?;
    let id = text.trim_end();
    let is_id = id.len() == LENGTH && id.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
    is_id.then(|| id.to_owned())
}

/// Puts an id into git's folder, unless one is there. Returns the id that is there now; `None` if the
/// folder cannot be written to.
pub fn add_folder_id(git_folder: &Path, id: &str) -> Option<String> {
    if let Some(known) = folder_id(git_folder) {
        return Some(known);
    }
    match put_new(git_folder, id) {
        Ok(()) => Some(id.to_owned()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => match folder_id(git_folder) {
            // Another process was faster.
            Some(known) => Some(known),
            None => replace_folder_id(git_folder, id).is_ok().then(|| id.to_owned()),
        },
        Err(_) => None,
    }
}

/// Puts an id into git's folder instead of the one that is there.
pub fn replace_folder_id(git_folder: &Path, id: &str) -> io::Result<()> {
    file::put(&git_folder.join(NAME), format!("{id}\n").as_bytes())
}

fn put_new(git_folder: &Path, id: &str) -> io::Result<()> {
    let mut file = tempfile::Builder::new().prefix(".convoke-id-").tempfile_in(git_folder)?;
    file.write_all(format!("{id}\n").as_bytes())?;
    // Other users of a shared repository read it, too.
    file.as_file().set_permissions(fs::Permissions::from_mode(0o644))?;
    file.persist_noclobber(git_folder.join(NAME))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn an_id_stays_and_a_link_shows_none() {
        let top = tempfile::tempdir().unwrap();
        let (one, other) = (top.path().join("one"), top.path().join("other"));
        for folder in [&one, &other] {
            fs::create_dir(folder).unwrap();
        }
        let (first, second) = (new_folder_id(), new_folder_id());
        assert_ne!(first, second);
        assert_eq!(folder_id(&one), None);
        assert_eq!(add_folder_id(&one, &first).as_ref(), Some(&first));
        assert_eq!(add_folder_id(&one, &second).as_ref(), Some(&first));
        assert_eq!(folder_id(&one).as_ref(), Some(&first));
        // A link in an unpacked archive neither shows nor changes another repository's id.
        symlink(one.join(NAME), other.join(NAME)).unwrap();
        assert_eq!(folder_id(&other), None);
        assert_eq!(add_folder_id(&other, &second).as_ref(), Some(&second));
        assert_eq!(folder_id(&one).as_ref(), Some(&first));
        for text in ["", "x", &"g".repeat(LENGTH), &"0".repeat(LENGTH + 1)] {
            fs::write(one.join(NAME), text).unwrap();
            assert_eq!(folder_id(&one), None, "{text}");
        }
        assert_eq!(add_folder_id(&one, &first).as_ref(), Some(&first));
        assert_eq!(add_folder_id(&top.path().join("gone"), &first), None);
    }
}
