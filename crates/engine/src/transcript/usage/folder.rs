//! Finding the files of records.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The folders and files that were found: each is visited once, whichever links lead to it.
#[derive(Debug, Default)]
pub(super) struct RecordFolders(HashSet<(u64, u64)>);

impl RecordFolders {
    /// Finds files by their names, below a folder and so many levels of folders in it. A folder that
    /// is missing is empty; one that cannot be read is counted.
    pub(super) fn find(
        &mut self,
        folder: &Path,
        deep: usize,
        is_record: &dyn Fn(&str) -> bool,
        unreadable: &mut u64,
    ) -> Vec<PathBuf> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
            Err(_) => {
                *unreadable += 1;
                return Vec::new();
            }
        };
        let mut found = Vec::new();
        for entry in entries {
            let Ok(entry) = entry else {
                *unreadable += 1;
                continue;
            };
            let path = entry.path();
            let is_named = entry.file_name().to_str().is_some_and(is_record);
            // A link to nothing is worth a note only where it is called like a record.
            let Ok(metadata) = fs::metadata(&path) else {
                *unreadable += u64::from(is_named);
                continue;
            };
            let is_wanted = if metadata.is_dir() { deep > 0 } else { is_named };
            if !is_wanted || !self.0.insert((metadata.dev(), metadata.ino())) {
                continue;
            }
            if metadata.is_dir() {
                found.extend(self.find(&path, deep - 1, is_record, unreadable));
            } else {
                found.push(path);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    // A link may lead back to its own folder, or to records that have another name already.
    #[test]
    fn a_record_is_found_once_whichever_links_lead_to_it() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().join(name);
        fs::create_dir_all(at("a/b/c")).unwrap();
        for name in ["a/one.jsonl", "a/b/two.jsonl", "a/b/c/deep.jsonl", "a/other.txt"] {
            fs::write(at(name), "").unwrap();
        }
        symlink(at("a"), at("a/b/loop")).unwrap();
        symlink(at("a/one.jsonl"), at("a/b/same.jsonl")).unwrap();
        symlink(at("nothing"), at("a/gone.jsonl")).unwrap();
        symlink(at("nothing"), at("a/gone.txt")).unwrap();
        let mut unreadable = 0;
        let is_record = |name: &str| super::super::is_called(name, "", "jsonl");
        let mut folders = RecordFolders::default();
        let found = folders.find(top.path(), 2, &is_record, &mut unreadable);
        assert_eq!((found.len(), unreadable), (2, 1), "{found:?}");
        assert!(found.contains(&at("a/b/two.jsonl")));
        assert!(folders.find(top.path(), 2, &is_record, &mut unreadable).is_empty());
        assert!(folders.find(&at("missing"), 2, &is_record, &mut unreadable).is_empty());
        folders.find(&at("a/other.txt"), 2, &is_record, &mut unreadable);
        assert_eq!(unreadable, 2, "the link once, and a file in the place of a folder");
    }
}
