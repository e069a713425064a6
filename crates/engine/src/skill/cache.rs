//! A cache of skill files, valid until they change.
//!
//! One wake-up may be fitted several times, and a long-lived program assembles many; both look for
//! the same files repeatedly, most of them in places without one.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use convoke_domain::finding::{FileFinding, Unreadable};
use convoke_domain::skill::prune::Forms;
use convoke_domain::skill::{body, description};

use super::hash;

/// The cached result for a file.
#[derive(Debug, Clone)]
pub(super) enum Kept {
    /// The file does not exist.
    Missing,
    /// It gives no text.
    Unreadable(Unreadable),
    /// Its text in every form used so far, its description, and the file's hash.
    Skill { forms: Arc<Forms>, description: String, sha256: String },
}

/// Files by their paths.
#[derive(Debug, Default)]
pub(super) struct Cache {
    entries: Mutex<HashMap<PathBuf, (Stamp, Kept)>>,
}

/// A file counts as unchanged while this is equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stamp {
    /// Its size and when it was written.
    File { bytes: u64, written: Option<SystemTime> },
    /// When a name was last added to or taken from the folder that it would be in.
    Missing { folder: Option<SystemTime> },
}

impl Cache {
    /// Returns the cached result for a file, and reads the file if it is new or has changed.
    pub(super) fn get(&self, path: &Path, read: impl FnOnce() -> FileFinding) -> Kept {
        // Taken before reading, so that a change in between is noticed the next time.
        let stamp = stamp(path);
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((before, kept)) = entries.get(path)
            && *before == stamp
        {
            return kept.clone();
        }
        let kept = match read() {
            FileFinding::Absent => Kept::Missing,
            FileFinding::Unreadable(reason) => Kept::Unreadable(reason),
            FileFinding::Text(file) => Kept::Skill {
                forms: Arc::new(Forms::new(body(&file))),
                description: description(&file),
                sha256: hash(&file),
            },
        };
        entries.insert(path.to_owned(), (stamp, kept.clone()));
        kept
    }
}

fn stamp(path: &Path) -> Stamp {
    let written = |path: &Path| fs::metadata(path).ok()?.modified().ok();
    match fs::metadata(path) {
        Ok(file) => Stamp::File { bytes: file.len(), written: file.modified().ok() },
        Err(_) => Stamp::Missing { folder: path.parent().and_then(written) },
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::*;
    use crate::file;

    /// Reads through a cache, and counts how often a file was really read.
    fn asked(cache: &Cache, path: &Path, reads: &Cell<u32>) -> Option<String> {
        let kept = cache.get(path, || {
            reads.set(reads.get() + 1);
            file::read(path, 1000)
        });
        match kept {
            Kept::Skill { forms, .. } => Some(forms.text().to_owned()),
            Kept::Missing | Kept::Unreadable(_) => None,
        }
    }

    fn write(path: &Path, text: &str, seconds: u64) {
        fs::write(path, text).unwrap();
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
    }

    // W-84: read once, again when size or time of writing changes, and the same text either way.
    #[test]
    fn a_file_is_read_again_only_when_it_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.md");
        let (cache, reads) = (Cache::default(), Cell::new(0));
        let mut expected = 0;
        for (text, seconds) in [("one", 100), ("two", 200), ("three", 200)] {
            write(&path, text, seconds);
            expected += 1;
            for _ in 0..2 {
                assert_eq!(asked(&cache, &path, &reads).as_deref(), Some(text));
                assert_eq!(asked(&Cache::default(), &path, &Cell::new(0)).as_deref(), Some(text));
                assert_eq!(reads.get(), expected, "{text}");
            }
        }
        fs::remove_file(&path).unwrap();
        assert_eq!(asked(&cache, &path, &reads), None);
    }

    // W-84: a missing file is searched again only after its folder changed.
    #[test]
    fn a_missing_file_is_kept_as_missing() {
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("folder");
        let path = folder.join("x.md");
        let (cache, reads) = (Cache::default(), Cell::new(0));
        for _ in 0..3 {
            assert_eq!(asked(&cache, &path, &reads), None);
        }
        assert_eq!(reads.get(), 1);
        fs::create_dir(&folder).unwrap();
        assert_eq!((asked(&cache, &path, &reads), reads.get()), (None, 2));
        fs::write(&path, "here").unwrap();
        assert_eq!(asked(&cache, &path, &reads).as_deref(), Some("here"));
    }
}
