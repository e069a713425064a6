//! What clients themselves write down about a session.
//!
//! A client's record is the only proof of what its agent was given and did. The formats are the
//! clients' own and change without notice, so a line that is not understood is passed over, and
//! what cannot be told is said to be unknown.

mod injected;

pub use injected::{Injected, injected};

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Reads the end of a record, from the start of a line; `None` if there is no such file.
fn read_end(path: &Path, most_bytes: u64) -> Option<String> {
    let regular = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let mut file = File::open(path).ok().filter(|_| regular)?;
    let length = file.metadata().ok()?.len();
    let skipped = length.saturating_sub(most_bytes);
    file.seek(SeekFrom::Start(skipped)).ok()?;
    let mut bytes = Vec::new();
    file.take(most_bytes).read_to_end(&mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    Some(match text.split_once('\n') {
        Some((_, rest)) if skipped > 0 => rest.to_owned(),
        _ => text.into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_begins_with_a_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "one\ntwo\nthree\n").unwrap();
        assert_eq!(read_end(&path, 100).as_deref(), Some("one\ntwo\nthree\n"));
        assert_eq!(read_end(&path, 8).as_deref(), Some("three\n"));
        assert_eq!(read_end(&path, 0).as_deref(), Some(""));
        assert_eq!(read_end(folder.path(), 8), None);
        assert_eq!(read_end(&folder.path().join("none"), 8), None);
    }
}
