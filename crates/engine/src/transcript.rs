//! Clients' own records of a session.
//!
//! A client's record is the only proof of what its agent received and did. The formats are the
//! clients' own and change without notice, so Convoke skips a line that it does not understand, and
//! reports a fact that it cannot derive as unknown. Records grow large, so they are read line by
//! line.

pub(crate) mod injected;
pub mod own;
pub mod reads;
pub mod usage;

pub use injected::{InjectedTexts, injected};

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::file;

/// The longest line that is read; a longer one is skipped.
const LONGEST_LINE: u64 = 32 * 1024 * 1024;

/// Calls `each` for every line of a record from a place on, and returns the place behind the last
/// complete line; `None` if there is no such file.
pub(crate) fn each_line(path: &Path, from: u64, mut each: impl FnMut(&str)) -> Option<u64> {
    let mut file = file::open_regular(path)?;
    // A record that became shorter is a new one.
    let length = file.metadata().ok()?.len();
    let mut place = if from <= length { from } else { 0 };
    let mut complete = place;
    file.seek(SeekFrom::Start(place)).ok()?;
    let mut reader = BufReader::with_capacity(64 * 1024, file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line).ok()?;
        if read == 0 {
            return Some(complete);
        }
        place += u64::try_from(read).unwrap_or(u64::MAX);
        if line.ends_with(b"\n") {
            complete = place;
        }
        each(&String::from_utf8_lossy(&line));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn lines(path: &Path, from: u64) -> Option<Vec<String>> {
        let mut found = Vec::new();
        each_line(path, from, |line| found.push(line.trim_end().to_owned()))?;
        Some(found)
    }

    #[test]
    fn a_record_is_read_from_a_place_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, b"one\ntwo \xff\nthree").unwrap();
        assert_eq!(lines(&path, 0).unwrap(), ["one", "two \u{fffd}", "three"]);
        assert_eq!(lines(&path, 4).unwrap(), ["two \u{fffd}", "three"]);
        assert_eq!(lines(&path, 99).unwrap().len(), 3, "it is another file by now");
        assert_eq!(lines(folder.path(), 0), None);
        assert_eq!(lines(&folder.path().join("none"), 0), None);
    }

    // A client may be writing its last line right now; it is read again when it is complete.
    #[test]
    fn a_record_is_read_up_to_its_last_complete_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        for (text, from, complete) in [
            ("", 0, 0),
            ("one\ntw", 0, 4),
            ("one\ntw", 4, 4),
            ("one\ntwo\n", 4, 8),
            ("one\n", 8, 4),
        ] {
            fs::write(&path, text).unwrap();
            assert_eq!(each_line(&path, from, |_| ()), Some(complete), "{text:?} from {from}");
        }
    }

    // A client may name any file; Convoke does not wait for the other end of a pipe.
    #[cfg(unix)]
    #[test]
    fn a_pipe_or_a_device_is_no_record() {
        use rustix::fs::{CWD, Mode, mkfifoat};
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        mkfifoat(CWD, &pipe, Mode::from_raw_mode(0o600)).unwrap();
        assert_eq!(lines(&pipe, 0), None);
        assert_eq!(lines(Path::new("/dev/zero"), 0), None);
    }
}
