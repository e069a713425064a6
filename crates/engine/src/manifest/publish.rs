//! Putting files in place so that a reader sees all of the old ones, all of the new ones, or none.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Read, Write};

use super::folder::{Folder, fresh_name, is_fresh};

/// The seal of a folder: the file without which the others mean nothing.
pub(super) struct Seal<'a> {
    /// The file's name.
    pub(super) name: &'a str,
    /// The file's text.
    pub(super) text: &'a str,
}

/// New files, outside of readers' view. Dropping it removes them.
pub(super) struct Stage<'f> {
    around: &'f Folder,
    name: String,
    folder: Folder,
    files: BTreeSet<String>,
}

impl<'f> Stage<'f> {
    /// Makes a stage in a folder.
    pub(super) fn set(around: &'f Folder, prefix: &str) -> io::Result<Self> {
        let (name, folder) = around.fresh(prefix)?;
        Ok(Self { around, name, folder, files: BTreeSet::new() })
    }

    /// Puts a file on it, and returns how long it is.
    pub(super) fn put(&mut self, name: &str, content: &mut impl Read) -> io::Result<u64> {
        let mut file = self.folder.create(name)?;
        self.files.insert(name.to_owned());
        let length = io::copy(content, &mut file)?;
        file.sync_all()?;
        Ok(length)
    }

    /// Moves all files to their final place. It removes the old seal before the first old file
    /// changes, and sets the new one after the last: a reader that finds a seal finds its files.
    /// `stale` names files that older bundles may have left.
    pub(super) fn publish(self, to: &Folder, seal: &Seal<'_>, stale: &[&str]) -> io::Result<()> {
        let name = fresh_name(&unfinished(seal.name));
        let written = to.create(&name).and_then(|mut file| {
            file.write_all(seal.text.as_bytes())?;
            file.sync_all()
        });
        let placed = written.and_then(|()| self.place(to, seal, stale, &name));
        if placed.is_err() {
            to.remove(&name).ok();
        }
        placed
    }

    fn place(&self, to: &Folder, seal: &Seal<'_>, stale: &[&str], name: &str) -> io::Result<()> {
        to.remove(seal.name)?;
        // Even if the machine stops here, the old seal must not come back.
        to.sync()?;
        for old in stale.iter().filter(|old| !self.files.contains(**old)) {
            to.remove(old)?;
        }
        for file in &self.files {
            self.folder.move_to(file, to, file)?;
        }
        to.sync()?;
        to.move_to(name, to, seal.name)?;
        // After a reported failure there must be no manifest.
        to.sync().inspect_err(|_| drop(to.remove(seal.name)))
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        self.around.remove_folder(&self.name, |file| self.files.contains(file)).ok();
    }
}

/// Removes leftovers of killed writers: stages that hold only `ours`, and seals that were never
/// set. The caller must hold the folder's lock.
pub(super) fn sweep(
    around: &Folder,
    stages: &str,
    to: &Folder,
    seal: &str,
    ours: impl Fn(&str) -> bool,
) -> io::Result<()> {
    let made = |name: OsString, prefix: &str| {
        name.to_str().filter(|name| is_fresh(name, prefix)).map(str::to_owned)
    };
    for name in around.names()?.into_iter().filter_map(|name| made(name, stages)) {
        // A leftover that cannot be removed does no harm.
        around.remove_folder(&name, &ours).ok();
    }
    for name in to.names()?.into_iter().filter_map(|name| made(name, &unfinished(seal))) {
        to.remove(&name)?;
    }
    Ok(())
}

fn unfinished(seal: &str) -> String {
    format!("{seal}.tmp.")
}
